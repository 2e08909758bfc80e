"""The tunnel feature: `tunnel.*`, the gateway's ports for tunnels, and the programs of other providers."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.preview.ingress import Ingress, tunnel_request
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.settings import Settings
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.listeners import TunnelListeners
from hawse_gateway.tunnels.methods import TunnelMethods
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.publications import Publications
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from hawse_gateway.upstream.port_connection import PortTunnel


def _build(gateway: Composition) -> None:
    settings, table, ingress = gateway.part(Settings), gateway.part(TunnelTable), gateway.part(Ingress)
    options = gateway.ensure(
        TunnelOptions, lambda: settings.resolved_tunnels(gateway.part(StateDirectory).root / "tunnels")
    )

    def connected(
        record: TunnelRecord, address: str, ended: Callable[[], None]
    ) -> AbstractAsyncContextManager[PortTunnel]:
        return ingress.connected(tunnel_request(record), address, ended)

    connections = TunnelConnections(connected)
    ports = TunnelListeners(table, options, connections, preview_host=settings.preview_host)
    gateway.run(ports.run, "tunnels")
    publications = None
    if options.providers and options.root is not None:
        publications = Publications(table, options.providers, connections, options.root)
        gateway.run(publications.run, "tunnels of other providers")
    gateway.methods.append(
        TunnelMethods(
            table,
            preview_host=settings.preview_host,
            limit=gateway.part(Quotas).number("user", "tunnels"),
            options=options,
            ports=ports,
            publications=publications,
        )
    )


TUNNELS = Feature("tunnels", _build)
