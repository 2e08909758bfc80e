"""The process that hosts the kernels, from the runtime's side: started on first use, ended with the runtime."""

import asyncio
import json
import logging
import secrets
import signal
import socket
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.code.host_protocol import (
    CONTROL,
    Decoder,
    Exited,
    HostMessage,
    ProtocolError,
    Reply,
    RunDone,
    RunEvent,
    encode,
    from_host,
    without_lone_surrogates,
)
from hawse_runtime.core.private_tempdir import PrivateTempDir
from hawse_runtime.posix.child import Child, adopt, signal_name
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.fd_streams import FdReader
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.spawn import spawn_pipes

log = logging.getLogger(__name__)

BACKLOG = 32 << 20  # bytes of requests that a host has not read: it is stopped, or hangs
END_GRACE = 2.0  # seconds from the end of the connection, after which a host ends by itself, to SIGKILL
PORTION = 32  # messages that are handled in one turn of the loop: about 1 ms, in which no terminal echoes
LOGGED = 1000  # characters of one line of a host's stderr that are logged


class HostedRun(Protocol):
    """A run that the host sends output of."""

    def receive_output(self, stream: int, data: bytes) -> None: ...

    def receive_event(self, event: RunEvent) -> None: ...

    def done(self, end: RunDone) -> None: ...


class KernelHost(asyncio.Protocol):
    """One host process and the connection to it."""

    def __init__(
        self,
        environment: Environment,
        trees: ProcessTrees,
        python: Sequence[str],
        on_end: Callable[["KernelHost"], None],
    ) -> None:
        """Start the process.

        Args:
            environment: The variables and directories that programs start with.
            trees: Ends what it leaves running.
            python: The command that runs a Python module.
            on_end: Is called once when it has ended.

        Raises:
            HawseError: `spawn_failed`, `limit_exceeded`.
            OSError: A directory or a socket could not be made.
        """
        self.ended = False
        self.runs: dict[int, HostedRun] = {}  # those in progress, by their numbers
        self.on_exit: dict[int, Callable[[Exit], None]] = {}  # of the executors, by their numbers
        self._mark = secrets.token_hex(8)
        self._trees = trees
        self._on_end = on_end
        self._decoder = Decoder()
        self._behind: asyncio.Handle | None = None  # the next turn, while messages are left of what was received
        self._replies: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []  # before the connection is made
        self._folder = PrivateTempDir()
        self._gone = asyncio.Event()
        ours, theirs = socket.socketpair()
        try:
            cwd = environment.cwd(None)
            env = {**environment.build(None, cwd=cwd), PROCESS_MARK: self._mark}
            argv = [*python, "hawse_runtime.code.host", str(self._folder.path), json.dumps(list(python))]
            pipes = spawn_pipes(argv, env=env, cwd=cwd, stdin=False, extra=theirs.fileno())
        except BaseException:
            ours.close()
            self._folder.close()
            raise
        finally:
            theirs.close()
        self._socket = ours
        self._child: Child = adopt(pipes.pid, self._exited, pipes.stdout, pipes.stderr)
        self._outputs = [
            FdReader(fd, lambda data: None) if fd == pipes.stdout else self._logged(fd)
            for fd in (pipes.stdout, pipes.stderr)
        ]

    async def connect(self) -> None:
        """Serve the connection. To be called once."""
        ours = self._socket
        ours.setblocking(False)
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)

    @property
    def folder(self) -> Path:
        """The directory with the sockets and the connection files of the kernels."""
        return self._folder.path

    # ---- requests

    def new_number(self) -> int:
        """Return a number for an executor or a run."""
        self._number += 1
        return self._number

    def send(self, message: HostMessage) -> None:
        """Send a message; nothing is sent to a host that has ended. A host that does not read is killed."""
        if self.ended:
            return
        data = encode(message)
        if self._transport is None:
            self._unsent.append(data)
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > BACKLOG:
            log.error("! the kernel host does not read its requests: it is killed")
            self._child.signal_group(signal.SIGKILL)

    async def request(self, make: Callable[[int], HostMessage], shape: Any) -> Any:
        """Send a request and return the value of its reply.

        Args:
            make: Returns the message, of the number of the request.
            shape: The type of the value.

        Raises:
            HawseError: The host's error; `unavailable` if the host has ended.
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
        """End the host with all kernels; return when nothing of it is left."""
        if self._transport is not None:
            self._transport.abort()
        else:
            self._socket.close()
        mark = f"{PROCESS_MARK}={self._mark}"
        try:
            async with asyncio.timeout(END_GRACE):
                await self._gone.wait()
        except TimeoutError:
            self._child.signal_group(signal.SIGKILL)
        await self._trees.end(self._child.pid, signal.SIGKILL, 0, lambda: self._child.exit is not None, mark=mark)
        await self._gone.wait()

    # ---- the connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.writelines(self._unsent)
        self._unsent = []

    def data_received(self, data: bytes) -> None:
        """Handle a portion of the messages. While more are left, nothing is read, so that terminals have their turn."""
        was_behind = self._behind is not None
        self._behind = None
        messages = self._decoder.feed(data)
        try:
            for kind, run, body in islice(messages, PORTION):
                if kind != CONTROL:
                    if (found := self.runs.get(run)) is not None:
                        found.receive_output(kind - 1, body)
                else:
                    self._receive(from_host.decode(without_lone_surrogates(body)))
        except (ProtocolError, ValueError, RecursionError) as error:
            log.error("! the kernel host violated the protocol, so it is killed: %s", error)
            self._child.signal_group(signal.SIGKILL)
            assert self._transport is not None
            self._transport.abort()
            return
        finally:
            messages.close()  # the decoder keeps what is left
        if self._transport is None or self._transport.is_closing():
            return
        if self._decoder.complete:
            if not was_behind:
                self._transport.pause_reading()
            self._behind = asyncio.get_running_loop().call_soon(self.data_received, b"")
        elif was_behind:
            self._transport.resume_reading()

    def _receive(self, message: Any) -> None:
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

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended and self._child.exit is None:  # it has closed the connection and still runs
            self._child.signal_group(signal.SIGKILL)

    # ---- its end

    def _exited(self, exit: Exit) -> None:
        """The process has ended: the kernel kills those that it has started with it (prctl(2), PR_SET_PDEATHSIG)."""
        self.ended = True
        if self._behind is not None:
            self._behind.cancel()
        if self._transport is not None:
            self._transport.abort()
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
        self._gone.set()
        self._on_end(self)

    def _logged(self, fd: int) -> FdReader:
        """Log what the host prints to stderr: its own failures."""

        def read(data: bytes) -> None:
            for line in data.decode(errors="replace").splitlines()[-20:]:
                log.warning("! kernel host: %s", line[:LOGGED])

        return FdReader(fd, read)


def _host_ended() -> HawseError:
    return HawseError("spawn_failed", "the process that hosts the executors has ended", retryable=True)
