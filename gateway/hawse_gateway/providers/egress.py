"""Manages the sandboxes' proxy processes: starts them before the runtime, and finds, restarts and ends them."""

import asyncio
import fcntl
import importlib.util
import logging
import os
import select
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from hawse.api.egress import EgressLost, EgressPolicy, EgressRequest
from hawse.api.sandboxes import SandboxLimits
from hawse.wire import HawseError
from hawse_gateway.core.keyed_locks import KeyedLocks
from hawse_gateway.egress import control
from hawse_gateway.egress.follower import EgressFollower, OnRefusal
from hawse_gateway.egress.plan import CERTIFICATE_NAME, CONTROL_NAME, READY, SOCKET_NAME, EgressPlan, Terms
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.isolation import cgroups, host_user
from hawse_gateway.providers.isolation.start import cgroup_name
from hawse_gateway.providers.runtime_process import RuntimeProcess
from hawse_gateway.providers.state_directory import SandboxPaths, StateDirectory

log = logging.getLogger(__name__)
T = TypeVar("T")

INSTALL: Final = "pip install 'hawse[egress]'"
PROXY: Final = (sys.executable, "-I", "-m", "hawse_gateway.egress.proxy_process")
USER: Final = host_user.FIRST - 1  # user that all proxies run as if the gateway runs as root; no sandbox uses it
START_TIMEOUT: Final = 20.0  # s
END_GRACE: Final = 2.0  # seconds between SIGTERM and SIGKILL
KILL_TIMEOUT: Final = 5.0  # s
LOG_NAME: Final = "proxy.log"
LOG_MAX: Final = 2000  # maximum number of log bytes to quote in an error
AT_ONCE: Final = 4  # maximum number of proxies restarted or changed concurrently
# A proxy's limits if cgroups are available. The proxy runs outside its sandbox's cgroup, because programs could use up
# the cgroup's memory and get the proxy killed.
MEMORY: Final = 512 << 20  # bytes; the proxy needs 40 MB plus about 500 KB for each of 256 connections
CPUS: Final = 1.0
THREADS: Final = 64
CGROUPS_NAME: Final = "cgroups"
VARIABLES: Final = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR")  # environment variables passed to the proxy


def is_available() -> bool:
    """Return whether the packages that the proxy requires are installed."""
    return importlib.util.find_spec("cryptography") is not None


def control_sockets(state: StateDirectory) -> dict[str, Path]:
    """Return the proxies' control sockets, keyed by unit. Blocks."""
    paths = {unit: state.sandbox(unit).egress / CONTROL_NAME for unit in state.sandboxes()}
    return {unit: path for unit, path in paths.items() if path.exists()}


