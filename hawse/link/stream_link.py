"""The stream carrier: a protocol `Connection` on an asyncio transport (a Unix socket or TCP).

The gateway and the runtime use it for their link, but this module must not depend on either. A link needs no task:
`data_received` handles received bytes, and data to send is pulled while the transport accepts it.
"""

import asyncio
import logging
import socket
import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Protocol, cast

from hawse.link.keystrokes import Keystrokes
from hawse.wire import (
    Connection,
    Data,
    FairWriter,
    FrameSource,
    Message,
    RemoteProtocolError,
    Role,
    StreamDecoder,
    encode_stream,
)

log = logging.getLogger(__name__)

WRITE_BUFFER = 128 * 1024  # number of bytes the transport can buffer; any new data waits until they have been sent
BATCH = 64 * 1024  # number of bytes the writer takes per turn
CONGESTED = 1 << 20  # a server with more bytes than this in unwritten responses stops reading calls
STALL_TIMEOUT = 30.0  # how long a congested server waits for its client to read, in seconds
CLOSE_TIMEOUT = 5.0  # seconds the peer has to read the last messages; it cannot keep the link open longer


class PeerCredentials(NamedTuple):
    """The process at the other end of a Unix socket, or the process that called `listen` on it (SO_PEERCRED, unix(7)).

    Attributes:
        pid: Its process id in our PID namespace; 0 if it isn't visible there.
        uid: Its user id in our user namespace.
        gid: Its group id in our user namespace.
    """

    pid: int
    uid: int
    gid: int


class LinkReceiver(Protocol):
    """Receives a link's messages. Both methods are called in the event loop and must not block or raise."""

    def link_received(self, link: "StreamLink", event: Message | Data) -> None:
        """Handle one message or frame. The payload of a frame is only valid during this call."""
        ...

    def link_lost(self, link: "StreamLink", error: Exception | None) -> None:
        """Handle the end of the link. `error` is the error that ended it, if any. Called once for each link that was
        connected.
        """
        ...


def credentials(transport: asyncio.BaseTransport) -> PeerCredentials | None:
    """Return the process at the other end of a transport; None if the transport is not a Unix socket."""
    end = transport.get_extra_info("socket")
    if end is None or end.family != socket.AF_UNIX:
        return None
    size = struct.calcsize("3i")
    return PeerCredentials(*struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)))


