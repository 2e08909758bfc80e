"""The default provider: sandboxes on this machine, each with a runtime process that outlives the gateway.

A unit is a directory in the state directory and a runtime process, which is run in bubblewrap if possible. The
directory contains everything a later gateway needs to find the process.
"""

import asyncio
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, cast

from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import Enforcement, Isolation, Network, SandboxLimits
from hawse.link.sockets import accepts_connections
from hawse.wire import HawseError
from hawse_gateway.core.removal import remove_tree
from hawse_gateway.egress.follower import OnRefusal
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.base import Capabilities, Endpoint, MountPlace, Observation, Progress, Report, SandboxSpec
from hawse_gateway.providers.bytecode import compile_runtime
from hawse_gateway.providers.egress import INSTALL, EgressProcesses, is_available
from hawse_gateway.providers.isolation import bubblewrap, cgroups, disk_image, start
from hawse_gateway.providers.marked_processes import end_marked
from hawse_gateway.providers.ready_pipe import ReadyPipe
from hawse_gateway.providers.runtime_process import RuntimeProcess, refuses_connections
from hawse_gateway.providers.state_directory import SandboxPaths, StateDirectory, StateError

log = logging.getLogger(__name__)

START_TIMEOUT: Final = 9.0  # seconds to wait until a runtime accepts connections
PREPARATION: Final = 51.0  # time limit for the steps before the runtime runs, in seconds
POLL: Final = 0.1  # seconds between checks of the socket if a runtime does not report that it is ready
REMOVERS: Final = 2  # number of threads that remove files; more threads would only compete for the disk
STOP_GRACE: Final = 10.0  # seconds between SIGTERM and SIGKILL; the runtime first ends all programs in the sandbox
KILL_TIMEOUT: Final = 5.0  # seconds to wait for the kernel to end a killed process
LOG_MAX: Final = 1 << 20  # maximum size of a runtime's log in bytes; a larger log is truncated at the next start
LOG_TAIL: Final = 2000  # number of bytes copied from a failed runtime's log to the gateway's log
RUNTIME: Final = (sys.executable, "-I", "-m", "hawse_runtime")  # -I prevents imports from the workspace


