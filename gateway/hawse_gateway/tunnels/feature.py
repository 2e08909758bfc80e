"""The tunnel feature: provides the methods `tunnel.*`, opens the gateway's ports for tunnels, and runs other providers'
programs."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.preview.ingress import Ingress, tunnel_request
from hawse_gateway.preview.settings import PreviewSettings
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.store.settings import StoreSettings
from hawse_gateway.transport.settings import ServerSettings
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.listeners import TunnelListeners
from hawse_gateway.tunnels.methods import TunnelMethods
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.publications import Publications
from hawse_gateway.tunnels.settings import TunnelSettings
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from hawse_gateway.upstream.port_connection import PortTunnel


def _build(gateway: Composition) -> None:
    table, ingress = gateway.part(TunnelTable), gateway.part(Ingress)
    preview_host = gateway.part(PreviewSettings).preview_host
    options = gateway.ensure(TunnelOptions, lambda: _options(gateway))
    gateway.sockets += options.sockets

    def connected(
        record: TunnelRecord, address: str, ended: Callable[[], None]
    ) -> AbstractAsyncContextManager[PortTunnel]:
        return ingress.connected(tunnel_request(record), address, ended)

    connections = TunnelConnections(connected)
    ports = TunnelListeners(table, options, connections, preview_host=preview_host)
    gateway.run(ports.run, "tunnels")
    publications = None
    if options.providers and options.root is not None:
        publications = Publications(table, options.providers, connections, options.root)
        gateway.run(publications.run, "tunnels of other providers")
    gateway.methods.append(
        TunnelMethods(
            table,
            preview_host=preview_host,
            limit=gateway.part(Quotas).number("user", "tunnels"),
            options=options,
            ports=ports,
            publications=publications,
        )
    )


def _options(gateway: Composition) -> TunnelOptions:
    """Resolve host names in the settings to IP addresses. Blocks."""
    settings = gateway.part(TunnelSettings)
    published = settings.tunnel_cloudflared or settings.tunnel_ssh is not None
    if published and gateway.part(StoreSettings).store is not None:
        raise SettingsError("--tunnel-cloudflared and --tunnel-ssh need a single gateway, without --store")
    options = settings.tunnels(gateway.part(ServerSettings).host)
    try:
        return replace(options.resolved(), root=gateway.part(StateDirectory).root / "tunnels")
    except ValueError as error:
        raise SettingsError(str(error)) from error


TUNNELS = Feature("tunnels", _build)
