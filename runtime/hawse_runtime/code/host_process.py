"""The runtime's side of the kernel host, a process that is started on first use and exits with the runtime."""

import asyncio
import json
import logging
import secrets
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.code.host_protocol import (
    CONTROL,
    MESSAGE_LIMIT,
    Exited,
    FromHost,
    HostMessage,
    Reply,
    RunDone,
    RunEvent,
    encode,
    from_host,
    split,
    without_lone_surrogates,
)
from hawse_runtime.core.framing import decoded
from hawse_runtime.core.private_tempdir import PrivateTempDir
from hawse_runtime.posix.child import signal_name
from hawse_runtime.posix.child_server import ChildServer
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.fd_streams import FdReader
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.spawn import spawn_pipes

log = logging.getLogger(__name__)

BACKLOG = 32 << 20  # maximum size of unread requests, in bytes; a host that exceeds this is suspended or hung
END_GRACE = 2.0  # seconds the host has to exit once the connection is closed; after that, it is killed
LOGGED = 1000  # maximum length of each line logged from a host's stderr, in characters


class HostedRun(Protocol):
    """A run whose output comes from the host process."""

    def receive_output(self, stream: int, data: bytes) -> None: ...

    def receive_event(self, event: RunEvent) -> None: ...

    def done(self, end: RunDone) -> None: ...


class KernelHost:
    """A host process and the connection to it."""

    def __init__(
        self,
        environment: Environment,
        trees: ProcessTrees,
        python: Sequence[str],
        on_end: Callable[["KernelHost"], None],
    ) -> None:
        """Start the host process.

        Args:
            environment: Environment variables and directories for new programs.
            trees: Ends any processes that the host leaves behind.
            python: The command for running a Python module.
            on_end: Called once, when the host has exited.

        Raises:
            HawseError: `spawn_failed` or `limit_exceeded`.
            OSError: A directory or a socket cannot be created.
        """
        self.runs: dict[int, HostedRun] = {}  # the runs in progress, keyed by number
        self.on_exit: dict[int, Callable[[Exit], None]] = {}  # keyed by executor number
        self._mark = secrets.token_hex(8)
        self._trees = trees
        self._on_end = on_end
        self._replies: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._folder = PrivateTempDir()
        self._outputs: list[FdReader] = []  # stdout and stderr
        cwd = environment.cwd(None)
        env = {**environment.build(None, cwd=cwd), PROCESS_MARK: self._mark}
        argv = [*python, "hawse_runtime.code.host", str(self._folder.path), json.dumps(list(python))]

        def spawn(connection: int) -> int:
            pipes = spawn_pipes(argv, env=env, cwd=cwd, stdin=False, extra=connection)
            self._outputs += FdReader(pipes.stdout, _ignore), FdReader(pipes.stderr, _log)
            return pipes.pid

        try:
            self.server = ChildServer(
                "kernel host", spawn, self._receive, self._exited, limit=MESSAGE_LIMIT, backlog=BACKLOG
            )
        except BaseException:
            for output in self._outputs:
                output.close()
            self._folder.close()
            raise

    @property
    def folder(self) -> Path:
        """The directory for the kernels' sockets and connection files."""
        return self._folder.path

    @property
    def ended(self) -> bool:
        return self.server.exit is not None

    # ---- requests

    def new_number(self) -> int:
        """Return an unused number for an executor or run."""
        self._number += 1
        return self._number

    def send(self, message: HostMessage) -> None:
        """Send a message. Has no effect if the host has exited."""
        self.server.send(encode(message))

    async def request(self, make: Callable[[int], HostMessage], shape: Any) -> Any:
        """Send a request and return the reply's value.

        Args:
            make: Builds the message from the request's number.
            shape: The type of the reply's value.

        Raises:
            HawseError: Any error reported by the host, or `spawn_failed` if the host has exited.
        """
        if self.ended:
            raise _host_ended()
        number = self.new_number()
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        try:
            self.send(make(number))
            answer: Reply = await reply
        finally:
            del self._replies[number]
        if answer.failure is not None:
            raise HawseError(answer.failure.code, answer.failure.message)
        try:
            return msgspec.json.decode(answer.value, type=shape)
        except (ValueError, RecursionError) as error:
            raise HawseError("spawn_failed", f"the kernel host sent an invalid reply: {error}") from None

    async def close(self) -> None:
        """End the host and all kernels. Return once all processes have exited."""
        self.server.disconnect()
        mark = f"{PROCESS_MARK}={self._mark}"
        try:
            async with asyncio.timeout(END_GRACE):
                await self.server.gone.wait()
        except TimeoutError:
            self.server.kill()
        await self._trees.end(self.server.pid, signal.SIGKILL, 0, lambda: self.ended, mark=mark)
        await self.server.gone.wait()

    # ---- messages from the host

    def _receive(self, data: bytes) -> None:
        kind, run, body = split(data)
        if kind == CONTROL:
            self._handle(decoded(from_host.decode, without_lone_surrogates(body)))
        elif (found := self.runs.get(run)) is not None:
            found.receive_output(kind - 1, body)

    def _handle(self, message: FromHost) -> None:
        match message:
            case Reply(request=number):
                waiting = self._replies.get(number)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
            case RunEvent(run=number):
                if (run := self.runs.get(number)) is not None:
                    run.receive_event(message)
            case RunDone(run=number):
                if (run := self.runs.pop(number, None)) is not None:
                    run.done(message)
            case Exited(executor=number, code=code, signal=signum):
                if (on_exit := self.on_exit.pop(number, None)) is not None:
                    on_exit(Exit(code=code) if signum is None else Exit(signal=signal_name(signum)))

    def _exited(self, exit: Exit) -> None:
        """Report that all kernels have exited. Linux kills them along with their parent (PR_SET_PDEATHSIG)."""
        for output in self._outputs:
            output.drain(1 << 16)
            output.close()
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(_host_ended())
        exits, self.on_exit = self.on_exit, {}
        for on_exit in exits.values():
            on_exit(Exit(signal="SIGKILL"))
        self.runs.clear()
        self._folder.close()
        self._on_end(self)


def _ignore(data: bytes) -> None:
    """Discard the host's stdout."""


def _log(data: bytes) -> None:
    """Log the host's stderr, where it reports its own errors."""
    for line in data.decode(errors="replace").splitlines()[-20:]:
        log.warning("! kernel host: %s", line[:LOGGED])


def _host_ended() -> HawseError:
    return HawseError("spawn_failed", "the process that hosts the executors has exited", retryable=True)
