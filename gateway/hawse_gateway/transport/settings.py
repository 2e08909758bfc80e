"""Settings for the gateway's address, TLS and trusted proxies."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError

PORT_MAX: Final = 65_535
TOKEN_MIN: Final = 16  # minimum length of the token, because any program on this machine can try to guess it


@dataclass(frozen=True, kw_only=True)
class ServerSettings(FeatureSettings):
    """The listening address, the owner's token and the state directory."""

    host: Annotated[str, Option("--host", "the address to listen on (127.0.0.1)", metavar="ADDRESS")] = "127.0.0.1"
    port: Annotated[int, Option("--port", "the port to listen on; 0 selects a free port (8080)", most=PORT_MAX)] = 8080
    token: Annotated[
        str | None,
        Option(
            "--token",
            "the owner's token, at least 16 characters (a random token, stored in the state directory)",
            environment="HAWSE_TOKEN",
        ),
    ] = None
    state: Annotated[
        Path, Option("--state", "the state directory (~/.local/state/hawse)", environment="HAWSE_STATE")
    ] = Path("~/.local/state/hawse")

    def check(self) -> None:
        super().check()
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host} is reachable from other machines: set a token with --token or HAWSE_TOKEN"
            )
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable()):
            raise SettingsError("--token must consist of printable ASCII characters")
        if self.token is not None and len(self.token) < TOKEN_MIN:
            raise SettingsError(f"--token must have at least {TOKEN_MIN} characters, not {len(self.token)}")


@dataclass(frozen=True, kw_only=True)
class TlsSettings(FeatureSettings):
    """The gateway's certificate. Without a certificate, the gateway serves plain HTTP."""

    tls_cert: Annotated[
        Path | None,
        Option(
            "--tls-cert",
            "serve HTTPS with this certificate chain, in PEM; changes are reloaded (no TLS)",
            metavar="FILE",
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        Option("--tls-key", "the certificate's private key (in the certificate file)", metavar="FILE"),
    ] = None

    def check(self) -> None:
        super().check()
        if self.tls_key is not None and self.tls_cert is None:
            raise SettingsError("--tls-key needs --tls-cert, the certificate that the key belongs to")


@dataclass(frozen=True, kw_only=True)
class ProxySettings(FeatureSettings):
    """The trusted reverse proxies, whose forwarded headers are used."""

    proxies: Annotated[
        Sequence[str],
        Option(
            "--trust-proxy",
            "IP address or network of a proxy that sets X-Forwarded-For and X-Forwarded-Proto; can be repeated",
            metavar="ADDRESS",
        ),
    ] = ()
    proxy_headers: Annotated[
        Literal["x-forwarded", "forwarded"],
        Option("--proxy-headers", "the headers set by the proxies; forwarded means Forwarded (RFC 7239) (x-forwarded)"),
    ] = "x-forwarded"

    def check(self) -> None:
        super().check()
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise SettingsError(
                    f"--trust-proxy: {error}; expected an IP address or a network such as 10.0.0.0/8"
                ) from error


def is_loopback(host: str) -> bool:
    """Return whether the address `host` is only reachable from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
