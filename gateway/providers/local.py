"""The default provider: sandboxes on this machine, each one runtime process that outlives the gateway.

A runtime is found by its socket. If no process accepts connections there, a runtime is started: in bubblewrap where
that works, as a plain process otherwise. A runtime that is already running is used as it is.
"""

import asyncio
import logging
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, cast

from gateway.providers import bubblewrap
from gateway.providers.base import Capabilities, Endpoint, SandboxSpec
from gateway.providers.runtime_process import RuntimeProcess
from gateway.providers.state_directory import SandboxPaths, StateDirectory, StateError
from gateway.transport.listener import accepts_connections
from hawse.api.gateway import Isolation, SandboxInfo
from hawse.wire import HawseError

log = logging.getLogger(__name__)

RequestedIsolation = Literal["auto", "bubblewrap", "none"]

START_TIMEOUT: Final = 9.0  # s; a call waits 10 s for its link
POLL_MIN: Final = 0.01  # s
POLL_MAX: Final = 0.1
STOP_GRACE: Final = 10.0  # s from SIGTERM to SIGKILL: a runtime ends all that runs in the sandbox first
REPLACE_GRACE: Final = 3.0  # s, the same for a runtime that has lost its socket, while a call waits for the next
KILL_TIMEOUT: Final = 5.0  # s for the kernel to end a process that was killed
LOG_MAX: Final = 1 << 20  # bytes of a runtime's log, above which the next start begins a new one
LOG_TAIL: Final = 2000  # bytes of a runtime's log that the gateway's log repeats when the runtime did not start
RUNTIME: Final = (sys.executable, "-I", "-m", "runtime")  # isolated: Python imports nothing from the workspace


def choose_isolation(requested: RequestedIsolation) -> tuple[Isolation, str | None]:
    """Return the isolation that this machine supports, and why it is not stronger.

    Raises:
        StateError: `requested` is not available.
    """
    if requested == "none":
        return "none", "requested by --isolation none"
    bwrap = bubblewrap.find()
    reason = "bwrap is not installed" if bwrap is None else bubblewrap.probe(bwrap)
    if reason is None:
        return "bubblewrap", None
    if requested == "bubblewrap":
        raise StateError(f"--isolation bubblewrap: {reason}")
    return "none", reason