class LocalProvider:
    """The units in a state directory.

    Args:
        state: The state directory.
        isolation: The isolation for new runtimes.
        isolation_reason: Why the isolation is not stronger.
        system_calls: Whether programs' system calls are filtered.
        network: The default network for sandboxes. Without isolation, sandboxes use the host's network.
        runtime: The runtime's program and first arguments.
        removals: The executor used to remove deleted sandboxes' files. None creates an executor with `REMOVERS`
            threads. In the loop's default executor, a few large removals would delay all starts.
        egress: The operator's settings for filtered networks. None means no secrets and only public addresses.
    """

    images: None = None  # sandboxes use the machine's own files

    def __init__(
        self,
        state: StateDirectory,
        isolation: Isolation,
        *,
        isolation_reason: str | None = None,
        system_calls: bool = False,
        network: Network = "private",
        runtime: Sequence[str] = RUNTIME,
        removals: ThreadPoolExecutor | None = None,
        egress: EgressSettings | None = None,
        start_timeout: float | None = None,
        on_refusal: OnRefusal | None = None,
    ) -> None:
        self._state, self._start_timeout = state, start_timeout or START_TIMEOUT
        self._isolation, self._isolation_reason = isolation, isolation_reason
        self._system_calls = system_calls
        self._network: Network = network if isolation == "bubblewrap" else "host"
        self._cgroups = cgroups.find() if isolation == "bubblewrap" else None
        self._fixed_size = isolation == "bubblewrap" and disk_image.find_mount() is not None
        self.egress = EgressProcesses(egress or EgressSettings(), state, self._cgroups, on_refusal=on_refusal)
        self._runtime, self._removals = list(runtime), removals or ThreadPoolExecutor(REMOVERS, "remove")
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # processes that this gateway started and must reap

    async def run(self) -> None:
        """Follow the proxies for filtered networks, and restart proxies that have exited."""
        if self._isolation == "bubblewrap" and is_available():
            await self.egress.run()

    async def capabilities(self) -> Capabilities:
        others: list[Network] = ["none", "private", "host"] if self._isolation == "bubblewrap" else ["host"]
        others.remove(self._network)
        installable: dict[Network, str] = {}
        refused: dict[Network, str] = {}
        if self._isolation == "bubblewrap":
            if is_available():
                others.append("filtered")
            else:
                installable["filtered"] = INSTALL
        else:
            refused["filtered"] = "bubblewrap is required: without isolation, programs use the machine's network"
        return Capabilities(
            provider="local",
            isolation=self._isolation,
            isolation_reason=self._isolation_reason,
            networks=(self._network, *others),
            installable=installable,
            refused=refused,
            limits=(*(self._cgroups.parents if self._cgroups else ()), *(("disk",) if self._fixed_size else ())),
            enforcement=self._enforcement(),
            start_timeout=PREPARATION + self._start_timeout,
        )

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Create the unit's directories."""
        paths = self._paths(unit)
        try:
            await asyncio.to_thread(paths.make)
            if spec.limits.disk is not None:
                await asyncio.to_thread(disk_image.make, paths.disk, spec.limits.disk)
        except StateError as error:
            raise HawseError("unavailable", f"cannot create the sandbox: {error}") from error

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        paths = self._paths(unit)
        report(Progress(phase="starting"))
        if spec.network == "filtered":
            others = [self._state.sandbox(other) for other in self._state.sandboxes() if other != unit]
            await self.egress.start(paths, spec.egress or EgressPolicy(), others)
        with ReadyPipe() as ready:
            try:
                child = await asyncio.to_thread(self._spawn, unit, paths, spec, runtime, ready)
            except (StateError, OSError) as error:
                raise HawseError("unavailable", f"cannot start the runtime: {error}") from error
            known = {"sandbox": unit}
            log.info("= unit %s started, pid %d, isolation %s", unit, child.pid, self._isolation, extra=known)
            try:
                async with asyncio.timeout(self._start_timeout):
                    await _wait_until_it_accepts(unit, child, paths, ready)
            except TimeoutError:
                text = f"the runtime did not accept connections within {self._start_timeout:g} s"
                raise HawseError("unavailable", text) from None
        if (process := RuntimeProcess.listening_on(paths.socket)) is not None:
            process.save(paths.process)
        return start.endpoint(paths)

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        paths = self._paths(unit)
        if runtime is None or _read_runtime(paths) in (None, runtime):
            await self._end(unit, paths, STOP_GRACE)

    async def delete(self, unit: str) -> None:
        paths = self._paths(unit)
        await self._end(unit, paths, STOP_GRACE)
        try:
            await asyncio.get_running_loop().run_in_executor(self._removals, _remove, paths.home)
        except OSError as error:
            raise HawseError("unavailable", f"cannot remove the sandbox's files: {error.strerror}") from error

    async def pause(self, unit: str) -> None:
        raise HawseError("unavailable", "the local provider cannot suspend sandboxes", retryable=False)

    async def resume(self, unit: str) -> None:
        raise HawseError("unavailable", "the local provider cannot suspend sandboxes", retryable=False)

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        return await asyncio.to_thread(self._observe, unit)

    async def discover(self) -> list[Observation]:
        found = await asyncio.to_thread(lambda: [self._observe(unit) for unit in self._state.sandboxes()])
        self.egress.note_running([self._paths(each.unit) for each in found if each.state == "running"])
        return found

    async def mount_place(self, unit: str) -> MountPlace:
        paths = self._paths(unit)
        if await asyncio.to_thread(_read_isolation, paths) != "bubblewrap":
            text = "mounts need sandboxes in bubblewrap: programs without isolation could read the credentials"
            raise HawseError("unavailable", text, retryable=False)
        process = await asyncio.to_thread(_running, paths)
        if process is None or not process.alive:
            raise HawseError("unavailable", "the sandbox is not running")
        return MountPlace(pid=process.pid, user=bubblewrap.UID, workspace=bubblewrap.WORKSPACE)

    async def close(self) -> None:
        """Stop removing files. Runtimes keep running."""
        self._removals.shutdown(wait=False)

    # ---- state

    def _enforcement(self) -> Enforcement:
        if self._isolation == "none":
            return Enforcement()
        bwrap = bubblewrap.find()
        counted = self._cgroups is not None and "processes" in self._cgroups.parents
        return Enforcement(
            network=self._network,
            user=os.getuid() == 0,
            separated=True,
            system_calls=self._system_calls,
            memory_files=bwrap is not None and bubblewrap.limits_memory_file_systems(bwrap),
            limits=SandboxLimits(processes=cgroups.PROCESSES if counted else None),
        )

    def _paths(self, unit: str) -> SandboxPaths:
        """Return a unit's paths. Raises `HawseError` (`invalid_params`)."""
        try:
            return self._state.sandbox(unit)
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": "$.id"}) from None

    def _observe(self, unit: str) -> Observation:
        paths = self._paths(unit)
        process = _running(paths)
        if not accepts_connections(paths.socket):
            if process is None or not process.alive:
                return Observation(unit=unit, state="stopped" if paths.home.is_dir() else "absent")
            reason = f"the runtime (pid {process.pid}) is not listening on its socket"
            return Observation(unit=unit, state="unreachable", runtime=_read_runtime(paths), reason=reason)
        frozen = process is not None and process.frozen
        return Observation(
            unit=unit,
            state="frozen" if frozen else "running",
            runtime=_read_runtime(paths),
            endpoint=start.endpoint(paths),
            isolation=_read_isolation(paths),
            reason=f"the runtime is stopped by a signal or a debugger (pid {process.pid})"
            if frozen and process is not None
            else None,
        )

    # ---- starting

    def _spawn(
        self, unit: str, paths: SandboxPaths, spec: SandboxSpec, runtime: str, ready: ReadyPipe
    ) -> subprocess.Popen[bytes]:
        """Start a runtime in a new session with its own log, after storing the runtime id.

        Args:
            unit: The unit's name.
            paths: The unit's paths.
            spec: The unit's specification.
            runtime: The runtime id.
            ready: The pipe that the runtime uses to report that it accepts links.
        """
        self._reap(unit)
        if paths.disk.exists() and not self._fixed_size:
            raise StateError("limiting the size of the workspace requires root and bubblewrap")
        hidden = self.egress.variables()
        identity = ["--sandbox", unit, "--id", runtime]
        paths.isolation.write_text(self._isolation)
        paths.runtime.write_text(runtime)
        if self._isolation == "none":
            paths.token.unlink(missing_ok=True)
            where = ["--socket", str(paths.socket), "--private", str(paths.run), "--workspace", str(paths.workspace)]
            with ready.lent() as fd:
                child = _popen([*self._runtime, *where, "--ready", str(fd), *identity], paths, hidden, (fd,))
        else:
            compile_runtime()
            others = [self._state.sandbox(other) for other in self._state.sandboxes() if other != unit]
            network = spec.network or self._network
            authority = self.egress.authority(paths) if network == "filtered" else None
            wanted = start.Wanted(network=network, limits=spec.limits, tree=self._cgroups, authority=authority)
            with ready.lent() as fd:
                command = [*self._runtime, "--ready", str(fd), *identity]
                with start.prepared(paths, wanted, command, others) as prepared:
                    child = _popen(prepared.argv, paths, hidden, (*prepared.fds, fd))
        self._children[unit] = child
        if (process := RuntimeProcess.of_pid(child.pid)) is not None:
            process.save(paths.process)  # a later gateway must find the runtime even before it listens
        return child

    # ---- ending

    async def _end(self, unit: str, paths: SandboxPaths, grace: float) -> None:
        """End the runtime, and verify that all processes have ended. With bubblewrap, they end along with the runtime.

        Without isolation, a killed runtime's programs keep running. An environment variable identifies these programs.

        Raises:
            HawseError: `unavailable`.
        """
        await _end_runtime(paths, grace)
        if (child := self._children.get(unit)) is not None:
            try:
                await asyncio.to_thread(child.wait, KILL_TIMEOUT)
            except subprocess.TimeoutExpired:
                raise HawseError("unavailable", f"the sandbox (pid {child.pid}) did not end") from None
            self._reap(unit)
        if accepts_connections(paths.socket):
            # If a gateway was killed during a start, only bubblewrap's process was recorded. This process can end
            # before the runtime.
            await _end_runtime(paths, grace)
            if not await refuses_connections(paths.socket, KILL_TIMEOUT):
                raise HawseError("unavailable", "another process accepts connections on the runtime's socket")
        runtime = _read_runtime(paths)
        if runtime is not None and (left := await asyncio.to_thread(end_marked, runtime, KILL_TIMEOUT)):
            raise HawseError("unavailable", f"processes of the sandbox did not end: {', '.join(map(str, left))}")
        await self.egress.end(paths)
        try:
            await cgroups.remove_when_empty(paths.cgroups, KILL_TIMEOUT)
        except OSError as error:
            raise HawseError("unavailable", f"cannot remove the sandbox's cgroup: {error}") from None
        await asyncio.to_thread(disk_image.wait_until_released, paths.disk, KILL_TIMEOUT)
        paths.process.unlink(missing_ok=True)
        paths.runtime.unlink(missing_ok=True)
        log.info("= unit %s stopped", unit, extra={"sandbox": unit})

    def _reap(self, unit: str) -> None:
        if (child := self._children.pop(unit, None)) is not None:
            child.poll()


