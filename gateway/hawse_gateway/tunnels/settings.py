"""The settings of tunnels that do not use the gateway's own port."""

from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError
from hawse_gateway.tunnels.options import TunnelOptions


@dataclass(frozen=True, kw_only=True)
class TunnelSettings(FeatureSettings):
    """The ports of tunnels, and other providers of public addresses."""

    tunnel_ports: Annotated[
        str | None,
        Option(
            "--tunnel-ports",
            "the ports that TCP tunnels may have, such as 20000-20099 or 0.0.0.0:20000-20099 (none)",
            metavar="FIRST-LAST",
        ),
    ] = None
    tunnel_tls_port: Annotated[
        str | None,
        Option(
            "--tunnel-tls-port",
            "the port of TLS tunnels, at which clients ask for a name below --preview-host (none)",
            metavar="PORT",
        ),
    ] = None
    tunnel_host: Annotated[
        str | None,
        Option(
            "--tunnel-host",
            "the name or address by which others reach TCP tunnels (that of the gateway)",
            metavar="NAME",
        ),
    ] = None
    tunnel_cloudflared: Annotated[
        bool,
        Option(
            "--tunnel-cloudflared",
            "let tunnels have addresses of Cloudflare, without an account; needs the program cloudflared (no)",
        ),
    ] = False
    tunnel_ssh: Annotated[
        str | None,
        Option(
            "--tunnel-ssh",
            "let TCP tunnels have ports of an SSH server, such as user@gw.example.org; needs the program ssh (none)",
            metavar="SERVER",
        ),
    ] = None

    def tunnels(self, address: str) -> TunnelOptions:
        """Return the options of tunnels, whose ports are on `address` by default. Raises `SettingsError`."""
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
