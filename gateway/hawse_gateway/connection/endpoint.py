"""`GET /v1/connect`: authenticates and serves WebSocket clients (docs/wire.md section 1)."""

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import Final, Protocol

from starlette.types import Receive, Scope, Send

from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Limits, Principal
from hawse.wire.limits import SUBPROTOCOL
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.open_connections import OpenConnections, ended
from hawse_gateway.connection.backlog import BacklogBudget
from hawse_gateway.connection.client_connection import (
    ClientConnection,
    ConnectionClose,
    ConnectionStats,
    MessageTransport,
)
from hawse_gateway.core.context import CallContext, current
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.responses import error_response
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.transport.uvicorn_websocket import SOCKET
from hawse_gateway.upstream.links import Links

log = logging.getLogger(__name__)

STRANGER: Final = Principal(id="stranger", name="", kind="guest", rights=())  # the principal of refused clients


class ConnectionAudit(Protocol):
    """The subset of the audit log's interface needed to record clients."""

    def connection(self, action: str, principal: Principal, address: str, outcome: str = "ok") -> None:
        """Record that a client has connected (`connect`) or disconnected (`disconnect`)."""

    def refusal(self, context: CallContext, code: str, path: str) -> None:
        """Record that a client was refused."""


class ConnectEndpoint:
    """The ASGI application for `/v1/connect`. It tracks all connected clients."""

    def __init__(
        self,
        access_policy: AccessPolicy,
        connections: OpenConnections,
        links: Links,
        limits: Limits,
        max_connections: int,
        audit: ConnectionAudit,
        byte_rates: ByteRates | None = None,
    ) -> None:
        """Create the endpoint.

        Args:
            access_policy: Authenticates clients.
            connections: Ends connections when the client's credential is revoked or expires.
            links: The links to the sandboxes, which handle the calls.
            limits: The limits announced in `welcome`.
            max_connections: The maximum number of clients connected at the same time.
            audit: Notified when clients connect, disconnect or are refused.
            byte_rates: Slows down clients that exceed their byte rate. None disables the limit.
        """
        self._byte_rates = byte_rates or ByteRates()
        self._audit = audit
        self._links = links
        self._access_policy = access_policy
        self._connections = connections
        self._limits = limits
        self._shares = Shares(max_connections, "connections")
        self._backlogs = BacklogBudget()
        self.open: set[ClientConnection] = set()  # authenticated clients
        self._client_closed = asyncio.Event()  # set whenever a client disconnects
        self.accepted = 0  # number of clients accepted since startup
        self._disconnected = ConnectionStats()  # the totals of disconnected clients' counters

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
            peer = address_of(scope)
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
        """The totals of all clients' counters since startup."""
        return _sum([self._disconnected, *(client.counts for client in self.open)])

    async def _serve(self, scope: Scope, transport: MessageTransport) -> None:
        name = address_of(scope)
        limited: HawseError | None = None
        try:
            identity = self._access_policy.identity(scope, ticket=True)
        except HawseError as error:
            identity, limited = None, error
        principal = STRANGER if identity is None else identity.principal
        pace = self._byte_rates.pace(principal, name)
        client = ClientConnection(transport, self._links, self._limits, name, principal, self._backlogs, pace)
        refused = self._refusal(identity, name)
        if limited is not None:
            refused = ConnectionClose(4403 if limited.code == "forbidden" else 4429, limited.code, limited)
        if identity is None or refused is not None:
            assert refused is not None
            log.info("< %s refused: %s", name, refused.reason, extra={"peer": name, "code": refused.reason})
            self._audit.refusal(current(), refused.reason, scope["path"])
            await client.send_final_messages(refused)
            return
        end = partial(client.close, ConnectionClose(4401, "unauthenticated", ended()))
        with self._shares.hold(principal), self._connections.hold(identity, name, end):
            await self._run(client)

    async def _run(self, client: ClientConnection) -> None:
        name, known = client.name, {"peer": client.name, "role": client.role}
        self.open.add(client)
        self.accepted += 1
        self._audit.connection("connect", client.principal, name)
        log.info("< %s connected as %s, %d now", name, client.role, len(self.open), extra=known)
        try:
            closing = await client.run()
            code = closing.code or ""
            self._audit.connection("disconnect", client.principal, name, closing.reason)
            log.info("= %s closed: %s %s", name, code, closing.reason, extra={**known, "code": closing.reason})
        finally:
            self.open.discard(client)
            self._client_closed.set()
            self._disconnected = _sum([self._disconnected, client.counts])

    def _refusal(self, identity: Identity | None, address: str) -> ConnectionClose | None:
        """Return the error for a refused client. The error is sent after the upgrade, because pages can't read a failed
        upgrade's status.
        """
        if identity is None:
            error = HawseError("unauthenticated", "the token or ticket is missing or not valid")
            return ConnectionClose(4401, "unauthenticated", error)
        try:
            self._shares.check(identity.principal)
            self._connections.check(identity, address)
        except HawseError as error:
            return ConnectionClose(4429, error.code, error)
        return None


def _sum(counts: Iterable[ConnectionStats]) -> ConnectionStats:
    return ConnectionStats(*map(sum, zip(*counts, strict=True)))
