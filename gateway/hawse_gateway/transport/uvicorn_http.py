"""uvicorn's HTTP protocol, with limits on the size of headers and on how long headers and responses can take.

Without these limits, a client without a token could keep a socket open by sending one byte per minute, or fill up
memory with headers or pipelined requests. Everything else works as in uvicorn.protocols.http.httptools_impl, version
0.54.
"""

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from typing import Final, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

# Maximum seconds from the connection's start, or from the previous response, until a request's headers are complete.
HEADERS_TIMEOUT: Final = 10.0
# Maximum seconds from the end of a request's headers to the end of the response, even on a slow line.
ANSWER_TIMEOUT: Final = 120.0
HEADERS_SIZE: Final = 32 << 10  # maximum size of the request line and headers, in bytes
HEADERS_COUNT: Final = 100
PIPELINE: Final = 8  # maximum number of pipelined requests that wait for an earlier response
# Maximum bytes to read from oversized headers. Browsers only show the error response once they have sent the headers.
DISCARDED: Final = 1 << 20
TOO_LARGE: Final = (
    b"The headers of this request are too large or too many. In a browser, the reason is cookies, which another "
    b"program at this host may have set. Load the page again; if that does not help, delete this host's cookies in the "
    b"browser."
)
STREAMED: Final = b"/v1/sandboxes/"  # for requests to these paths, transferred bytes extend the time limit
UNLIMITED_DURATION: Final = "hawse.unlimited_duration"  # the ASGI extension that removes ANSWER_TIMEOUT

EMPTY_QUERY: Final = "hawse.empty_query"  # the ASGI extension that marks a target ending with `?`

# Connections that are waiting for a request, keyed by server, oldest first.
_idle: WeakKeyDictionary[ServerState, dict["HttpProtocol", None]] = WeakKeyDictionary()