class EgressProcesses:
    """Starts, ends and reconfigures proxies.

    Attributes:
        follower: Follows the proxies' refusals while `run` is running.

    Args:
        settings: The operator's settings.
        state: The state directory.
        tree: The part of the cgroup tree where the proxies' cgroups are created. If None, only the size of the proxies'
            address space is limited.
        user: The user that hands over the listening sockets to the proxies. None if each sandbox has its own user.
        on_refusal: Called with the unit and the refusal whenever a request is refused. Must not raise. None ignores
            refusals.
    """

    def __init__(
        self,
        settings: EgressSettings,
        state: StateDirectory,
        tree: cgroups.Tree | None = None,
        *,
        user: int | None = None,
        on_refusal: OnRefusal | None = None,
    ) -> None:
        self.follower = EgressFollower(lambda: control_sockets(state), on_refusal=on_refusal)
        self._settings = settings
        self._state = state
        self._tree = tree
        self._user = user
        self._wanted: dict[str, EgressPolicy] = {}
        self._applied: dict[str, tuple[RuntimeProcess, EgressPolicy]] = {}  # policies sent to proxies, keyed by unit
        self._changing = KeyedLocks()
        self._running: list[SandboxPaths] = []
        self._noted = asyncio.Event()
        self._children: dict[Path, subprocess.Popen[bytes]] = {}  # processes that this gateway started and must reap

    async def start(self, paths: SandboxPaths, policy: EgressPolicy, others: Iterable[SandboxPaths] = ()) -> None:
        """Start a sandbox's proxy. The caller starts the runtime afterwards.

        Args:
            paths: The sandbox's paths.
            policy: The policy for the network.
            others: All other sandboxes, whose users must not be assigned to this one.

        Raises:
            HawseError: `unavailable`.
        """
        try:
            await asyncio.to_thread(self._start, paths, policy, [other.uid for other in others])
        except (OSError, ValueError) as error:
            raise HawseError("unavailable", f"cannot start the egress proxy: {error}") from error

    def note_running(self, running: list[SandboxPaths]) -> None:
        """Set the sandboxes that are running, whose proxies `run` checks."""
        self._running = running
        self._noted.set()

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        """Set the policies for running units' proxies. `run` sends them to the proxies.

        Args:
            policies: The policies, keyed by unit.
        """
        self._wanted = dict(policies)
        self._applied = {unit: known for unit, known in self._applied.items() if unit in policies}
        self._noted.set()

    async def run(self) -> None:
        """Follow the proxies, restart proxies that have exited, and send policies, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.follower.run(), name="follow egress proxies")
            while True:
                await self._noted.wait()
                self._noted.clear()
                await self._each(self._running, self.revive)
                await self._each(list(self._wanted.items()), self._keep)

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        """Apply a policy to a unit's proxy. Has no effect if the unit has no proxy.

        Raises:
            HawseError: `unavailable`, or `invalid_params` if the unit's name is invalid.
        """
        paths = self._paths(unit)
        async with self._changing[unit]:
            process = await asyncio.to_thread(self._process_of, paths)
            if process is None:
                return
            try:
                terms = await asyncio.to_thread(self._terms, policy)
                # The policy is stored first, so that a restarted proxy gets it too.
                await asyncio.to_thread(_write_policy, paths, policy)
                try:
                    await control.change(paths.egress / CONTROL_NAME, terms)
                except (OSError, msgspec.MsgspecError) as error:
                    log.warning("! replacing the egress proxy of %s, because changing it failed: %s", unit, error)
                    await self.end(paths)
                    await self.start(paths, policy)
                    process = await asyncio.to_thread(self._process_of, paths)
            except OSError as error:
                raise HawseError("unavailable", f"cannot change the egress proxy: {error}") from error
            if process is not None:
                self._applied[unit] = (process, policy)

    async def status(self, unit: str) -> control.Status | None:
        """Return the status of a unit's proxy, or None if it has no proxy. Raises the same errors as `apply`."""
        try:
            return await control.status(self._paths(unit).egress / CONTROL_NAME)
        except (OSError, msgspec.MsgspecError):
            return None

    async def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions made by a unit's proxy until the proxy ends. Yield nothing if there is no proxy.

        Args:
            unit: The unit.
            allowed: Whether to include forwarded requests.

        Raises:
            HawseError: See `apply`.
        """
        try:
            async with aclosing(control.watch(self._paths(unit).egress / CONTROL_NAME, allowed=allowed)) as requests:
                async for batch in requests:
                    yield batch
        except (OSError, msgspec.MsgspecError):
            return

    async def _each(self, found: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
        """Call `work` for each item, with a limited number of concurrent calls."""
        left = iter(found)

        async def some() -> None:
            for each in left:
                await work(each)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(some(), name="egress proxies")

    async def _keep(self, wanted: tuple[str, EgressPolicy]) -> None:
        """Send a policy unless the proxy already has it. If sending fails, log the error and retry later."""
        unit, policy = wanted
        try:
            process = await asyncio.to_thread(self._process_of, self._paths(unit))
            if process is not None and self._applied.get(unit) != (process, policy):
                await self.apply(unit, policy)
        except HawseError as error:
            log.error("! cannot change the egress proxy of %s: %s", unit, error)

    def _paths(self, unit: str) -> SandboxPaths:
        """Return a unit's paths. Raises `HawseError` (`invalid_params`)."""
        try:
            return self._state.sandbox(unit)
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": "$.id"}) from None

    async def revive(self, paths: SandboxPaths) -> None:
        """Restart a running sandbox's proxy if it has exited. If restarting fails, log the error and retry later."""
        try:
            if await asyncio.to_thread(lambda: self._process_of(paths) is not None or not _policy(paths).exists()):
                return
            policy = msgspec.json.decode(_policy(paths).read_bytes(), type=EgressPolicy)
            log.warning("! restarting the egress proxy of %s, which has ended", paths.home.name)
            await self.start(paths, policy)
        except (OSError, msgspec.MsgspecError, HawseError) as error:
            log.error("! cannot restart the egress proxy of %s: %s", paths.home.name, error)

    async def end(self, paths: SandboxPaths) -> None:
        """End a sandbox's proxy. Raises `HawseError` (`unavailable`) if the proxy doesn't exit."""
        process = RuntimeProcess.load(_process(paths))
        if process is not None and not await process.end(grace=END_GRACE, timeout=KILL_TIMEOUT):
            raise HawseError("unavailable", f"the egress proxy (pid {process.pid}) did not end")
        if (child := self._children.pop(paths.home, None)) is not None:
            await asyncio.to_thread(child.wait)
        try:
            await cgroups.remove_when_empty(paths.egress / CGROUPS_NAME, KILL_TIMEOUT)
        except OSError as error:
            raise HawseError("unavailable", f"cannot remove the egress proxy's cgroup: {error}") from None
        for path in (_process(paths), _policy(paths), paths.egress / CONTROL_NAME):
            path.unlink(missing_ok=True)

    def variables(self) -> frozenset[str]:
        """Return the names of the gateway's environment variables that contain secrets and must not be passed to
        runtimes."""
        return frozenset(each.env for each in self._settings.secrets.values() if each.env is not None)

    def authority(self, paths: SandboxPaths) -> str:
        """Return the CA certificate for a sandbox, in PEM. Raises `OSError`."""
        return (paths.egress / CERTIFICATE_NAME).read_text("ascii")

    def _process_of(self, paths: SandboxPaths) -> RuntimeProcess | None:
        """Return a sandbox's proxy process, or None if it is not running. Blocks."""
        if (child := self._children.get(paths.home)) is not None:
            child.poll()
        process = RuntimeProcess.load(_process(paths))
        return process if process is not None and process.alive else None

    def _start(self, paths: SandboxPaths, policy: EgressPolicy, others: Iterable[Path]) -> None:
        """Start the proxy process, and wait until it is ready. Blocks. Raises `OSError`, `ValueError`, `HawseError`."""
        paths.egress.mkdir(mode=0o700, exist_ok=True)
        limits = SandboxLimits(memory=MEMORY, cpus=CPUS, processes=THREADS)
        with _exclusive(paths.egress / "starting"):
            if self._process_of(paths) is not None:
                return  # another gateway has already started the proxy
            if (child := self._children.pop(paths.home, None)) is not None:
                child.poll()
            _write_policy(paths, policy)
            record = paths.egress / CGROUPS_NAME
            with cgroups.created(self._tree, f"{cgroup_name(paths)}-egress", limits, record) as cgroup:
                plan = self._plan(paths, policy, others, [*cgroup.tasks, *cgroup.processes])
                child = self._children[paths.home] = _popen(plan, paths)
            try:
                if (process := RuntimeProcess.of_pid(child.pid)) is not None:
                    process.save(_process(paths))
                _wait_until_ready(child, paths)
            except BaseException:
                child.kill()
                child.wait()
                if child.stdout is not None:
                    child.stdout.close()
                raise

    def _terms(self, policy: EgressPolicy) -> Terms:
        """Return the proxy terms for a policy. Blocks. Raises `HawseError`."""
        return Terms(
            policy=policy,
            secrets=self._settings.secret_values(policy.secrets),
            networks=self._settings.networks,
            addresses=self._settings.addresses,
            trusted=self._settings.trusted(),
        )

    def _plan(self, paths: SandboxPaths, policy: EgressPolicy, others: Iterable[Path], cgroup: list[int]) -> EgressPlan:
        root = os.getuid() == 0
        return EgressPlan(
            folder=str(paths.egress),
            socket=str(paths.run / SOCKET_NAME),
            socket_user=self._socket_user(paths, others) if root else None,
            user=USER if root else None,
            cgroup=cgroup,
            terms=self._terms(policy),
        )

    def _socket_user(self, paths: SandboxPaths, others: Iterable[Path]) -> int:
        return host_user.choose(paths.uid, others) if self._user is None else self._user


