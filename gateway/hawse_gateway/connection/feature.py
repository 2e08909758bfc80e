"""The WebSocket features: add `/v1/connect` for clients and `/v1/join` for machines."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from hawse.wire import HawseError
from hawse.wire.join import JOIN_PATH
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.open_connections import OpenConnections
from hawse_gateway.connection.endpoint import ConnectEndpoint
from hawse_gateway.connection.join import MACHINES, JoinEndpoint
from hawse_gateway.connection.settings import ConnectionSettings
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.http.responses import error_response
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.metrics.prometheus_text import Exposition, Family
from hawse_gateway.providers.joined.machines import Machines
from hawse_gateway.providers.joined.provider import JoinedProvider
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.upstream.links import Links

PATH = "/v1/connect"


def _build(gateway: Composition) -> None:
    settings = gateway.part(ConnectionSettings)
    gateway.connections += settings.max_connections
    connect = gateway.add(
        ConnectEndpoint(
            gateway.part(AccessPolicy),
            gateway.part(OpenConnections),
            gateway.part(Links),
            settings.limits,
            settings.max_connections,
            gateway.part(AuditTrail),
            gateway.part(ByteRates),
        )
    )
    gateway.routes += [WebSocketRoute(PATH, connect), Route(PATH, _require_upgrade)]

    async def collect(out: Exposition) -> None:
        _add_clients(out, connect)

    gateway.metrics.append(collect)


def _build_join(gateway: Composition) -> None:
    provider = gateway.find(JoinedProvider)
    if provider is None:
        return
    gateway.connections += MACHINES
    join = JoinEndpoint(
        gateway.part(AccessPolicy),
        gateway.part(OpenConnections),
        provider,
        gateway.part(Sandboxes).joining,
        gateway.part(AuditTrail),
        owns=gateway.part(SandboxIndex).owns,
    )
    gateway.routes += [WebSocketRoute(JOIN_PATH, join), Route(JOIN_PATH, _require_upgrade)]

    async def collect(out: Exposition) -> None:
        _add_machines(out, provider.machines)

    gateway.metrics.append(collect)


async def _require_upgrade(request: Request) -> Response:
    """Refuse a request that is not a WebSocket handshake (RFC 9110, section 15.5.22)."""
    response = error_response(HawseError("protocol_error", "connect with a WebSocket"))
    response.status_code = 426
    response.headers["upgrade"] = "websocket"
    return response


def _add_clients(out: Exposition, connect: ConnectEndpoint) -> None:
    """Add metrics for connected clients and their calls."""
    counts = connect.counts
    channels = sum(len(client.connection.channels) for client in connect.open)
    out.add(Family("hawse_connections", "gauge", "Clients that are connected."), [({}, connect.client_count)])
    out.add(Family("hawse_connections_total", "counter", "Clients accepted since startup."), [({}, connect.accepted)])
    out.add(Family("hawse_channels", "gauge", "Open calls of clients."), [({}, channels)])
    out.add(Family("hawse_calls_total", "counter", "Calls of clients."), [({}, counts.calls)])
    out.add(
        Family("hawse_bytes_total", "counter", "Bytes of WebSocket messages received from and sent to clients."),
        [({"direction": "in"}, counts.bytes_in), ({"direction": "out"}, counts.bytes_out)],
    )


def _add_machines(out: Exposition, machines: Machines) -> None:
    """Add metrics for joined machines."""
    connected = Family("hawse_machines", "gauge", "Connected machines.")
    again = Family("hawse_machine_connections_total", "counter", "Connections from machines, including reconnections.")
    first = machines.connections - machines.reconnections
    out.add(connected, [({}, len(machines.all()))])
    out.add(again, [({"kind": "first"}, first), ({"kind": "again"}, machines.reconnections)])


CONNECT = Feature("connections of clients", _build)
JOIN = Feature("connections of machines", _build_join)
