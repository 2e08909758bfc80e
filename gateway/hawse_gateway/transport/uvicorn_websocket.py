"""uvicorn's WebSocket protocol, with small buffers and with limits for peers that don't read or close.

uvicorn waits until the transport is writable before sending each message. All backpressure relies on this wait.
Everything else works as in uvicorn.protocols.websockets.websockets_sansio_impl, version 0.54.

The scope contains a `MessageSocket`, which an application can use to exchange messages without ASGI's tasks and queues
(docs/decisions/0040) and without the websockets library's parser (docs/decisions/0262).
"""

import asyncio
import fcntl
import struct
import sys
import termios
from typing import Any, Final

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from hawse_gateway.transport.message_socket import MessageSocket, Receiver
from hawse_gateway.transport.uvicorn_http import EMPTY_QUERY

WRITE_BUFFER: Final = 128 << 10  # transport buffer size in bytes; small, because all channels wait for buffered data
PONG_BUFFER: Final = 256 << 10  # maximum bytes buffered for a peer that sends pings without reading the pongs
FRAGMENTS: Final = 1024  # maximum fragments per message; empty fragments don't count toward `ws_max_size`
LINGER: Final = 5.0  # seconds to wait for a peer to read the remaining data and close its side
SILENT_PINGS: Final = 3  # number of ping timeouts in a row without data from the peer: 60 s, with pings every 20 s
SOCKET: Final = "hawse.socket"  # the extension's name in the scope


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The protocol for an accepted socket after the upgrade, and the `FrameParser` for its `MessageSocket`."""

    linger = LINGER
    silent_pings = SILENT_PINGS
    messages: MessageSocket

    _ignoring_input = False  # set after an error, while the peer still has time to read the close frame
    _linger: asyncio.TimerHandle | None = None
    _receiver: Receiver | None = None
    _last_progress: tuple[int, int] = (0, 0)  # number of bytes received and acknowledged as of the last keepalive check
    _silent = 0  # number of ping timeouts since data was last received

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.messages = MessageSocket(self.transport, self, self.config.ws_max_size)
        self.transport.set_write_buffer_limits(high=WRITE_BUFFER)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)
        self._notify_lost()

    def data_received(self, data: bytes) -> None:
        self.messages.received += len(data)
        if self.handshake_initiated:
            self.messages.aligned = False
        self.take(data)

    async def send(self, message: Any) -> None:
        await self.writable.wait()
        if self.close_sent and message["type"] == "websocket.send":
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True  # keeps uvicorn from logging the refusal as an error

    # ---- without ASGI

    def take(self, data: bytes) -> None:
        if not self._ignoring_input:
            super().data_received(data)

    @property
    def over(self) -> bool:
        return self._ignoring_input or self.close_sent or self.disconnected or self.transport.is_closing()

    def refuse_text(self) -> None:
        self._fail(1007, "not valid UTF-8")

    def attach(self, receiver: Receiver | None) -> None:
        """Pass queued and future messages to `receiver`. If None, queue future messages."""
        self._receiver = receiver
        if receiver is not None:
            self.resume_reading()  # called before the first message, because the receiver may pause reading again
        while receiver is not None and not self.queue.empty():
            message = self.queue.get_nowait()
            if message["type"] == "websocket.receive":
                data = message.get("bytes")
                receiver.receive(message["text"] if data is None else data)  # type: ignore[arg-type]
            else:
                receiver.lost()

    def pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        if self.read_paused and not self.disconnected:
            self.read_paused = False
            self.transport.resume_reading()

    async def close(self, code: int, reason: str) -> None:
        await self.send({"type": "websocket.close", "code": code, "reason": reason})

    async def drain(self) -> None:
        await self.writable.wait()
        if self.over:
            raise ClientDisconnected

    def pause_writing(self) -> None:
        super().pause_writing()
        self.messages.full = True

    def resume_writing(self) -> None:
        super().resume_writing()
        self.messages.full = False
        if self._receiver is not None:
            self._receiver.resume_writing()

    def _notify_lost(self) -> None:
        if self._receiver is not None:
            self._receiver.lost()

    # ---- uvicorn's methods, with limits added

    async def run_asgi(self) -> None:
        self.scope["extensions"][SOCKET] = self.messages  # type: ignore[assignment]
        if self.request.path.endswith("?"):  # with an empty query, `query_string` doesn't show the `?`
            self.scope["extensions"][EMPTY_QUERY] = {}
        await super().run_asgi()
        self._abort_later()

    def send_keepalive_ping(self) -> None:
        self._last_progress = self._progress()
        self._silent = 0  # the peer has answered the previous ping
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        """Close the connection if the peer hasn't sent or acknowledged data since the last ping.

        On a slow line, a ping or pong can be queued behind data for longer than the timeout. Acknowledged data
        therefore keeps the connection open, but only for a limited time, because a proxy may acknowledge data after its
        client has disappeared.
        """
        before, self._last_progress = self._last_progress, self._progress()
        heard = self._last_progress[0] != before[0] or self.read_paused
        self._silent = 0 if heard else self._silent + 1
        progress = heard or self._last_progress != before
        if progress and self._silent < self.silent_pings and not self.over:
            assert self.ping_timeout is not None
            self.pong_timer = self.loop.call_later(self.ping_timeout, self.keepalive_timeout)
            return
        super().keepalive_timeout()
        self._abort_later()

    def _progress(self) -> tuple[int, int]:
        """Return how many bytes were received from the peer, and how many message bytes the peer's kernel has
        acknowledged."""
        queued = struct.pack("i", 0)
        if not self.transport.is_closing():
            # SIOCOUTQ (tcp(7)): number of bytes not yet acknowledged by the peer.
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, queued)
        waiting = self.transport.get_write_buffer_size() + int.from_bytes(queued, sys.byteorder)
        return self.messages.received, self.messages.written - waiting

    def handle_ping(self) -> None:
        super().handle_ping()
        if self.transport.get_write_buffer_size() > PONG_BUFFER:
            self.transport.abort()

    def handle_close(self, event: Frame) -> None:
        super().handle_close(event)
        self._notify_lost()

    def shutdown(self) -> None:
        super().shutdown()
        self._notify_lost()

    def handle_cont(self, event: Frame) -> None:
        if self._ignoring_input:
            return
        if len(self.frames) >= FRAGMENTS:
            self._fail(1009, "too many fragments")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Handle an invalid message in the same way as uvicorn, but without logging a traceback."""
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        self.messages.bytes_in += len(data)
        if self.close_sent:
            return
        message: str | bytes = data
        if self.curr_msg_data_type == "text":
            try:
                message = data.decode()
            except UnicodeDecodeError:
                self.refuse_text()
                return
        if self._receiver is not None:
            self._receiver.receive(message)
            return
        kind = "text" if isinstance(message, str) else "bytes"
        self.queue.put_nowait({"type": "websocket.receive", kind: message})  # type: ignore[arg-type]
        self.pause_reading()

    def handle_parser_exception(self) -> None:
        """Send the close frame, and keep reading for a limited time.

        Closing a socket that has unread bytes would reset the connection, and the peer might never receive the close
        frame.
        """
        self._ignoring_input = True
        if self.conn.close_sent is None:  # the upgrade request itself was invalid
            self.transport.abort()
            return
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self._notify_lost()
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        if self.transport.can_write_eof():  # half-closing is not supported with TLS
            self.transport.write_eof()
        # As long as this timer is set, `run_asgi` doesn't close the transport.
        self.close_timer = self.loop.call_later(self.linger, self.transport.abort)

    def _fail(self, code: int, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def _abort_later(self) -> None:
        """Abort after a delay, because `close` can wait forever for the peer to read the buffered data."""
        if self._linger is None and not self.disconnected:
            delay = self.linger + (self.close_timeout if self.close_timer is not None else 0.0)
            self._linger = self.loop.call_later(delay, self.transport.abort)