def _popen(plan: EgressPlan, paths: SandboxPaths) -> subprocess.Popen[bytes]:
    """Start a proxy. The plan is passed in an in-memory file. The gateway's environment is not passed on."""
    fd = os.memfd_create("plan")
    with open(fd, "wb+") as stdin, (paths.egress / LOG_NAME).open("wb") as output:
        stdin.write(msgspec.json.encode(plan))
        stdin.seek(0)  # also writes buffered data to the file
        return subprocess.Popen(
            PROXY,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=output,
            cwd="/",
            env={name: value for name, value in os.environ.items() if name in VARIABLES},
            start_new_session=True,
            pass_fds=plan.cgroup,
        )


def _wait_until_ready(child: subprocess.Popen[bytes], paths: SandboxPaths) -> None:
    """Raise `OSError` if a proxy does not report that it is ready."""
    assert child.stdout is not None
    with child.stdout as pipe:
        readable = select.poll()
        readable.register(pipe, select.POLLIN)
        if not readable.poll(START_TIMEOUT * 1000):
            raise OSError(f"the proxy was not ready within {START_TIMEOUT:g} s")
        if pipe.read(len(READY)) != READY:
            with (paths.egress / LOG_NAME).open("rb") as file:
                raise OSError(file.read(LOG_MAX).decode(errors="replace").strip() or "the process has ended")


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold the lock for starting a proxy, so that no other gateway starts it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _policy(paths: SandboxPaths) -> Path:
    """Return the path to the stored policy, which a later gateway needs to restart the proxy."""
    return paths.egress / "policy.json"


def _write_policy(paths: SandboxPaths, policy: EgressPolicy) -> None:
    """Write a sandbox's policy atomically, so that the old policy is kept if writing fails, for example because
    the disk is full. Raises `OSError`."""
    new = paths.egress / "policy.new"
    new.write_bytes(msgspec.json.encode(policy))
    new.replace(_policy(paths))


def _process(paths: SandboxPaths) -> Path:
    return paths.egress / "process"