class LocalProvider:
    """The sandboxes of one state directory, beside those named in `sandboxes`, which always exist.

    Args:
        state: The state directory.
        isolation: What new runtimes run in.
        isolation_reason: Why it is not stronger.
        sandboxes: The ids of sandboxes that exist from the beginning.
        runtime: The runtime's program and first arguments.
    """

    def __init__(
        self,
        state: StateDirectory,
        isolation: Isolation,
        *,
        isolation_reason: str | None = None,
        sandboxes: Sequence[str] = ("local",),
        runtime: Sequence[str] = RUNTIME,
    ) -> None:
        self._state = state
        self._isolation = isolation
        self._isolation_reason = isolation_reason
        self._configured = tuple(sandboxes)
        self._runtime = list(runtime)
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # started here; kept to be reaped
        self._failed: set[str] = set()  # whose last start failed
        self._changing = asyncio.Lock()  # held while a sandbox is created, started, stopped or deleted

    async def capabilities(self) -> Capabilities:
        return Capabilities(provider="local", isolation=self._isolation, isolation_reason=self._isolation_reason)

    async def create(self, spec: SandboxSpec) -> SandboxInfo:
        """Make the sandbox's directories. Raises `HawseError`: `conflict`, `invalid_params`, `unavailable`."""
        if spec.image is not None:
            raise HawseError(
                "invalid_params", "the local provider does not support images", details={"path": "$.image"}
            )
        sandbox = spec.id if spec.id is not None else secrets.token_hex(4)
        try:
            paths = self._state.sandbox(sandbox)
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": "$.id"}) from None
        async with self._changing:
            if self._exists(sandbox):
                raise HawseError("conflict", f"sandbox {sandbox!r} already exists")
            try:
                paths.make()
            except StateError as error:
                raise HawseError("unavailable", f"the sandbox was not created: {error}") from error
        return self._describe(sandbox)

    async def ensure(self, sandbox: str) -> Endpoint:
        paths = self._paths(sandbox)
        async with self._changing:
            if not accepts_connections(paths.socket):
                self._failed.add(sandbox)
                await self._replace(sandbox, paths)
                await self._start(sandbox, paths)
            elif (process := _running(paths)) is not None and process.frozen:
                raise HawseError("unavailable", f"the runtime is stopped by a signal or a debugger (pid {process.pid})")
            self._failed.discard(sandbox)
        return Endpoint(paths.socket)

    async def stop(self, sandbox: str) -> None:
        paths = self._paths(sandbox)
        async with self._changing:
            await self._end(sandbox, paths, STOP_GRACE)
            self._failed.discard(sandbox)

    async def delete(self, sandbox: str) -> None:
        paths = self._paths(sandbox)
        async with self._changing:
            await self._end(sandbox, paths, STOP_GRACE)
            self._failed.discard(sandbox)
            try:
                await asyncio.to_thread(_remove, paths.home)
            except OSError as error:
                raise HawseError("unavailable", f"the sandbox's files were not removed: {error.strerror}") from error

    async def observe(self, sandbox: str) -> SandboxInfo:
        self._paths(sandbox)
        return self._describe(sandbox)

    async def discover(self) -> list[SandboxInfo]:
        created = [name for name in self._state.sandboxes() if name not in self._configured]
        return [self._describe(sandbox) for sandbox in (*self._configured, *created)]

    async def close(self) -> None:
        """Nothing to release: runtimes outlive the gateway."""

    # ---- state

    def _exists(self, sandbox: str) -> bool:
        return sandbox in self._configured or sandbox in self._state.sandboxes()

    def _paths(self, sandbox: str) -> SandboxPaths:
        """Raises `HawseError` `not_found`."""
        if not self._exists(sandbox):
            raise HawseError("not_found", f"unknown sandbox {sandbox[:64]!r}")
        return self._state.sandbox(sandbox)

    def _describe(self, sandbox: str) -> SandboxInfo:
        paths = self._state.sandbox(sandbox)
        if not accepts_connections(paths.socket):
            state: Literal["failed", "stopped"] = "failed" if sandbox in self._failed else "stopped"
            return SandboxInfo(id=sandbox, state=state, isolation=self._isolation)
        process = _running(paths)
        frozen = process is not None and process.frozen
        return SandboxInfo(id=sandbox, state="failed" if frozen else "running", isolation=_read_isolation(paths))

    # ---- starting

    async def _replace(self, sandbox: str, paths: SandboxPaths) -> None:
        """End a runtime that has lost its socket: programs in the sandbox may remove it, or the runtime is ending."""
        process = RuntimeProcess.load(paths.process)
        if process is not None and process.alive:
            log.warning("! sandbox %s: its runtime has lost its socket and is replaced", sandbox)
            await self._end(sandbox, paths, REPLACE_GRACE)

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
                await _wait_until_it_accepts(sandbox, child, paths)
        except TimeoutError:
            raise HawseError(
                "unavailable", f"the runtime did not accept connections within {START_TIMEOUT:g} s"
            ) from None
        if (process := RuntimeProcess.listening_on(paths.socket)) is not None:
            process.save(paths.process)

    def _spawn(self, sandbox: str, paths: SandboxPaths) -> subprocess.Popen[bytes]:
        """Start a runtime in a session of its own, with its own log."""
        self._reap(sandbox)
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
            raise StateError("bwrap is no longer installed")
        return bubblewrap.command(bwrap, paths, [*self._runtime, *where, "--sandbox", sandbox]), environment

    # ---- ending

    async def _end(self, sandbox: str, paths: SandboxPaths, grace: float) -> None:
        """End the runtime and verify it. Bubblewrap's first process ends with the runtime, and its namespace with it.

        Raises:
            HawseError: `unavailable`.
        """
        process = _running(paths)
        if process is not None and not await process.end(grace=grace, timeout=KILL_TIMEOUT):
            raise HawseError("unavailable", f"the runtime (pid {process.pid}) did not end within {KILL_TIMEOUT:g} s")
        if (child := self._children.get(sandbox)) is not None:
            try:
                await asyncio.to_thread(child.wait, KILL_TIMEOUT)
            except subprocess.TimeoutExpired:
                raise HawseError("unavailable", f"the sandbox (pid {child.pid}) did not end") from None
            self._reap(sandbox)
        if accepts_connections(paths.socket):
            raise HawseError("unavailable", "another process accepts connections on the runtime's socket")
        paths.process.unlink(missing_ok=True)
        log.info("= sandbox %s stopped", sandbox, extra={"sandbox": sandbox})

    def _reap(self, sandbox: str) -> None:
        if (child := self._children.pop(sandbox, None)) is not None:
            child.poll()


def _running(paths: SandboxPaths) -> RuntimeProcess | None:
    """The runtime's process: as it was recorded when it started, else the one that listens on its socket."""
    recorded = RuntimeProcess.load(paths.process)
    if recorded is not None and recorded.alive:
        return recorded
    return RuntimeProcess.listening_on(paths.socket)


async def _wait_until_it_accepts(sandbox: str, child: subprocess.Popen[bytes], paths: SandboxPaths) -> None:
    delay = POLL_MIN
    while not accepts_connections(paths.socket):
        code = child.poll()
        if code is not None:
            # The log may contain anything that was printed, so it is for the operator and not for the caller.
            log.error("! the runtime of sandbox %s ended: %s", sandbox, _tail(paths.log), extra={"sandbox": sandbox})
            raise HawseError(
                "unavailable", f"the runtime ended with exit code {code}; the gateway's log has the reason"
            )
        await asyncio.sleep(delay)
        delay = min(2 * delay, POLL_MAX)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL))
        return file.read().decode(errors="replace").strip()


def _remove(home: Path) -> None:
    """Remove a sandbox's directory. It leaves its place first, so that a failure leaves no half of a sandbox."""
    doomed = home.with_name(f".deleted-{secrets.token_hex(8)}")
    try:
        home.rename(doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed)


def _read_isolation(paths: SandboxPaths) -> Isolation | None:
    """How the running runtime was started; None if that was not recorded."""
    try:
        text = paths.isolation.read_text()
    except OSError:
        return None
    return cast(Isolation, text) if text in ("bubblewrap", "none") else None
