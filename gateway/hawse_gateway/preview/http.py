"""Forwards an HTTP request to a previewed program and streams the response, in both directions at once.

Each request uses HTTP/1.1 (h11) over its own tunnel, which ends with the request. Connecting takes only one message in
each direction. Bodies are never buffered as a whole; the faster side waits for the slower one.
"""

import asyncio
import logging
import re
from typing import Any, Final

import h11
from starlette.types import Receive, Scope, Send

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.preview.addresses import PreviewTarget
from hawse_gateway.preview.headers import STATUS_MAX, Pairs, PublicAddress, request_headers, response_headers
from hawse_gateway.upstream.port_connection import PortTunnel

log = logging.getLogger(__name__)

HEADERS_SIZE: Final = 64 << 10  # maximum size of response headers, in bytes
# Seconds to wait for a program to read data from the browser. Browsers' own timeouts are similar.
STALL_TIME: Final = 120.0
INFORMATIONAL: Final = 16  # maximum number of 1xx responses before the final response
EVENTS_PER_TURN: Final = 64  # number of response parts handled before yielding to other connections
BODILESS: Final = (204, 304)
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # matches control characters; h11 accepts some of them


class BrowserClosedError(Exception):
    """The browser has closed its connection."""


async def forward(
    scope: Scope,
    receive: Receive,
    send: Send,
    tunnel: PortTunnel,
    target: PreviewTarget,
    public: PublicAddress,
    access_policy: AccessPolicy,
) -> None:
    """Forward one request. If the program aborts its response, the response to the browser is also aborted.

    Raises:
        HawseError: The request cannot be forwarded, or the program sent no valid response.
    """
    exchange = HttpExchange(tunnel)
    try:
        request = h11.Request(
            method=scope["method"], target=target.path, headers=_headers(scope, target, public, access_policy)
        )
    except h11.LocalProtocolError as error:
        raise HawseError("invalid_params", f"this request cannot be forwarded: {error}") from None
    trouble: HawseError | None = None
    try:
        async with asyncio.TaskGroup() as tasks:
            await exchange.send(request)
            upload = tasks.create_task(_upload(receive, exchange), name="preview upload")
            await download(send, exchange, target, public)
            upload.cancel()
    except* BrowserClosedError:
        pass
    except* (HawseError, h11.RemoteProtocolError) as errors:
        trouble = _typed(_first(errors))
    if trouble is not None:  # not raised in `except*`, where Python 3.11.2 (Debian 12) would wrap it in a group
        if not exchange.answered:
            raise trouble
        log.info("! a preview's response broke off: %s", trouble)


class HttpExchange:
    """One request and its response. `send` and `receive` must each be called from only one task."""

    def __init__(self, tunnel: PortTunnel) -> None:
        self.answered = False  # whether the response headers have been sent to the browser
        self._tunnel = tunnel
        self._events = 0  # number of events received; other tasks run after every few events
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS_SIZE)

    async def send(self, event: Any) -> None:
        await self._tunnel.write(self._http.send(event) or b"")

    async def keep_pace(self) -> None:
        """Wait until the visitor's byte rate allows more data."""
        await self._tunnel.keep_pace()

    async def receive(self) -> Any:
        """Return the next event in the response.

        Raises:
            h11.RemoteProtocolError: The response is missing or is not valid HTTP.
            HawseError: The tunnel is broken.
        """
        self._events += 1
        if self._events % EVENTS_PER_TURN == 0:
            await asyncio.sleep(0)  # lets other tasks run, because thousands of events can be available at once
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._tunnel.read()
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise h11.RemoteProtocolError("the program closed the connection without a response")
            self._http.receive_data(data)
        return event


def _headers(scope: Scope, target: PreviewTarget, public: PublicAddress, access_policy: AccessPolicy) -> Pairs:
    headers = request_headers(scope["headers"], target, public, access_policy)
    if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
        headers.append((b"transfer-encoding", b"chunked"))
    headers.append((b"connection", b"close"))
    return headers


async def _upload(receive: Receive, exchange: HttpExchange) -> None:
    """Forward the body, and then wait for the browser to disconnect. Raises `BrowserClosedError` when it does."""
    more = True
    while True:
        await exchange.keep_pace()
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BrowserClosedError
        if not more:
            continue
        more = message.get("more_body", False)
        try:
            async with asyncio.timeout(STALL_TIME):
                if message.get("body"):
                    await exchange.send(h11.Data(data=message["body"]))
                if not more:
                    await exchange.send(h11.EndOfMessage())
        except TimeoutError:  # without this limit, a browser that disconnects during the wait wouldn't be noticed
            raise HawseError(
                "interrupted", f"the program read nothing for {STALL_TIME:g} s", admitted="unknown"
            ) from None
        except (HawseError, h11.LocalProtocolError):
            more = False  # the program has stopped reading, and its response may explain the reason


async def download(send: Send, exchange: HttpExchange, target: PreviewTarget, public: PublicAddress) -> None:
    for _ in range(INFORMATIONAL + 1):
        if isinstance(event := await exchange.receive(), h11.Response):
            break  # 1xx responses before this one are not forwarded
    else:
        raise h11.RemoteProtocolError(f"more than {INFORMATIONAL} 1xx responses")
    headers = response_headers(event.headers.raw_items(), target, public)
    if event.status_code in BODILESS:
        headers = [(name, value) for name, value in headers if name != b"content-length"]
    if event.status_code > STATUS_MAX or any(_CONTROL.search(value) for _, value in headers):
        raise h11.RemoteProtocolError("a status or a header that cannot be forwarded")
    exchange.answered = True
    await send({"type": "http.response.start", "status": event.status_code, "headers": headers})
    while isinstance(event := await exchange.receive(), h11.Data):
        await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _typed(error: BaseException) -> HawseError:
    if isinstance(error, HawseError):
        return error
    return HawseError("interrupted", f"the program's response is not valid HTTP: {error}", admitted="unknown")
