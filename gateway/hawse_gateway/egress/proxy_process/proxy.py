"""The proxy process: opens its files and sockets, drops root's privileges, and serves one sandbox.

The process exits together with the sandbox's runtime, which keeps a connection to the proxy open for this purpose.
"""

import asyncio
import ctypes
import encodings.idna  # noqa: F401  # loaded now: see `run`
import fcntl
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

from hawse.link.sockets import socket_address
from hawse_gateway.egress.certificates import Authority, new_authority
from hawse_gateway.egress.control import REQUEST_MAX
from hawse_gateway.egress.plan import CERTIFICATE_NAME, CONTROL_NAME, KEY_NAME, READY, EgressPlan
from hawse_gateway.egress.proxy_process.control_server import ControlServer
from hawse_gateway.egress.proxy_process.relay import Relay
from hawse_gateway.egress.refusals import Refusals

log = logging.getLogger(__name__)

CONNECTIONS: Final = 256  # maximum number of concurrent connections from programs; each uses up to about 500 KB
CONTROLS: Final = 36  # maximum number of connections from gateways: one follower and several watchers
RUNTIME_TIMEOUT: Final = 60.0  # seconds to wait for a runtime to hand over its listening socket
BUFFER: Final = 64 << 10  # maximum number of bytes buffered from a program
FILES: Final = 1024
MEMORY: Final = 4 << 30  # maximum size of the address space, in bytes
LOG_SIZE: Final = 1 << 20  # bytes
LOCK: Final = "lock"
ALREADY_RUNNING: Final = 3  # exit code

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38


def run(plan: EgressPlan, ready: Callable[[bytes], object]) -> int:
    """Serve until the sandbox ends. Return the exit code.

    Args:
        plan: The plan from the gateway.
        ready: Called with `READY` when it's time to start the runtime.

    Raises:
        OSError: A file or a socket cannot be opened.
        ValueError: The plan is invalid.
    """
    os.chdir(plan.folder)
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return ALREADY_RUNNING
    _join(plan.cgroup)
    refusals = Refusals()
    authority = open_authority(Path())
    authority.context("localhost")  # loads TLS files now, because they may be unreadable after switching users
    relay = Relay(plan.terms, authority, refusals)
    with _bound(Path(CONTROL_NAME)) as control, _bound(Path(plan.socket)) as handover:
        if plan.socket_user is not None:
            # The runtime's user can write to this directory and could create a link to another file there.
            os.chown(plan.socket, plan.socket_user, plan.socket_user, follow_symlinks=False)
        restrict(plan.user)
        ready(READY)
        asyncio.run(ProxyServer(relay, refusals).serve(control, handover))
    return 0


def open_authority(folder: Path) -> Authority:
    """Return a sandbox's certificate authority. Create its files if they are missing or unusable."""
    key, certificate = folder / KEY_NAME, folder / CERTIFICATE_NAME
    try:
        return Authority(key.read_text("ascii"), certificate.read_text("ascii"))
    except FileNotFoundError:
        pass
    except ValueError as error:  # for example, if a file is empty after a power failure
        log.error("! recreating the authority, which programs trust after the next start of the sandbox: %s", error)
    made = new_authority("hawse sandbox")
    for path, text in ((key, made[0]), (certificate, made[1])):
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    return Authority(*made)


def _join(cgroup: Sequence[int]) -> None:
    """Move this process, which has a single thread, to the cgroups that the given files belong to. Raises `OSError`."""
    for fd in cgroup:
        with open(fd, "wb", 0) as file:
            file.write(b"0")


def restrict(user: int | None) -> None:
    """Drop privileges that aren't needed, because the proxy handles input from hostile programs. Raises `OSError`.

    Args:
        user: The user to switch to if the process runs as root. None keeps the current user.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LOG_SIZE, LOG_SIZE))  # limits the size of the log
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if user is not None:
        os.chmod(".", 0o711)  # lets `user` enter root's directory; the parent remains inaccessible to others
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc = ctypes.CDLL(None, use_errno=True)
    # Clearing PR_SET_DUMPABLE prevents other processes from reading the secrets in memory.
    for option, value in ((_PR_SET_NO_NEW_PRIVS, 1), (_PR_SET_DUMPABLE, 0)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


class ProxyServer:
    """Accepts connections from programs, the runtime and gateways."""

    def __init__(self, relay: Relay, refusals: Refusals) -> None:
        self._relay = relay
        self._controls = ControlServer(refusals, relay.change)
        self._stop = asyncio.Event()
        self._tasks: dict[str, set[asyncio.Task[None]]] = {"program": set(), "gateway": set()}

    async def serve(self, control: socket.socket, handover: socket.socket) -> None:
        """Serve until the runtime exits or SIGTERM arrives.

        Args:
            control: A bound Unix socket for gateways.
            handover: A bound Unix socket where the runtime hands over its listening socket.
        """
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop.set)
        async with asyncio.TaskGroup() as tasks:
            self._group = tasks
            controls = await asyncio.start_unix_server(self._on_gateway, sock=control, limit=REQUEST_MAX)
            following = tasks.create_task(self._follow_runtime(handover), name="the runtime")
            await self._stop.wait()
            controls.close()
            following.cancel()
            for task in (*self._tasks["program"], *self._tasks["gateway"]):
                task.cancel()

    async def _follow_runtime(self, handover: socket.socket) -> None:
        """Wait for the runtime, and serve its programs until it exits."""
        try:
            async with asyncio.timeout(RUNTIME_TIMEOUT):
                connection, listener = await _receive_listener(handover)
            with connection, listener:
                server = await asyncio.start_server(self._on_program, sock=listener, limit=BUFFER)
                try:
                    await asyncio.get_running_loop().sock_recv(connection, 1)
                finally:
                    server.close()
        except (OSError, TimeoutError) as error:
            log.error("! the runtime did not hand over its listening socket: %r", error)
        finally:
            self._stop.set()

    def _on_program(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._begin("program", CONNECTIONS, writer, self._relay.serve(reader, writer))

    def _on_gateway(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._begin("gateway", CONTROLS, writer, self._controls.serve(reader, writer))

    def _begin(self, kind: str, limit: int, writer: asyncio.StreamWriter, work: Coroutine[Any, Any, None]) -> None:
        tasks = self._tasks[kind]
        if self._stop.is_set() or len(tasks) >= limit:
            work.close()
            writer.transport.abort()
            return
        task = self._group.create_task(work, name=kind)
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _receive_listener(handover: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Accept the runtime's connection, and return it along with the runtime's listening socket. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    handover.setblocking(False)
    handover.listen(1)
    connection, _ = await loop.sock_accept(handover)
    readable = asyncio.Event()
    loop.add_reader(connection, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection)
    _, fds, _, _ = socket.recv_fds(connection, 1, 1, socket.MSG_CMSG_CLOEXEC)
    if not fds:
        connection.close()
        raise OSError("the runtime sent no descriptor")
    listener = socket.socket(fileno=fds[0])
    listener.setblocking(False)
    return connection, listener


def _bound(path: Path) -> socket.socket:
    """Return a Unix socket bound at `path` that only its owner can connect to."""
    path.unlink(missing_ok=True)  # a previous proxy may have left its socket behind
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.fchmod(made.fileno(), 0o600)  # sets the mode of the file that `bind` creates (unix(7))
    with socket_address(path) as address:
        made.bind(address)
    return made
