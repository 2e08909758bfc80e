"""uvicorn's WebSocket protocol, hardened: small buffers, and no peer that can keep a connection it does not serve.

uvicorn waits for room before it writes a message, which is the backpressure all else here relies on; what it
lacks is below. Its own rules are those of uvicorn.protocols.websockets.websockets_sansio_impl, 0.54.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

WRITE_BUFFER: Final = 128 << 10  # bytes in the transport: more would make every channel wait behind it
PONG_BUFFER: Final = 256 << 10  # bytes in the transport, beyond which a peer that pings and does not read is cut off
FRAGMENTS: Final = 1024  # of one message: empty ones cost no bytes of `ws_max_size`
LINGER: Final = 5.0  # s for a peer to read what is left and to close its side


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One accepted socket, from the upgrade on."""

    _deaf = False  # we have given up on what it sends; it may still read why
    _linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(high=WRITE_BUFFER)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._deaf:
            super().data_received(data)

    async def send(self, message: Any) -> None:
        await self.writable.wait()
        if self.close_sent and message["type"] == "websocket.send":
            raise ClientDisconnected
        await super().send(message)

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self._abort_later()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_later()

    def handle_ping(self) -> None:
        super().handle_ping()
        if self.transport.get_write_buffer_size() > PONG_BUFFER:
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        if self._deaf:
            return
        if len(self.frames) >= FRAGMENTS:
            self._fail(1009, "too many fragments")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """As uvicorn's, without a traceback in the log for what a client got wrong."""
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if self.close_sent:
            return
        if self.curr_msg_data_type == "text":
            try:
                text = data.decode()
            except UnicodeDecodeError:
                self._fail(1007, "not UTF-8")
                return
            self.queue.put_nowait({"type": "websocket.receive", "text": text})
        else:
            self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def handle_parser_exception(self) -> None:
        """Say why and go on reading for a while: closing with unread bytes would reset the connection, and the
        peer might never see the close frame."""
        self._deaf = True
        if self.conn.close_sent is None:  # not even the upgrade could be read
            self.transport.abort()
            return
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.transport.write_eof()
        self.close_timer = self.loop.call_later(LINGER, self.transport.abort)  # with it, `run_asgi` leaves it open

    def _fail(self, code: int, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def _abort_later(self) -> None:
        """`close` waits for its buffer to be read; a peer that doesn't would keep us for ever."""
        if self._linger is None and not self.disconnected:
            delay = LINGER + (self.close_timeout if self.close_timer is not None else 0.0)
            self._linger = self.loop.call_later(delay, self.transport.abort)