def _popen(
    argv: list[str], paths: SandboxPaths, hidden: Container[str], fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a process that writes to the sandbox's log. The gateway's secrets are removed from its environment.

    Args:
        argv: The command.
        paths: The sandbox's paths.
        hidden: The names of additional variables to remove from the environment.
        fds: The descriptors that the process inherits.
    """
    keep = paths.log.exists() and paths.log.stat().st_size <= LOG_MAX
    with paths.log.open("ab" if keep else "wb") as output:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={
                name: value for name, value in os.environ.items() if not (name.startswith("HAWSE_") or name in hidden)
            },
            start_new_session=True,
            pass_fds=fds,
        )


def _running(paths: SandboxPaths) -> RuntimeProcess | None:
    """Return the runtime's process: the process listening on the socket, or else the process recorded at the start."""
    recorded = RuntimeProcess.load(paths.process)
    if recorded is not None and recorded.alive:
        return recorded
    return RuntimeProcess.listening_on(paths.socket)


async def _end_runtime(paths: SandboxPaths, grace: float) -> None:
    process = _running(paths)
    if process is not None and not await process.end(grace=grace, timeout=KILL_TIMEOUT):
        raise HawseError("unavailable", f"the runtime (pid {process.pid}) did not end within {KILL_TIMEOUT:g} s")


async def _wait_until_it_accepts(
    unit: str, child: subprocess.Popen[bytes], paths: SandboxPaths, ready: ReadyPipe
) -> None:
    while not accepts_connections(paths.socket):
        code = child.poll()
        if code is not None:
            # The log can contain program output, so it is only shown to the operator, not to the caller.
            log.error("! the runtime of unit %s ended: %s", unit, _tail(paths.log), extra={"sandbox": unit})
            raise HawseError("unavailable", f"the runtime ended with exit code {code}: see the gateway's log")
        await ready.wait(POLL)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL))
        return file.read().decode(errors="replace").strip()


def _remove(home: Path) -> None:
    """Remove a sandbox's directory. The directory is renamed first, so that a failure doesn't leave a partial sandbox
    behind."""
    doomed = home.with_name(f".deleted-{secrets.token_hex(8)}")
    try:
        home.rename(doomed)
    except FileNotFoundError:
        return
    remove_tree(doomed)


def _read_runtime(paths: SandboxPaths) -> str | None:
    """Return the last start's runtime id, or None if everything from that start is confirmed to have ended."""
    try:
        return paths.runtime.read_text() or None
    except OSError:
        return None


def _read_isolation(paths: SandboxPaths) -> Isolation | None:
    """Return the running runtime's isolation, or None if it was not recorded."""
    try:
        text = paths.isolation.read_text()
    except OSError:
        return None
    return cast(Isolation, text) if text in ("bubblewrap", "none") else None