class StreamLink(asyncio.Protocol):
    """One end of a link. After sending through `connection`, call `flush`. After adding data to a source, call
    `wake`.
    """

    def __init__(
        self,
        connection: Connection,
        receiver: LinkReceiver,
        *,
        stall_timeout: float = STALL_TIMEOUT,
        close_timeout: float = CLOSE_TIMEOUT,
        keystrokes: Keystrokes | None = None,
    ) -> None:
        """Create a link without a transport.

        Args:
            connection: The protocol state of this end.
            receiver: Receives messages and frames.
            stall_timeout: Seconds before a server aborts a link whose client doesn't read its responses.
            close_timeout: Seconds the other end has to read the last messages.
            keystrokes: Limits the number of bytes written at once and in flight while a person is typing.
        """
        self.connection = connection
        self.writer = FairWriter(connection)
        self.closed = False
        self.received = 0  # number of bytes received
        self.held = 0  # number of bytes in results waiting for their turn, counted by `ServerCall`
        self._stall_timeout = stall_timeout
        self._close_timeout = close_timeout
        self._stalled: asyncio.TimerHandle | None = None  # set while reading is stopped because the link is congested
        self._unread: deque[Iterator[tuple[bool, memoryview | bytes]]] = deque()  # data received before reading stopped
        self._receiver = receiver
        self._keystrokes = keystrokes or Keystrokes()
        self._batch = BATCH  # number of bytes taken in the writer's last turn
        self._send_buffer = 0  # default size of the kernel's send buffer, in bytes; 0 if unknown
        self._decoder = StreamDecoder(connection.limits)
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._receiving = False
        self._flushing = False
        self._closing = False
        self._deadline: asyncio.TimerHandle | None = None  # timer for a close that is waiting for the peer to read
        self._error: Exception | None = None

    @property
    def congested(self) -> bool:
        """Whether so many responses are queued that a result should wait for its channel's turn."""
        return self.connection.pending + self.held > CONGESTED

    @property
    def transport(self) -> asyncio.Transport:
        """The link's transport. The link must have been connected."""
        assert self._transport is not None
        return self._transport

    @property
    def peer(self) -> PeerCredentials | None:
        """The process at the other end; None if the link is not connected or uses TCP."""
        return None if self._transport is None else credentials(self._transport)

    # ---- for the receiver

    def attach(self, ch: int, source: FrameSource) -> None:
        self.writer.attach(ch, source)
        self.flush()

    def wake(self, ch: int) -> None:
        self.writer.wake(ch)
        self.flush()

    def flush(self) -> None:
        """Write pending messages while the transport accepts them.

        Nothing is written during `link_received`. During a source's `pull`, this has no effect, because a flush is
        already in progress.
        """
        if self._receiving or self._flushing or self._transport is None:
            return
        self._write(self._transport)
        while self._stalled is not None and not self._closing and not self.congested:
            self._resume_reading(self._transport, self._stalled)
            self._write(self._transport)

    def _write(self, transport: asyncio.Transport) -> None:
        self._flushing = True
        try:
            while not (self._paused or self._closing or self.writer.idle):
                batch = self.writer.take(self._portion(transport))
                if not batch or self._closing:
                    return
                transport.writelines(encode_stream(batch))
        except Exception as error:  # a bug in a source: close the link, as in `data_received`
            log.exception("! link failed")
            self.abort(error)
        finally:
            self._flushing = False
        pending, backlog = self.connection.pending, self.connection.limits.backlog
        if pending > backlog:
            message = f"the other end of the link has not read {pending} bytes; the limit is {backlog}"
            self.abort(RemoteProtocolError(message, code="backlog", close_code=4429))

    def _portion(self, transport: asyncio.Transport) -> int:
        """Return the number of bytes to take in a turn. While a person is typing, this is only a few bytes, so that the
        peer has little to read before a key's echo.
        """
        size = self._keystrokes.portion(BATCH)
        if size != self._batch:
            self._batch = size
            transport.set_write_buffer_limits(high=WRITE_BUFFER if size == BATCH else size)
            end = transport.get_extra_info("socket")
            if end is not None and end.family == socket.AF_UNIX:
                if not self._send_buffer:
                    # The kernel reports twice the size, because it adds space for bookkeeping (socket(7)).
                    self._send_buffer = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 2
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._send_buffer if size == BATCH else size)
        return size

    def close(self) -> None:
        """Write the queued control messages, then close. Abort if the peer does not read them within
        `close_timeout`.
        """
        if not self._closing:
            self._closing = True
            if self._transport is not None:
                self._write_and_close(self._transport)

    def _write_and_close(self, transport: asyncio.Transport) -> None:
        transport.writelines(encode_stream(self.connection.data_to_send()))
        transport.close()
        self._deadline = asyncio.get_running_loop().call_later(self._close_timeout, transport.abort)

    def abort(self, error: Exception | None = None) -> None:
        """Close immediately. Queued messages are lost."""
        self._error = self._error or error
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    # ---- for the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are not subclasses of asyncio's
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        if self._closing:  # the link was closed before the connection was established
            self._write_and_close(self._transport)
        self.flush()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        self._unread.append(self._decoder.feed(data))
        self._receive()
        self.flush()

    def _receive(self) -> None:
        """Handle received messages until none are left or the link is congested."""
        self._receiving = True
        try:
            while self._unread and self._stalled is None:
                for is_control, message in self._unread[0]:
                    if is_control:
                        self.connection.receive_text(message)
                    else:
                        self.connection.receive_data(message)
                    for event in self.connection.events():
                        self._receiver.link_received(self, event)
                    if self._closing:
                        self._unread.clear()
                        return
                    if self.congested and self.connection.role is Role.SERVER:
                        self._stop_reading()
                        break
                else:
                    self._unread.popleft()
        except RemoteProtocolError as error:
            log.warning("! the other end of the link violated the protocol: %s", error)
            self._error = error
            self.close()
        except Exception as error:  # a bug in this process: close the link; the peer resumes on a new one
            log.exception("! link failed")
            self.abort(error)
        finally:
            self._receiving = False

    def _stop_reading(self) -> None:
        """Stop reading calls until the client has read some responses. Only servers do this: if both ends stopped, each
        would wait for the other forever.
        """
        assert self._transport is not None
        self._transport.pause_reading()
        self._stalled = asyncio.get_running_loop().call_later(self._stall_timeout, self._abort_stalled)

    def _resume_reading(self, transport: asyncio.Transport, stalled: asyncio.TimerHandle) -> None:
        stalled.cancel()
        self._stalled = None
        transport.resume_reading()
        self._receive()

    def _abort_stalled(self) -> None:
        self.abort(RemoteProtocolError("the other end of the link is not reading", code="backlog", close_code=4429))

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._stalled is not None:  # the client has read some responses
            self._stalled.cancel()
            self._stalled = asyncio.get_running_loop().call_later(self._stall_timeout, self._abort_stalled)
        self.flush()

    def eof_received(self) -> None:
        self.close()  # a link cannot be half-closed

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = self._closing = True
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        self._receiver.link_lost(self, self._error or exc)
