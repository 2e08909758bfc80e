"""Settings for tunnels that don't use the gateway's own port."""

from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError
from hawse_gateway.tunnels.options import TunnelOptions


@dataclass(frozen=True, kw_only=True)
class TunnelSettings(FeatureSettings):
    """Settings for tunnels: the gateway's ports, and providers of public addresses."""

    tunnel_ports: Annotated[
        str | None,
        Option(
            "--tunnel-ports",
            "the ports for TCP tunnels, such as 20000-20099 or 0.0.0.0:20000-20099 (none)",
            metavar="FIRST-LAST",
        ),
    ] = None
    tunnel_tls_port: Annotated[
        str | None,
        Option(
            "--tunnel-tls-port",
            "the port for TLS tunnels, which have names below --preview-host (none)",
            metavar="PORT",
        ),
    ] = None
    tunnel_host: Annotated[
        str | None,
        Option(
            "--tunnel-host",
            "the public host name or address for TCP tunnels (the gateway's)",
            metavar="NAME",
        ),
    ] = None
    tunnel_cloudflared: Annotated[
        bool,
        Option(
            "--tunnel-cloudflared",
            "allow tunnels with Cloudflare addresses, without an account; needs the program cloudflared (no)",
        ),
    ] = False
    tunnel_ssh: Annotated[
        str | None,
        Option(
            "--tunnel-ssh",
            "allow TCP tunnels through an SSH server, such as user@gw.example.org; needs the program ssh (none)",
            metavar="SERVER",
        ),
    ] = None

    def tunnels(self, address: str) -> TunnelOptions:
        """Return the tunnel options. The default address to listen on is `address`. Raises `SettingsError`."""
        try:
            return TunnelOptions.parse(
                self.tunnel_ports,
                self.tunnel_tls_port,
                address=address,
                host=self.tunnel_host,
                cloudflared=self.tunnel_cloudflared,
                ssh=self.tunnel_ssh,
            )
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def check(self) -> None:
        super().check()
        self.tunnels("127.0.0.1")
