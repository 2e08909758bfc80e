"""The stream carrier: a `Connection` on an asyncio transport (a Unix socket or TCP).

Both ends of a link from gateway to runtime use it; it may know of neither. No task is involved: what
arrives is handled in `data_received`, what is to be sent is pulled while the transport takes it.
"""

import asyncio
import logging
from typing import Protocol, cast

from hawse.wire import (
    Connection,
    Data,
    FairWriter,
    FrameSource,
    Message,
    RemoteProtocolError,
    StreamDecoder,
    encode_stream,
)

log = logging.getLogger(__name__)

WRITE_BUFFER = 128 * 1024  # bytes the transport may hold: more would make every channel wait behind it
BATCH = 64 * 1024  # bytes taken per turn of the writer
CLOSE_TIMEOUT = 5.0  # seconds the other end has for reading the last words; without it, it could keep the link open


class LinkReceiver(Protocol):
    """Who a link belongs to. Both are called from the event loop and must not block or raise."""

    def link_received(self, link: "StreamLink", event: Message | Data) -> None:
        """One message or frame; a frame's payload is a view that is valid only during the call."""
        ...

    def link_lost(self, link: "StreamLink", error: Exception | None) -> None:
        """The link is gone. Called exactly once for a link that was made."""
        ...


class StreamLink(asyncio.Protocol):
    """One end of a link. Whoever changes what there is to send calls `flush` (or `wake`)."""

    def __init__(self, connection: Connection, receiver: LinkReceiver) -> None:
        self.connection = connection
        self.writer = FairWriter(connection)
        self.closed = False
        self._receiver = receiver
        self._decoder = StreamDecoder(connection.limits)
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._receiving = False
        self._flushing = False
        self._closing = False
        self._deadline: asyncio.TimerHandle | None = None  # of a close that waits for the last words to be read
        self._error: Exception | None = None

    # ---- for its owner

    def attach(self, ch: int, source: FrameSource) -> None:
        self.writer.attach(ch, source)
        self.flush()

    def wake(self, ch: int) -> None:
        self.writer.wake(ch)
        self.flush()

    def flush(self) -> None:
        """Write what there is while the transport takes it.

        Within `link_received` it waits until that is done; within a source's `pull` the writer that pulls goes on.
        """
        if self._receiving or self._flushing or self._transport is None:
            return
        self._flushing = True
        try:
            while not self._paused and not self._closing:
                batch = self.writer.take(BATCH)
                if not batch or self._closing:
                    return
                self._transport.writelines(encode_stream(batch))
        except Exception as error:  # a bug here, in some source: as in `data_received`
            log.exception("! link failed")
            self.abort(error)
        finally:
            self._flushing = False
        if self.connection.pending > self.connection.limits.backlog:
            self.abort(RemoteProtocolError("the other end of the link does not read", code="backlog", close_code=4429))

    def close(self) -> None:
        """Write what is queued as control, then close; abort if that is not read within `CLOSE_TIMEOUT`."""
        if not self._closing:
            self._closing = True
            if self._transport is not None:
                self._say_last_words(self._transport)

    def _say_last_words(self, transport: asyncio.Transport) -> None:
        transport.writelines(encode_stream(self.connection.data_to_send()))
        transport.close()
        self._deadline = asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, transport.abort)

    def abort(self, error: Exception | None = None) -> None:
        """Close at once: what is queued is lost."""
        self._error = self._error or error
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    # ---- for the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        if self._closing:  # it was refused before it was made
            self._say_last_words(self._transport)
        self.flush()

    def data_received(self, data: bytes) -> None:
        self._receiving = True
        try:
            for is_control, message in self._decoder.feed(data):
                if is_control:
                    self.connection.receive_text(message)
                else:
                    self.connection.receive_data(message)
                for event in self.connection.events():
                    self._receiver.link_received(self, event)
                if self._closing:
                    return
        except RemoteProtocolError as error:
            log.warning("! link broken by its other end: %s", error)
            self._error = error
            self.close()
        except Exception as error:  # a bug here: the link goes, its peer resumes on a new one
            log.exception("! link failed")
            self.abort(error)
        finally:
            self._receiving = False
        self.flush()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self.flush()

    def eof_received(self) -> None:
        self.close()  # half a link is none

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = self._closing = True
        if self._deadline is not None:
            self._deadline.cancel()
        self._receiver.link_lost(self, self._error or exc)
