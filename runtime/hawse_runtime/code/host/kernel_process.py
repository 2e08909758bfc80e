"""A Jupyter kernel's process and sockets. This module knows nothing about the messages."""

import asyncio
import ctypes
import os
import resource
import signal
import subprocess
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar, cast

import zmq
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from jupyter_client.session import Session

from hawse_runtime.code.host.languages import Installed, Languages
from hawse_runtime.code.host_protocol import Start, from_text

T = TypeVar("T")

RECONNECT = 20  # milliseconds between attempts to connect to a kernel that is starting
STDIN_WAIT = 5.0  # seconds to wait for the prompt socket; after that, the kernel is used without prompts
QUEUE = 1000  # maximum number of received messages to queue; further messages wait in the kernel
TAIL = 4096  # number of bytes of a kernel's stderr kept for the error message if it doesn't start
OPEN_FILES = 1024  # kernels' soft limit; lower than the host's, because some programs close every possible descriptor
PR_SET_PDEATHSIG = 1
# If this variable is set, as in tests, ipykernel doesn't read file descriptors 1 and 2.
NOT_INHERITED = "PYTEST_CURRENT_TEST"
PLAIN = {"NO_COLOR": "1"}  # otherwise, Deno writes terminal colours to `text/plain` (https://no-color.org)

_libc = ctypes.CDLL(None, use_errno=True)


class ProcessEnded(Exception):
    """Raised when the process exits before it is ready."""


class KernelProcess:
    """A kernel's process, from start to exit, and the sockets connected to it."""

    shell: zmq.asyncio.Socket
    stdin: zmq.asyncio.Socket
    iopub: zmq.asyncio.Socket

    def __init__(self, number: int, found: Installed, languages: Languages, folder: str) -> None:
        """Create the instance without starting the process.

        Args:
            number: The number that identifies the kernel's files.
            found: The kernel's specification.
            languages: Looks up the specification once more when the process is started.
            folder: A private directory for sockets and the connection file.
        """
        self.session = Session(key=os.urandom(16).hex().encode(), digest_history_size=0)
        self.has_ended = asyncio.Event()
        self._manager = AsyncKernelManager(
            kernel_name=found.name,
            kernel_spec_manager=languages,
            context=_context(),
            session=self.session,
            connection_file=f"{folder}/{number}.json",
        )
        if found.name != "deno":  # Deno's ZeroMQ library doesn't support Unix sockets, so Deno uses ports on 127.0.0.1
            self._manager.transport = "ipc"
            self._manager.ip = f"{folder}/{number}"
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._sockets: list[zmq.asyncio.Socket] = []
        self._stderr = deque[bytes](maxlen=8)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def memory(self) -> int:
        """The resident memory in bytes; 0 if the process has exited."""
        try:
            with open(f"/proc/{self.pid}/statm") as statm:
                return int(statm.read().split()[1]) * resource.getpagesize()
        except (OSError, IndexError):
            return 0

    async def launch(self, request: Start) -> None:
        """Start the process and connect the sockets. Raises `OSError`, `RuntimeError` or `ValueError`."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

        def in_child() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # makes sure that the kernel ends along with this host
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))

        env = {from_text(name): from_text(value) for name, value in request.env.items() if name != NOT_INHERITED}
        await self._manager.start_kernel(
            cwd=from_text(request.cwd),
            env=PLAIN | env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=in_child,
        )
        self._process = cast(LocalProvisioner, self._manager.provisioner).process
        self._pidfd = os.pidfd_open(self.pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._exited)
        self._watch_stderr()
        manager, identity = self._manager, self.session.bsession
        self.shell = self._use(manager.connect_shell(identity=identity))
        self.stdin = self._use(manager.connect_stdin(identity=identity))  # the identity must be the same as for `shell`
        self._stdin_events = self._use(self.stdin.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED))
        self.iopub = self._use(manager.connect_iopub())
        self.iopub.rcvhwm = QUEUE

    def _use(self, socket: Any) -> zmq.asyncio.Socket:
        socket.linger = 0
        self._sockets.append(socket)
        return cast(zmq.asyncio.Socket, socket)

    async def connect_stdin(self) -> None:
        """Wait until the kernel's prompt socket is connected. The kernel drops any prompts sent before that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STDIN_WAIT):
                await self._stdin_events.recv_multipart()
        self.stdin.disable_monitor()

    async def unless_ended(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`. Raises `ProcessEnded` if the process exits first."""
        async with asyncio.TaskGroup() as group:
            waiting, ended = group.create_task(work), group.create_task(self.has_ended.wait())
            await asyncio.wait((waiting, ended), return_when=asyncio.FIRST_COMPLETED)
            ended.cancel()
            if not waiting.done():
                waiting.cancel()
        if waiting.cancelled():
            raise ProcessEnded(f"it ended: {self._end_text()}")
        return waiting.result()

    async def interrupt(self) -> None:
        """Interrupt the kernel with SIGINT or a message, depending on its specification."""
        await self._manager.interrupt_kernel()

    def kill(self) -> None:
        """Send SIGKILL to the process group."""
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return the process's exit status in the form used by `subprocess`."""
        assert self._process is not None
        return self._process.wait()

    def last_words(self) -> str:
        """Return the process's last output on stderr."""
        return b"".join(self._stderr)[-TAIL:].decode(errors="replace").strip()

    def close(self) -> None:
        """Close the sockets and remove their files."""
        for socket in self._sockets:
            socket.close(linger=0)
        self._sockets = []
        control = self._manager._control_socket
        if control is not None:
            control.close(linger=0)
        loop = asyncio.get_running_loop()
        if self._process is not None and self._process.stderr is not None and not self._process.stderr.closed:
            loop.remove_reader(self._process.stderr.fileno())
            self._process.stderr.close()
        if self._pidfd >= 0:
            self._exited()
        self._manager.cleanup_ipc_files()
        self._manager.cleanup_connection_file()

    def _exited(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = -1
        self.has_ended.set()

    def _watch_stderr(self) -> None:
        assert self._process is not None
        pipe, loop = self._process.stderr, asyncio.get_running_loop()
        assert pipe is not None
        fd = pipe.fileno()
        os.set_blocking(fd, False)

        def read() -> None:
            try:
                data = os.read(fd, TAIL)
            except BlockingIOError:
                return
            self._stderr.append(data)
            if not data:
                loop.remove_reader(fd)

        loop.add_reader(fd, read)

    def _end_text(self) -> str:
        code = self._process.poll() if self._process is not None else None
        return "exit code unknown" if code is None else f"exit code {code}" if code >= 0 else f"signal {-code}"


def _context() -> zmq.asyncio.Context:
    """Return the ZeroMQ context for all sockets. The sockets inherit its connection options."""
    context = zmq.asyncio.Context.instance()
    context.reconnect_ivl = RECONNECT
    return context