class HttpProtocol(HttpToolsProtocol):
    """The protocol for an accepted socket, until it is upgraded."""

    headers_timeout = HEADERS_TIMEOUT
    answer_timeout = ANSWER_TIMEOUT

    _unanswered: Sequence[RequestResponseCycle] = ()  # requests without a complete response, at most PIPELINE + 2
    _deadline: asyncio.TimerHandle | None = None
    _in_headers = True
    _unlimited = False  # whether the response has no time limit
    _fed = 0  # bytes of the current headers received so far
    _size = 0  # bytes of the current headers parsed so far
    _too_large = False  # whether the headers exceed a limit

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._make_room()
        self._set_idle(True)
        self._arm(self.headers_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_idle(False)
        self._disarm()
        self._mark_disconnected()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._fed += len(data)
        if self._too_large:
            if self._fed > DISCARDED:
                self._abort()
            return
        super().data_received(data)
        if self._in_headers and self._fed > HEADERS_SIZE and not self.transport.is_closing():
            self._too_large = True
            self.send_400_response("")

    def eof_received(self) -> None:
        """Close the transport when the client closes its sending side."""
        self._mark_disconnected()
        super().eof_received()

    def handle_websocket_upgrade(self) -> None:
        self._set_idle(False)
        self._disarm()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, or close the connection if an earlier response is incomplete."""
        cycle = cast(RequestResponseCycle | None, self.cycle)
        if self.pipeline or (cycle is not None and cycle.response_started and not cycle.response_complete):
            self._abort()
        elif self._too_large:
            self._refuse_headers()
        else:
            super().send_400_response(msg)
            self._mark_disconnected()

    def _refuse_headers(self) -> None:
        """Refuse oversized headers (RFC 6585, section 5). If the host is an IP address, also tell the browser to delete
        its cookies.

        A program on another port of the host can set so many cookies that all later requests would be refused. For host
        names, the browser is not told to delete cookies. It would delete the cookies of the whole domain, which other
        sites may be using.
        """
        lines = [b"HTTP/1.1 431 Request Header Fields Too Large", b"content-type: text/plain; charset=utf-8"]
        if any(name == b"host" and _is_local_or_address(value.decode("latin-1")) for name, value in self.headers):
            lines.append(b'clear-site-data: "cookies"')
        lines += [b"content-length: %d" % len(TOO_LARGE), b"connection: close", b"", TOO_LARGE]
        self.transport.write(b"\r\n".join(lines))
        self._mark_disconnected()
        self._arm(self.headers_timeout)  # waits until the client has read the response and closes the connection

    # ---- parser callbacks: if one raises, the response has status 400

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= PIPELINE:
            raise ValueError(f"more than {PIPELINE} pipelined requests")
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
        if self.parser.should_upgrade() and self._should_upgrade() and self._has_body():
            # Without this check, uvicorn would never send a response.
            raise ValueError("a WebSocket handshake has a body")
        if sum(name == b"host" for name, _ in self.headers) > 1:
            # A proxy may have checked the other host (RFC 9112, section 3.2).
            raise ValueError("a request has more than one host")
        self._in_headers = False
        self._fed = 0
        self._set_idle(False)
        self._arm(self.answer_timeout)
        self.scope["extensions"] = {UNLIMITED_DURATION: {"begin": self._allow_unlimited_duration}}
        if self.url.endswith(b"?"):  # with an empty query, `query_string` doesn't show the `?`
            self.scope["extensions"][EMPTY_QUERY] = {}
        super().on_headers_complete()
        unanswered = [cycle for cycle in self._unanswered if not cycle.response_complete]
        self._unanswered = [*unanswered, self.cycle]

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unlimited:
            self._arm(self.answer_timeout)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unlimited:
            self._disarm()
        elif not self._in_headers and self.url.startswith(STREAMED):
            self._arm(self.answer_timeout)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if not (self._unlimited or self.cycle.response_complete) and self.url.startswith(STREAMED):
            self._arm(self.answer_timeout)

    def on_response_complete(self) -> None:
        self._unlimited = False
        self._fed = 0
        self._set_idle(True)
        self._arm(self.headers_timeout, self._no_request)
        super().on_response_complete()

    def _allow_unlimited_duration(self) -> None:
        """Remove the time limit from the current response, for example for an event stream that can be silent for
        hours.

        A client that stops reading the response is still disconnected.
        """
        self._unlimited = True
        self._disarm()

    def _has_body(self) -> bool:
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 "))
            for name, value in self.headers
        )

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > HEADERS_SIZE or len(self.headers) >= HEADERS_COUNT:
            self._too_large = True
            raise ValueError("the headers are too large")

    def _make_room(self) -> None:
        """If the connection limit is reached, close the connection that has waited longest for a request.

        Otherwise, silent connections, which need no token, could block all other clients until they time out.
        """
        # uvicorn responds with 503 once the limit is reached, so the count must stay below it.
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            oldest = next(iter(_idle.get(self.server_state, ())), self)
            oldest._set_idle(False)
            self.connections.discard(oldest)
            oldest._abort()

    def _set_idle(self, idle: bool) -> None:
        waiting = _idle.setdefault(self.server_state, {})
        waiting.pop(self, None)
        if idle and not self.transport.is_closing():
            waiting[self] = None

    def _no_request(self) -> None:
        """Close the connection, unless a slow client is still reading the last response."""
        if self.transport.get_write_buffer_size():
            self._arm(self.answer_timeout)
        else:
            self._abort()

    def _abort(self) -> None:
        self._mark_disconnected()
        self.transport.abort()

    def _mark_disconnected(self) -> None:
        """End all responses immediately, because uvloop raises on a closed transport but calls `connection_lost` only
        later.

        uvicorn itself only ends the response to the newest pipelined request.
        """
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        self._unanswered = ()

    def _arm(self, timeout: float, then: Callable[[], object] | None = None) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(timeout, then or self._abort)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _is_local_or_address(host: str) -> bool:
    """Return whether a `Host` header value is `localhost` or an IP address, with or without a port."""
    name = host if host.endswith("]") else host.removesuffix(f":{host.rpartition(':')[2]}")
    try:
        return name.lower() == "localhost" or bool(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return False
