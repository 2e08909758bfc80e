"""The settings of a gateway, and their validation."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hawse.api.sandboxes import Network
from hawse.code_pool import parse_pools
from hawse.logs import FORMS, Form
from hawse.wire import Limits
from hawse_gateway.auth.access_policy import split_host, split_origin
from hawse_gateway.backups.space import OF_ALL, OF_IMAGES
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.providers.isolation.choice import RequestedIsolation
from hawse_gateway.sandboxes.lifecycle import IDLE_TIMEOUT
from hawse_gateway.tunnels.options import TunnelOptions

DEFAULT_STATE = Path("~/.local/state/hawse")
STORES = ("redis://", "rediss://", "redis+sentinel://", "unix://")
MAX_CONNECTIONS = 1024  # clients at once
CALLS_PER_SECOND = 500  # calls per user: far more than a person or a typical program needs
WRONG_TOKENS = 100  # in a burst, because many programs behind one address can use an outdated token
TOKEN_MIN = 16  # characters, because any program on this machine can try to guess the token

ProxyHeaders = Literal["x-forwarded", "forwarded"]

_HEADER = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,187}[A-Za-z0-9])?")  # leaves room for another label of 63 characters


class SettingsError(Exception):
    """Invalid settings. The message states the option and the allowed values."""


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """Sign-in with an OpenID provider.

    Attributes:
        issuer: The identifier of the provider. None disables sign-in with OpenID.
        audience: The required audience of the provider's bearer tokens. None refuses bearer tokens.
        client_id: This gateway's client id at the provider. None means that browsers cannot sign in.
        client_secret: This gateway's client secret. None for a public client.
        user_claim: The claim with the user's id.
        role_claim: The claim that is compared with `roles`.
        roles: `VALUE=ROLE` or `VALUE=own:ROLE`, which map values of `role_claim` to roles. The VALUE `*` matches every
            user.
        lifetime: Seconds until a user has to sign in again.
        ca: The file with the trusted certificates. None means the system's certificates.
    """

    issuer: str | None = None
    audience: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    user_claim: str = "sub"
    role_claim: str = "groups"
    roles: Sequence[str] = ()
    lifetime: float = 12 * 3600.0
    ca: Path | None = None

    def check(self) -> None:
        """Raise `SettingsError` for values that are not allowed."""
        if self.issuer is None:
            if self != OidcSettings():
                raise SettingsError("options that begin with --oidc- need --oidc-issuer")
            return
        if self.audience is None and self.client_id is None:
            raise SettingsError(
                "--oidc-issuer needs --oidc-client-id for browsers, --oidc-audience for programs, or both"
            )
        if not self.roles:
            raise SettingsError("--oidc-issuer needs --oidc-role: without one, no user may do anything")
        if self.lifetime <= 0:
            raise SettingsError(f"--oidc-lifetime must be above 0, not {self.lifetime:g}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of `hawse serve`.

    Attributes:
        state: The state directory.
        host: The address to listen on.
        port: The port. 0 means any free port.
        token: The owner's token. None means the token in the state directory.
        provider: The name of the sandbox provider.
        isolation: The isolation of the local provider's sandboxes.
        image: The default image of sandboxes. None means the provider's default.
        oci_runtime: The Docker Engine's name for the OCI runtime. None means the engine's default.
        network: The network of isolated sandboxes.
        user_networks: The networks that users with limited rights can choose. Empty means all networks.
        kubernetes: The settings file of the Kubernetes provider, or None.
        egress: The settings file of filtered networks, including secrets, or None.
        mounts: The file with the buckets and directories that users can mount. None disables mounts.
        tls_cert: The file with the certificate chain in PEM. None disables TLS.
        tls_key: The file with the key of the certificate. None if the key is in `tls_cert`.
        oidc: The OpenID provider.
        hosts: Host names of the gateway, in addition to localhost, IP addresses and `host`.
        origins: Origins whose pages can call the gateway, in addition to its own.
        proxies: IP addresses and networks of trusted reverse proxies, whose forwarded headers are used.
        proxy_headers: The headers set by the proxies: X-Forwarded-For and X-Forwarded-Proto, or Forwarded.
        proxy_user_header: The header with the user authenticated by the proxies, or None.
        proxy_groups_header: The header with the user's groups, separated by commas, or None.
        proxy_roles: `GROUP=ROLE` or `GROUP=own:ROLE`, the roles of these users. The GROUP `*` matches every user.
        preview_host: The parent domain of the previews' host names. None means that previews only have addresses by
            path.
        tunnel_ports: The port range of TCP tunnels, as `[ADDRESS:]FIRST-LAST`. None disables TCP tunnels.
        tunnel_tls_port: The port of TLS tunnels, as `[ADDRESS:]PORT`. None disables TLS tunnels.
        tunnel_host: The public host name or address of the tunnel ports. None means the gateway's.
        tunnel_cloudflared: Whether tunnels can use Cloudflare addresses (quick tunnels).
        tunnel_ssh: The SSH server whose ports tunnels can use, as `[USER@]HOST` or a URL. None disables SSH tunnels.
        max_connections: The maximum number of connected clients.
        calls_per_second: The call rate of a user with limited rights. Bursts can be ten times as large.
        limit: Limits of users, links and addresses, as `WHO:WHAT=NUMBER`.
        wrong_tokens: The number of wrong tokens that an address can send before it has to wait one second for each
            token.
        quota: The maximum bytes in a workspace that are written through the API. None means unlimited.
        store: The URL of a Redis server that several gateways share. None means SQLite in the state directory.
        backups: The directory or bucket (`s3://BUCKET/PREFIX`) for backups. None means `backups` in the state
            directory.
        backups_size: The maximum total size of all backups in bytes.
        overlays_size: The maximum total size of backup images for overlays, in bytes.
        max_sandboxes: The maximum number of running sandboxes. None means limited only by memory and disk.
        pool: The number of sandboxes to start in advance, for creations without an image, network or limits.
        templates: The TOML file of the templates, or None.
        idle_timeout: The default number of seconds without activity before a sandbox sleeps.
        start_timeout: The maximum seconds until a runtime accepts connections. None means the provider's default.
        max_contexts: The maximum number of code contexts per language in a sandbox. None means unlimited.
        code_pool: The number of idle code executors that each sandbox keeps ready (`hawse.code_pool`).
        otel: Whether to export spans of calls (OpenTelemetry).
        log_format: The log format of the gateway and the runtimes.
        limits: The limits announced in `welcome`.
    """

    state: Path = DEFAULT_STATE
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    provider: str = "local"
    isolation: RequestedIsolation = "auto"
    image: str | None = None
    oci_runtime: str | None = None
    network: Network = "private"
    user_networks: Sequence[Network] = ()
    kubernetes: Path | None = None
    egress: Path | None = None
    mounts: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    oidc: OidcSettings = field(default_factory=OidcSettings)
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    proxies: Sequence[str] = ()
    proxy_headers: ProxyHeaders = "x-forwarded"
    proxy_user_header: str | None = None
    proxy_groups_header: str | None = None
    proxy_roles: Sequence[str] = ()
    preview_host: str | None = "localhost"
    tunnel_ports: str | None = None
    tunnel_tls_port: str | None = None
    tunnel_host: str | None = None
    tunnel_cloudflared: bool = False
    tunnel_ssh: str | None = None
    max_connections: int = MAX_CONNECTIONS
    calls_per_second: int = CALLS_PER_SECOND
    limit: Sequence[str] = ()
    wrong_tokens: int = WRONG_TOKENS
    quota: int | None = None
    store: str | None = None
    backups: str | None = None
    backups_size: int = OF_ALL
    overlays_size: int = OF_IMAGES
    max_sandboxes: int | None = None
    pool: int = 0
    templates: Path | None = None
    idle_timeout: float = IDLE_TIMEOUT
    start_timeout: float | None = None
    max_contexts: int | None = None
    code_pool: Sequence[str] = ()
    otel: bool = False
    log_format: Form = "text"
    limits: Limits = field(default_factory=Limits)

    def quotas(self) -> Quotas:
        """Return the limits of users, links and addresses. Raises `ValueError`."""
        calls = self.calls_per_second
        return Quotas.parse(self.limit, {("user", "calls"): calls, ("link", "calls"): calls})

    def tunnels(self) -> TunnelOptions:
        """Return the options of TCP, TLS and published tunnels. Raises `ValueError`."""
        if self.store is not None and (self.tunnel_cloudflared or self.tunnel_ssh is not None):
            raise ValueError("--tunnel-cloudflared and --tunnel-ssh need a single gateway, without --store")
        return TunnelOptions.parse(
            self.tunnel_ports,
            self.tunnel_tls_port,
            address=self.host,
            host=self.tunnel_host,
            cloudflared=self.tunnel_cloudflared,
            ssh=self.tunnel_ssh,
        )

    def resolved_tunnels(self, root: Path) -> TunnelOptions:
        """Return these options with resolved host names and the directory for programs. Blocks.

        Raises:
            SettingsError: A name cannot be resolved.
        """
        try:
            return replace(self.tunnels().resolved(), root=root)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def check(self) -> None:
        """Raise `SettingsError` for values that are not allowed."""
        self.oidc.check()
        self._check_proxy_user()
        try:
            self.tunnels()
        except ValueError as error:
            raise SettingsError(str(error)) from error
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host} is reachable from other machines: set a token with --token or HAWSE_TOKEN"
            )
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable()):
            raise SettingsError("--token must consist of printable ASCII characters")
        if self.token is not None and len(self.token) < TOKEN_MIN:
            raise SettingsError(f"--token must have at least {TOKEN_MIN} characters, not {len(self.token)}")
        if self.tls_key is not None and self.tls_cert is None:
            raise SettingsError("--tls-key needs --tls-cert, the certificate that the key belongs to")
        if self.log_format not in FORMS:
            raise SettingsError(f"--log-format {self.log_format}: choose one of {', '.join(FORMS)}")
        if self.quota is not None and self.quota < 1:
            raise SettingsError(f"--quota must be at least 1 byte, not {self.quota}")
        if self.max_sandboxes is not None and self.max_sandboxes < 1:
            raise SettingsError(f"--max-sandboxes must be at least 1, not {self.max_sandboxes}")
        if self.store is not None and not self.store.startswith(STORES):
            raise SettingsError(f"--store {self.store}: expected a URL that begins with {', '.join(STORES)}")
        if self.pool < 0:
            raise SettingsError(f"--pool must be at least 0, not {self.pool}")
        if self.idle_timeout <= 0:
            raise SettingsError(f"--idle-timeout must be above 0, not {self.idle_timeout:g}")
        if self.start_timeout is not None and self.start_timeout <= 0:
            raise SettingsError(f"--start-timeout must be above 0, not {self.start_timeout:g}")
        if self.max_contexts is not None and self.max_contexts < 1:
            raise SettingsError(f"--max-contexts must be at least 1, not {self.max_contexts}")
        try:
            self.quotas()
        except ValueError as error:
            raise SettingsError(f"--limit {error}") from error
        try:
            parse_pools(self.code_pool)
        except ValueError as error:
            raise SettingsError(f"--code-pool {error}") from error
        if self.max_connections < 1:
            raise SettingsError(f"--max-connections must be at least 1, not {self.max_connections}")
        for option, value in (
            ("--calls-per-second", self.calls_per_second),
            ("--wrong-tokens", self.wrong_tokens),
            ("--backups-size", self.backups_size),
            ("--overlays-size", self.overlays_size),
        ):
            if value < 1:
                raise SettingsError(f"{option} must be at least 1, not {value}")
        self._check_addresses()

    def _check_addresses(self) -> None:
        if self.preview_host is not None and not _NAME.fullmatch(self.preview_host):
            raise SettingsError(f"--preview-host {self.preview_host}: expected a name such as previews.example.org")
        for host in self.hosts:
            try:
                split_host(host, "http")
            except ValueError as error:
                raise SettingsError(f"--allow-host: {error}; expected a name such as example.org") from error
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise SettingsError(
                    f"--trust-proxy: {error}; expected an IP address or a network such as 10.0.0.0/8"
                ) from error
        for origin in self.origins:
            try:
                split_origin(origin)
            except ValueError as error:
                raise SettingsError(
                    f"--allow-origin: {error}; expected an origin such as https://example.org"
                ) from error

    def _check_proxy_user(self) -> None:
        if self.proxy_user_header is None:
            if self.proxy_groups_header is not None or self.proxy_roles:
                raise SettingsError("--proxy-groups-header and --proxy-role need --proxy-user-header")
            return
        if not self.proxies or not self.proxy_roles:
            raise SettingsError("--proxy-user-header needs --trust-proxy, the proxies that set it, and --proxy-role")
        if self.oidc.issuer is not None:
            raise SettingsError("--proxy-user-header and --oidc-issuer exclude each other")
        for option, name in (("user", self.proxy_user_header), ("groups", self.proxy_groups_header)):
            if name is not None and not _HEADER.fullmatch(name):
                raise SettingsError(f"--proxy-{option}-header {name}: expected a name such as X-Forwarded-User")


def is_loopback(host: str) -> bool:
    """Return whether `host` can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
