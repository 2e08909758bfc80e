"""The proxy's side of an HTTP/1.1 connection with a program or a server."""

import asyncio
from typing import Final

import h11

from hawse_gateway.egress.proxy_process.requests import error_body
from hawse_gateway.egress.refusals import RefusedError
from hawse_gateway.egress.secrets import Headers

HEADERS_MAX: Final = 64 << 10  # maximum size of a request's or response's headers, in bytes
CHUNK: Final = 64 << 10  # bytes per read
HEADERS_TIMEOUT: Final = 60.0  # seconds to wait for a request from a program
IDLE_TIMEOUT: Final = 300.0  # seconds to wait for data from the server, or for the program to read data
# Seconds to read the rest of a refused request. Without this, a reset could discard the response.
LINGER: Final = 2.0
SWITCHING: Final = 101  # Switching Protocols
LINGER_MAX: Final = 1 << 20  # maximum number of bytes to read from a refused request


class ClosedError(Exception):
    """The connection has ended."""


Role = type[h11.CLIENT] | type[h11.SERVER]
FAILURES: Final = (ClosedError, OSError, TimeoutError, h11.ProtocolError)


class HttpConnection:
    """HTTP/1.1 on a stream, as a server or a client."""

    def __init__(self, role: Role, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Start HTTP on a stream. `role` is h11.SERVER for a connection from a program, and h11.CLIENT for a connection
        to a server."""
        self.reader = reader
        self.writer = writer
        self._http = h11.Connection(role, max_incomplete_event_size=HEADERS_MAX)
        self._head = False  # whether the response must have no content, as for HEAD

    @property
    def trailing(self) -> bytes:
        """Data received after HTTP has ended on this connection."""
        return bytes(self._http.trailing_data[0])

    @property
    def early(self) -> bool:
        """Whether the program sent data before its tunnel was opened."""
        return bool(self.trailing)

    async def request(self) -> h11.Request:
        """Wait for the next request. Raises `ClosedError`, `RefusedError`, `TimeoutError`."""
        try:
            event = await self.receive(HEADERS_TIMEOUT)
        except h11.RemoteProtocolError as error:
            raise RefusedError("protocol", f"not an HTTP/1.1 request: {error}") from None
        if isinstance(event, h11.Request):
            self._head = event.method == b"HEAD"
            return event
        raise ClosedError

    async def response(self) -> h11.Response | h11.InformationalResponse:
        """Wait for a response. 1xx responses are dropped, except 101, which ends HTTP."""
        while True:
            event = await self.receive(IDLE_TIMEOUT)
            if isinstance(event, h11.Response) or (
                isinstance(event, h11.InformationalResponse) and event.status_code == SWITCHING
            ):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise ClosedError

    async def receive(self, timeout: float) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Wait for the next event, for at most `timeout` seconds per read."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            async with asyncio.timeout(timeout):
                self._http.receive_data(await self.reader.read(CHUNK))
        return event

    async def send(self, event: h11.Event) -> None:
        """Send an event, and wait until the write buffer has drained. Raises `OSError`, `TimeoutError`."""
        data = self._http.send(event)
        if data:
            self.writer.write(data)
            async with asyncio.timeout(IDLE_TIMEOUT):
                await self.writer.drain()

    async def refuse(self, status: int, code: str, reason: str, message: str) -> None:
        """Send an error response. The caller then ends the connection. Raises `ClosedError` if a response has already
        started."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            raise ClosedError
        body = error_body(code, reason, message)
        headers: Headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [(b"x-hawse-egress", reason.encode()), (b"connection", b"close")]
        await self.send(h11.Response(status_code=status, headers=headers))
        if not self._head:
            await self.send(h11.Data(data=body))
        await self.send(h11.EndOfMessage())
        left = LINGER_MAX
        try:
            async with asyncio.timeout(LINGER):
                while left > 0 and (data := await self.reader.read(CHUNK)):
                    left -= len(data)
        except (OSError, TimeoutError):
            pass

    def reusable(self) -> bool:
        """Prepare for the next request. Return False if the connection cannot be reused."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False
