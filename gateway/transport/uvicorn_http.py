"""uvicorn's HTTP protocol with the bounds it lacks: of a request's headers in time and size, and of an answer in time.

Without them one peer that sends a byte a minute, or headers without end, keeps a socket or our memory. Its own rules
are those of uvicorn.protocols.http.httptools_impl, 0.54.
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_TIMEOUT: Final = 10.0  # s from the connection, or the last answer, to the end of a request's headers
ANSWER_TIMEOUT: Final = 120.0  # s from there to the end of the answer: a page over the slowest line worth serving
HEADERS_SIZE: Final = 32 << 10  # bytes of a request's line and headers
HEADERS_COUNT: Final = 100
STREAMED: Final = b"/v1/sandboxes/"  # what begins like this may be long: bytes that come or go give it more time
PATIENT: Final = "hawse.patient"  # the ASGI extension by which an application asks for patience


class HttpProtocol(HttpToolsProtocol):
    """One accepted socket, up to an upgrade."""

    headers_timeout = HEADERS_TIMEOUT
    answer_timeout = ANSWER_TIMEOUT

    _deadline: asyncio.TimerHandle | None = None
    _in_headers = True
    _patient = False  # this answer may take as long as both sides want: see `_begin_patience`
    _fed = 0  # bytes received of the headers that are not complete yet
    _size = 0  # bytes of those headers that were parsed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            self.transport.abort()
        self._arm(self.headers_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._fed += len(data)
        super().data_received(data)
        if self._in_headers and self._fed > HEADERS_SIZE and not self.transport.is_closing():
            self.send_400_response("The headers are too large.")

    def handle_websocket_upgrade(self) -> None:
        self._disarm()
        super().handle_websocket_upgrade()

    # ---- the parser's callbacks: what they raise is answered with 400

    def on_message_begin(self) -> None:
        self._in_headers = True
        self._size = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._fed = 0
        self._arm(self.answer_timeout)
        self.scope["extensions"] = {PATIENT: {"begin": self._begin_patience}}
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._patient:
            self._arm(self.answer_timeout)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._patient:
            self._disarm()
        elif not self._in_headers and self.url.startswith(STREAMED):
            self._arm(self.answer_timeout)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if not (self._patient or self.cycle.response_complete) and self.url.startswith(STREAMED):
            self._arm(self.answer_timeout)

    def on_response_complete(self) -> None:
        self._patient = False
        self._fed = 0
        self._arm(self.headers_timeout, self._no_request)
        super().on_response_complete()

    def _begin_patience(self) -> None:
        """This answer has no end in time: a stream of events, say, that is silent for hours. Only a peer that has
        bytes to read and reads none is still given up."""
        self._patient = True
        self._disarm()

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > HEADERS_SIZE or len(self.headers) >= HEADERS_COUNT:
            raise ValueError("the headers are too large")

    def _no_request(self) -> None:
        """None came in time; but perhaps the end of the last answer is still being read, over a slow line."""
        if self.transport.get_write_buffer_size():
            self._arm(self.answer_timeout)
        else:
            self.transport.abort()

    def _arm(self, timeout: float, then: Callable[[], object] | None = None) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(timeout, then or self.transport.abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
