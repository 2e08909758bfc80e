"""A child process that serves the runtime's requests over a socket pair.

The child is untrusted. It is killed if it violates the protocol, closes the connection or stops reading.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from itertools import islice

from hawse.api.types import Exit
from hawse_runtime.core.framing import FrameDecoder, ProtocolError
from hawse_runtime.posix.child import Child, adopt
from hawse_runtime.posix.fd_streams import FdReader, FdWriter

log = logging.getLogger(__name__)

BATCH = 32  # number of messages handled per event loop iteration; they take about 1 ms, which delays all terminals


class ChildServer:
    """A process and the connection to it."""

    def __init__(
        self,
        name: str,
        spawn: Callable[[int], int],
        on_message: Callable[[bytes], None],
        on_exit: Callable[[Exit], None],
        *,
        limit: int,
        backlog: int,
    ) -> None:
        """Start the process.

        Args:
            name: The process's name in log messages.
            spawn: Starts the process with a copy of the given descriptor, the child's end of the connection, and
                returns its pid.
            on_message: Called with the body of each message. If it raises `ProtocolError`, the process is killed.
            on_exit: Called once, after the process has exited and its last messages have been handled.
            limit: The maximum size of messages from the process, in bytes.
            backlog: The maximum size of unread requests, in bytes. If it is exceeded, the process is killed.

        Raises:
            HawseError: `limit_exceeded`, or an error raised by `spawn`.
            OSError: The socket pair cannot be created.
        """
        self.gone = asyncio.Event()  # set when the process has exited
        self._name = name
        self._on_message = on_message
        self._on_exit = on_exit
        self._limit = limit
        self._backlog = backlog
        self._decoder = FrameDecoder(limit)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = spawn(theirs.fileno())
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        fd = ours.detach()
        self._child: Child = adopt(pid, self._exited, fd)
        self._writer = FdWriter(fd, owned=False)
        self._reader = FdReader(fd, self.receive, self.kill)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit(self) -> Exit | None:
        """The exit status, or None while the process is running."""
        return self._child.exit

    def send(self, message: bytes) -> None:
        """Send a framed message. Has no effect if the connection is closed."""
        self._writer.write(message)
        if self._writer.pending > self._backlog:
            self._fail("does not read its requests")

    def receive(self, data: bytes = b"") -> None:
        """Handle data from the process, up to `BATCH` messages per iteration. Reading pauses until all are handled."""
        if not self._reader.closed:
            self._handle(data, BATCH)
        if self._reader.closed:
            return
        if self._decoder.pending:
            self._reader.pause()
            asyncio.get_running_loop().call_soon(self.receive)
        else:
            self._reader.resume()

    def kill(self) -> None:
        """Kill the process unless it has exited."""
        if self._child.exit is None:
            self._child.signal_group(signal.SIGKILL)

    def disconnect(self) -> None:
        """Close the connection. Any messages not yet handled are dropped."""
        self._writer.close()
        self._reader.close()

    def _handle(self, data: bytes, most: int | None) -> None:
        messages = self._decoder.feed(data)
        try:
            for message in islice(messages, most):
                self._on_message(message)
        except ProtocolError as error:
            self._fail(f"violated the protocol: {error}")
        finally:
            messages.close()  # the decoder keeps messages that have not been handled yet

    def _fail(self, reason: str) -> None:
        log.error("! killing the %s: it %s", self._name, reason)
        self.kill()
        self.disconnect()

    def _exited(self, exit: Exit) -> None:
        self._reader.drain(self._limit)
        if not self._reader.closed:  # `drain` may have closed the connection
            self._handle(b"", None)
        self.disconnect()
        self.gone.set()
        self._on_exit(exit)
