"""Handles a program's connection to the proxy: checks and forwards requests, and returns responses.

The proxy terminates TLS with a certificate from the sandbox's own authority. It can therefore check every request, and
only HTTP/1.1 and WebSockets leave the sandbox. Each request uses a separate connection to the server.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import h11

from hawse_gateway.egress.addresses import Address
from hawse_gateway.egress.certificates import Authority
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.proxy_process import websocket
from hawse_gateway.egress.proxy_process.http_connection import (
    FAILURES,
    IDLE_TIMEOUT,
    SWITCHING,
    ClosedError,
    HttpConnection,
)
from hawse_gateway.egress.proxy_process.masking import Mask
from hawse_gateway.egress.proxy_process.requests import (
    BAD_GATEWAY,
    STATUS,
    CheckedRequest,
    Origin,
    answer_headers,
    check_request,
    is_encoded,
    is_piece,
    tunnel_origin,
)
from hawse_gateway.egress.proxy_process.upstream import Upstream
from hawse_gateway.egress.proxy_process.websocket_frames import MaskedFrames
from hawse_gateway.egress.refusals import Refusals, RefusedError
from hawse_gateway.egress.rules import Rules
from hawse_gateway.egress.secrets import Injected, Injector

log = logging.getLogger(__name__)

HANDSHAKE_TIMEOUT: Final = 10.0  # timeout of TLS handshakes with programs, in seconds
CLOSE_TIMEOUT: Final = 5.0  # seconds to wait for a program to read the rest of a response


@dataclass(eq=False)
class Open:
    """A program's connection, with the state needed to check it against new terms.

    Attributes:
        task: The task that serves the connection.
        tunnel: The target of the connection's tunnel. None if it has no tunnel.
        request: The current request's origin, method and added secrets.
        addresses: The server's addresses.
    """

    task: asyncio.Task[None]
    tunnel: Origin | None = None
    request: tuple[Origin, str, tuple[bytes, ...]] | None = None
    addresses: list[Address] = field(default_factory=list)


class Relay:
    """Serves connections from one sandbox's programs."""

    def __init__(self, terms: Terms, authority: Authority, refusals: Refusals) -> None:
        """Create the relay. Raises `ValueError` for an invalid rule."""
        self._rules = Rules(terms.policy)
        self._injector = Injector(terms.secrets)
        self._upstream = Upstream(terms.networks, terms.addresses, terms.trusted)
        self._terms = terms
        self._authority = authority
        self._refusals = refusals
        self._open: set[Open] = set()

    def change(self, terms: Terms) -> int:
        """Replace the terms, and close the connections that the new terms don't allow. Return the number of closed
        connections.

        Raises:
            ValueError: A rule is invalid. The terms are unchanged.
        """
        rules, injector, upstream = Rules(terms.policy), Injector(terms.secrets), self._upstream
        if _reach(terms) != _reach(self._terms):
            upstream = Upstream(terms.networks, terms.addresses, terms.trusted)
            self._upstream.close()
        self._rules, self._injector, self._upstream, self._terms = rules, injector, upstream, terms
        refused = [each for each in self._open if not self._allows(each)]
        for each in refused:
            each.task.cancel()
        return len(refused)

    def _allows(self, connection: Open) -> bool:
        """Return whether the terms allow a connection."""
        if connection.tunnel is not None and self._rules.refuse_connection(*connection.tunnel[:2]) is not None:
            return False
        if not all(self._upstream.permits(address) for address in connection.addresses):
            return False
        if connection.request is None:
            return True
        origin, method, hidden = connection.request
        return self._rules.refuse_request(*origin[:2], method) is None and self._injector.has(hidden)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends. Raises only `CancelledError`."""
        task = asyncio.current_task()
        assert task is not None
        connection = Open(task)
        self._open.add(connection)
        self._refusals.counters.connections += 1
        try:
            await self._serve(HttpConnection(h11.SERVER, reader, writer), connection)
            writer.close()  # closes the connection after sending pending data
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await writer.wait_closed()
        except FAILURES:
            pass  # resets the connection, so that the program notices the incomplete response
        except Exception:
            log.exception("! a connection")
        finally:
            self._open.discard(connection)
            self._refusals.counters.connections -= 1
            writer.transport.abort()

    async def _serve(self, client: HttpConnection, connection: Open) -> None:
        while True:
            method, origin = "", connection.tunnel
            try:
                request = await client.request()
                method = request.method.decode("ascii")
                if method == "CONNECT" and connection.tunnel is None:
                    origin = tunnel_origin(request)
                    await self._tunnel(client, connection, origin)
                    return
                checked = check_request(request, connection.tunnel)
                origin, method = checked.origin, checked.method
                if (reason := self._rules.refuse_request(*origin[:2], method)) is not None:
                    raise RefusedError(reason, f"{method} {origin.host}:{origin.port} is not allowed")
                await self._forward(client, connection, checked)
            except RefusedError as refused:
                host, port = ("", 0) if origin is None else origin[:2]
                self._refusals.add(refused.reason, host, port, method)
                await client.refuse(
                    STATUS.get(refused.reason, BAD_GATEWAY), "egress_denied", refused.reason, refused.message
                )
                return
            if not client.reusable():
                return

    async def _tunnel(self, client: HttpConnection, connection: Open, origin: Origin) -> None:
        """Accept a tunnel and act as its target server. Raises `RefusedError`."""
        connection.tunnel = origin  # checked again whenever the rules change
        if (reason := self._rules.refuse_connection(*origin[:2])) is not None:
            raise RefusedError(reason, f"{origin.host}:{origin.port} is not allowed")
        connection.addresses = await self._upstream.resolve(origin.host)
        if client.early:
            raise RefusedError("protocol", "the program sent data before the tunnel was open")
        client.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await client.writer.drain()
        context = self._authority.context(origin.host)
        try:
            await client.writer.start_tls(context, ssl_handshake_timeout=HANDSHAKE_TIMEOUT)
        except OSError as error:  # includes ssl.SSLError
            other_name = isinstance(error, ssl.SSLError) and error.reason == "CALLBACK_FAILED"
            self._refusals.add("mismatch" if other_name else "protocol", *origin[:2], "CONNECT")
            raise ClosedError from None
        await self._serve(HttpConnection(h11.SERVER, client.reader, client.writer), connection)

    async def _forward(self, client: HttpConnection, connection: Open, checked: CheckedRequest) -> None:
        """Forward a request and its response. Raises `RefusedError`, or one of `FAILURES` to end the connection."""
        origin, sent = checked.origin, Injected(checked.target, checked.headers)
        if origin.tls:
            sent = self._injector.inject(*origin[:2], checked.method, checked.target, checked.headers)
        connection.request = (origin, checked.method, sent.hidden)
        if connection.tunnel is None:
            connection.addresses = await self._upstream.resolve(origin.host)
        try:
            streams = await self._upstream.connect(origin.host, connection.addresses, origin.port, tls=origin.tls)
        except OSError as error:
            await client.refuse(BAD_GATEWAY, "unavailable", "connect", f"{origin.host}:{origin.port}: {error}")
            raise ClosedError from None
        self._refusals.passed(*origin[:2], checked.method)
        server, failure = HttpConnection(h11.CLIENT, *streams), None
        async with _closing(server), asyncio.TaskGroup() as tasks:
            body = tasks.create_task(self._send_request(client, server, checked, sent))
            try:
                await self._answer(client, server, checked, sent.hidden)
            except (RefusedError, *FAILURES) as error:
                failure = error  # raised below, because the task group would wrap the error
            finally:
                body.cancel()  # a server may respond before it has received the whole request
        connection.request = None
        if failure is not None:
            raise failure

    async def _send_request(
        self, client: HttpConnection, server: HttpConnection, checked: CheckedRequest, sent: Injected
    ) -> None:
        method = checked.method if checked.websocket is None else "GET"
        try:
            await server.send(h11.Request(method=method, target=sent.target, headers=sent.headers))
            while True:
                try:
                    event = await client.receive(IDLE_TIMEOUT)
                except FAILURES:
                    event = h11.ConnectionClosed()
                if isinstance(event, h11.Data):
                    self._refusals.counters.sent += len(event.data)
                    await server.send(h11.Data(data=bytes(event.data)))
                elif isinstance(event, h11.EndOfMessage):
                    await server.send(h11.EndOfMessage())
                    return
                else:  # the program has disconnected
                    server.writer.transport.abort()
                    return
        except FAILURES:
            pass  # the server stopped reading, but may have responded

    async def _answer(
        self, client: HttpConnection, server: HttpConnection, checked: CheckedRequest, hidden: tuple[bytes, ...]
    ) -> None:
        mask = Mask(hidden)
        try:
            response = await server.response()
        except FAILURES:  # not passed on, because the error's text can quote data from the server, including a secret
            await client.refuse(BAD_GATEWAY, "unavailable", "answer", "the server's answer is not HTTP/1.1")
            raise ClosedError from None
        if isinstance(response, h11.InformationalResponse):
            await self._websocket(client, server, response, checked, hidden)
            return
        headers = answer_headers(response)
        if hidden:
            # The original headers are checked, because `Connection` can name content-encoding, which is then not
            # forwarded.
            if is_encoded([(bytes(name), bytes(value)) for name, value in response.headers]):
                raise RefusedError("encoding", "the answer to a request with a secret is compressed")
            if is_piece(response):
                raise RefusedError("encoding", "the answer to a request with a secret is only a part of a resource")
            headers = [(mask.hide(name), mask.hide(value)) for name, value in headers]
        await client.send(
            h11.Response(status_code=response.status_code, headers=headers, reason=mask.hide(response.reason))
        )
        while True:
            event = await server.receive(IDLE_TIMEOUT)
            if isinstance(event, h11.Data):
                self._refusals.counters.received += len(event.data)
                if data := mask.feed(bytes(event.data)):
                    await client.send(h11.Data(data=data))
            elif isinstance(event, h11.EndOfMessage):
                if data := mask.end():
                    await client.send(h11.Data(data=data))
                await client.send(h11.EndOfMessage())
                return
            else:
                raise ClosedError  # ends the connection, so that the program notices the incomplete response

    async def _websocket(
        self,
        client: HttpConnection,
        server: HttpConnection,
        response: h11.InformationalResponse,
        checked: CheckedRequest,
        hidden: tuple[bytes, ...],
    ) -> None:
        """Complete a WebSocket handshake, and relay bytes until one side closes. Raises `RefusedError`."""
        fields = [(bytes(name), bytes(value)) for name, value in response.headers]
        if checked.websocket is None or not websocket.accepts(fields, checked.websocket):
            raise RefusedError("upgrade", "the server did not accept the WebSocket handshake")
        if hidden and is_encoded(fields):
            raise RefusedError("encoding", "the messages of a WebSocket that received a secret are compressed")
        mask = Mask(hidden)
        kept = [(mask.hide(name), mask.hide(value)) for name, value in answer_headers(response)]
        await client.send(h11.InformationalResponse(status_code=SWITCHING, headers=[*websocket.UPGRADE, *kept]))
        transform = MaskedFrames(hidden).feed if hidden else bytes
        await websocket.pass_on(client, server, transform, self._refusals.counters)
        raise ClosedError  # ends the program's connection


def _reach(terms: Terms) -> tuple[object, ...]:
    """Return only those fields of the terms that affect which addresses are reachable."""
    return (terms.networks, terms.addresses, terms.trusted)


@asynccontextmanager
async def _closing(connection: HttpConnection) -> AsyncIterator[None]:
    try:
        yield
    finally:
        connection.writer.transport.abort()
