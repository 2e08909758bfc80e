"""The embedded provider: sandboxes on this machine, each one runtime process that outlives the gateway.

A runtime is found by its socket. If nobody answers there one is started, in bubblewrap where that works and as a
plain process where it does not; who is already there is used as it is.
"""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, cast

from gateway.providers import bubblewrap
from gateway.providers.state_directory import SandboxPaths, StateDirectory, StateError
from gateway.transport.listener import answers
from hawse.api.gateway import Isolation, SandboxInfo
from hawse.wire import HawseError

log = logging.getLogger(__name__)

Wanted = Literal["auto", "bubblewrap", "none"]

START_TIMEOUT: Final = 9.0  # s; a call waits 10 s for its link
POLL_MIN: Final = 0.01  # s
POLL_MAX: Final = 0.1
LOG_MAX: Final = 1 << 20  # bytes of a runtime's log, above which the next start begins a new one
LOG_TAIL: Final = 2000  # bytes of a runtime's log in the error that says why it did not start
RUNTIME: Final = (sys.executable, "-I", "-m", "runtime")  # isolated: nothing in the workspace is imported


def choose_isolation(wanted: Wanted) -> tuple[Isolation, str | None]:
    """What this machine can do, and why not more. Raises `StateError` if `wanted` can't be had."""
    if wanted == "none":
        return "none", "asked for"
    bwrap = bubblewrap.find()
    trouble = "there is no bwrap" if bwrap is None else bubblewrap.probe(bwrap)
    if trouble is None:
        return "bubblewrap", None
    if wanted == "bubblewrap":
        raise StateError(f"--isolation bubblewrap: {trouble}")
    return "none", trouble


class LocalProvider:
    """Sandboxes by id. `runtime` is the program they run, before its arguments."""

    def __init__(
        self,
        state: StateDirectory,
        isolation: Isolation,
        *,
        sandboxes: Sequence[str] = ("local",),
        runtime: Sequence[str] = RUNTIME,
    ) -> None:
        self._isolation = isolation
        self._runtime = list(runtime)
        self._paths = {sandbox: state.sandbox(sandbox) for sandbox in sandboxes}
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # started here; kept to be reaped
        self._failed: set[str] = set()
        self._starting = asyncio.Lock()

    def sandboxes(self) -> list[SandboxInfo]:
        return [self._describe(sandbox, paths) for sandbox, paths in self._paths.items()]

    def knows(self, sandbox: str) -> bool:
        return sandbox in self._paths

    async def ensure(self, sandbox: str) -> Path:
        """The socket of the runtime, which answers. Raises `HawseError` `unavailable`."""
        paths = self._paths[sandbox]
        async with self._starting:
            if not answers(paths.socket):
                self._failed.add(sandbox)
                await self._start(sandbox, paths)
            self._failed.discard(sandbox)
        return paths.socket

    def _describe(self, sandbox: str, paths: SandboxPaths) -> SandboxInfo:
        if answers(paths.socket):
            return SandboxInfo(id=sandbox, state="running", isolation=_remembered(paths))
        return SandboxInfo(
            id=sandbox, state="failed" if sandbox in self._failed else "stopped", isolation=self._isolation
        )

    async def _start(self, sandbox: str, paths: SandboxPaths) -> None:
        try:
            paths.make()
            child = await asyncio.to_thread(self._spawn, sandbox, paths)
        except (StateError, OSError) as error:
            raise HawseError("unavailable", f"the runtime was not started: {error}") from error
        self._children[sandbox] = child
        known = {"sandbox": sandbox}
        log.info("= sandbox %s started, pid %d, isolation %s", sandbox, child.pid, self._isolation, extra=known)
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await _until_it_answers(child, paths)
        except TimeoutError:
            raise HawseError("unavailable", f"the runtime did not come up in {START_TIMEOUT:g} s") from None

    def _spawn(self, sandbox: str, paths: SandboxPaths) -> subprocess.Popen[bytes]:
        """Start a runtime that is not tied to us: own session, own files."""
        if (last := self._children.pop(sandbox, None)) is not None:
            last.poll()
        argv, environment = self._command(sandbox, paths)
        keep = paths.log.exists() and paths.log.stat().st_size <= LOG_MAX
        with paths.log.open("ab" if keep else "wb") as output:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                env=environment,
                start_new_session=True,
            )
        paths.isolation.write_text(self._isolation)
        return child

    def _command(self, sandbox: str, paths: SandboxPaths) -> tuple[list[str], dict[str, str]]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HAWSE_")}
        if self._isolation == "none":
            where = ["--socket", str(paths.socket), "--workspace", str(paths.workspace)]
            return [*self._runtime, *where, "--sandbox", sandbox], environment
        where = ["--socket", f"{bubblewrap.RUN}/{paths.socket.name}", "--workspace", bubblewrap.WORKSPACE]
        bwrap = bubblewrap.find()
        if bwrap is None:
            raise StateError("bwrap is gone")
        return bubblewrap.command(bwrap, paths, [*self._runtime, *where, "--sandbox", sandbox]), environment


async def _until_it_answers(child: subprocess.Popen[bytes], paths: SandboxPaths) -> None:
    delay = POLL_MIN
    while not answers(paths.socket):
        code = child.poll()
        if code is not None:
            raise HawseError("unavailable", f"the runtime ended with {code}: {_tail(paths.log)}")
        await asyncio.sleep(delay)
        delay = min(2 * delay, POLL_MAX)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL))
        return file.read().decode(errors="replace").strip()


def _remembered(paths: SandboxPaths) -> Isolation | None:
    """How the runtime that runs was started; None if nobody wrote it down."""
    try:
        text = paths.isolation.read_text()
    except OSError:
        return None
    return cast(Isolation, text) if text in ("bubblewrap", "none") else None
