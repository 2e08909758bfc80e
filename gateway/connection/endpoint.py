"""`GET /v1/connect`: authenticate WebSocket clients and serve them (docs/wire.md section 1)."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from gateway.auth.access_policy import AccessPolicy
from gateway.auth.principals import VIEWER
from gateway.auth.tickets import Tickets
from gateway.connection.client_connection import (
    ClientConnection,
    ConnectionClose,
    ConnectionStats,
    MessageTransport,
)
from gateway.http.responses import error_response
from gateway.transport.uvicorn_websocket import SOCKET
from gateway.upstream.links import Links
from hawse.wire import HawseError, Limits, Principal
from hawse.wire.limits import SUBPROTOCOL

log = logging.getLogger(__name__)


class ConnectEndpoint:
    """The ASGI application of the route. It knows all connected clients."""

    def __init__(
        self,
        access_policy: AccessPolicy,
        tickets: Tickets,
        limits: Limits,
        max_connections: int,
    ) -> None:
        self.links: Links | None = None  # set while the application runs
        self._access_policy = access_policy
        self.tickets = tickets
        self._limits = limits
        self._max_connections = max_connections
        self.open: set[ClientConnection] = set()  # those that were authenticated
        self._client_closed = asyncio.Event()  # set whenever a client is removed from `open`
        self.accepted = 0  # clients since the start
        self._disconnected = ConnectionStats()  # of those that have disconnected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        denied: HawseError | None = None
        try:
            if SUBPROTOCOL not in scope["subprotocols"]:
                raise HawseError("protocol_error", f"the client must offer the subprotocol {SUBPROTOCOL}")
            self._access_policy.check_origin(scope["headers"], scope["scheme"])
        except HawseError as error:
            denied = error
        await receive()  # websocket.connect
        if denied is not None:
            peer = _peer(scope)
            log.info("< %s refused: %s", peer, denied.code, extra={"peer": peer, "code": denied.code})
            await error_response(denied)(scope, receive, send)
            return
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL, "headers": []})
        try:
            await self._serve(scope, scope["extensions"][SOCKET])
        except OSError:
            pass  # the client disconnected during the handshake

    def go_away(self, reason: str, retry_after: float) -> None:
        """Ask all clients to reconnect after `retry_after` seconds, and close their connections."""
        for client in list(self.open):
            client.go_away(reason, retry_after)

    @property
    def client_count(self) -> int:
        return len(self.open)

    async def wait_closed(self, remaining: int = 0) -> None:
        """Wait until at most `remaining` clients are connected."""
        while len(self.open) > remaining:
            self._client_closed.clear()
            await self._client_closed.wait()

    @property
    def counts(self) -> ConnectionStats:
        """The sums over all clients since the start."""
        return _sum([self._disconnected, *(client.counts for client in self.open)])

    async def _serve(self, scope: Scope, transport: MessageTransport) -> None:
        name = _peer(scope)
        assert self.links is not None, "the application's lifespan has not begun"
        principal = self._principal(scope)
        client = ClientConnection(transport, self.links, self._limits, name, principal or VIEWER)
        refused = self._refusal(principal)
        if refused is not None:
            log.info("< %s refused: %s", name, refused.reason, extra={"peer": name, "code": refused.reason})
            await client.send_final_messages(refused)
            return
        self.open.add(client)
        self.accepted += 1
        known = {"peer": name, "role": client.role}
        log.info("< %s connected as %s, %d now", name, client.role, len(self.open), extra=known)
        try:
            closing = await client.run()
            code = closing.code or ""
            log.info("= %s closed: %s %s", name, code, closing.reason, extra={**known, "code": closing.reason})
        finally:
            self.open.discard(client)
            self._client_closed.set()
            self._disconnected = _sum([self._disconnected, client.counts])

    def _principal(self, scope: Scope) -> Principal | None:
        """Return the principal of the token or ticket; None without a valid one."""
        tickets = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
        return self._access_policy.principal(scope["headers"]) or (self.tickets.take(tickets[0]) if tickets else None)

    def _refusal(self, principal: Principal | None) -> ConnectionClose | None:
        """Why a client is refused. This is sent after the upgrade: browsers do not show the status of a refused one."""
        if principal is None:
            error = HawseError("unauthenticated", "the token or ticket is missing or not valid")
            return ConnectionClose(4401, "unauthenticated", error)
        if len(self.open) >= self._max_connections:
            return ConnectionClose(
                4429,
                "limit_exceeded",
                HawseError("limit_exceeded", f"{self._max_connections} clients are connected already"),
            )
        return None


def _sum(counts: Iterable[ConnectionStats]) -> ConnectionStats:
    return ConnectionStats(*map(sum, zip(*counts, strict=True)))


def _peer(scope: Scope) -> str:
    client: Any = scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "?"
