"""A sandbox's tunnels: durable public addresses for its ports."""

import builtins
from urllib.parse import urlsplit

import msgspec

from hawse.api.tunnels import TunnelCreate, TunnelDelete, TunnelInfo, TunnelKind, TunnelList, TunnelProvider
from hawse.client.calls.call_table import CallTable
from hawse.client.ports import LOOPBACK


class Tunnel(msgspec.Struct, frozen=True, kw_only=True):
    """A tunnel. If the gateway has no host name for the tunnel, `url` is the same as `path_url`.

    Attributes:
        id: Its id, unique within the gateway: the requested name or a random id.
        port: The port it forwards to.
        kind: Its protocol: `http`, `tcp` or `tls`.
        url: Its address; `tcp://HOST:PORT` or `tls://HOST:PORT` for these kinds. With its own host name, it is a
            separate origin, where all page features work. None if it cannot currently be reached.
        path_url: Its address below the gateway's URL, where pages run in a sandboxed document. None unless `kind` is
            `http`.
        owner: The id of the user who created it.
        created: When it was created, in seconds since 1970.
        expires: When it ends, in seconds since 1970; None if it ends with the sandbox.
        connections: Number of requests and connections open through it.
        provider: The provider of its address: `gateway`, `cloudflared` or `ssh`.
        problem: Why it cannot currently be reached; None if it can.
    """

    id: str
    port: int
    url: str | None
    path_url: str | None = None
    kind: TunnelKind = "http"
    owner: str | None = None
    created: float = 0.0
    expires: float | None = None
    connections: int = 0
    provider: TunnelProvider = "gateway"
    problem: str | None = None


class Tunnels:
    """A sandbox's tunnels. The handle doesn't have to be closed."""

    def __init__(self, calls: CallTable, sandbox: str, *, gateway: str) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
            gateway: The gateway's HTTP URL, for tunnel URLs.
        """
        self._calls = calls
        self._sandbox = sandbox
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of sandbox {self._sandbox!r}>"

    async def create(
        self,
        port: int,
        *,
        name: str | None = None,
        kind: TunnelKind | None = None,
        public_port: int | None = None,
        expires_in: float | None = None,
        provider: TunnelProvider = "gateway",
    ) -> Tunnel:
        """Give a port a public address. Anyone who knows the address can connect to the port without a token.

        The address stays the same when the sandbox or gateway restarts. If a tunnel with this name or `public_port`
        already leads to the same port of this sandbox, the call updates its `expires_in` and returns it.

        Args:
            port: The port. No program needs to be listening yet.
            name: The tunnel's id: 1 to 40 lower-case letters, digits and single hyphens. None means a random name that
                cannot be guessed. The gateway's `tcp` tunnels cannot have a name.
            kind: `http`, with WebSockets; `tcp`, at a port on the gateway; or `tls`, routed by the requested host name,
                with the program's certificate. None means `tcp` with `ssh`, otherwise `http`.
            public_port: The port on the gateway or the SSH server, for `tcp`. None means a free port.
            expires_in: Seconds until it ends. None means it ends with the sandbox.
            provider: The provider of its address: `gateway`; `cloudflared`, for `http`; or `ssh`, an SSH server, for
                `tcp`. The provider's program runs on the gateway's machine.

        Raises:
            HawseError: `conflict` if another tunnel has the name or port, `limit_exceeded`, `not_found`; `unavailable`
                if the operator has not enabled this kind or provider, or if the provider returns no address.
        """
        params = TunnelCreate(
            sandbox=self._sandbox,
            port=port,
            name=name,
            kind=kind,
            public_port=public_port,
            expires_in=expires_in,
            provider=provider,
        )
        return self._tunnel(await self._calls.request(params, sandbox=None))

    async def list(self) -> builtins.list[Tunnel]:
        """Return the tunnels, sorted by id, without starting the sandbox."""
        found = await self._calls.request(TunnelList(sandbox=self._sandbox), sandbox=None)
        return [self._tunnel(info) for info in found.tunnels]

    async def delete(self, tunnel: str) -> None:
        """Delete the tunnel with the id `tunnel`, and end its connections. Raises `HawseError` (`not_found`)."""
        await self._calls.request(TunnelDelete(sandbox=self._sandbox, tunnel=tunnel), sandbox=None)

    def _tunnel(self, info: TunnelInfo) -> Tunnel:
        path = None if info.path is None else self._gateway + info.path
        url: str | None
        if info.url is not None or info.problem is not None:
            url = info.url
        elif path is None:
            host = info.host or other_name(self._gateway) or urlsplit(self._gateway).hostname or ""
            url = f"{info.kind}://{f'[{host}]' if ':' in host else host}:{info.public_port}"
        else:
            url = by_host(self._gateway, info.host) or path
        return Tunnel(
            id=info.id,
            port=info.port,
            url=url,
            path_url=path,
            kind=info.kind,
            owner=info.owner,
            created=info.created,
            expires=info.expires,
            connections=info.connections,
            provider=info.provider,
            problem=info.problem,
        )


def other_name(gateway: str) -> str | None:
    """Return a second host name for a gateway on this machine, different from the one in its URL.

    Browsers send a host name's cookies to all of its ports, so programs' ports must have a different host name than
    the page.

    Args:
        gateway: The gateway's HTTP URL.

    Returns:
        None if the gateway is on another machine.
    """
    own = urlsplit(gateway).hostname or ""
    if own == "localhost":
        return "127.0.0.1"
    return "localhost" if own in LOOPBACK or own.endswith(".localhost") else None


def by_host(gateway: str, host: str | None) -> str | None:
    """Return a tunnel's URL with its own host name; None if the tunnel has no host name.

    Names below `localhost` work only on the gateway's own machine.

    Args:
        gateway: The gateway's HTTP URL.
        host: The tunnel's host name.
    """
    parts = urlsplit(gateway)
    own = parts.hostname or ""
    if host is None or (host.endswith(".localhost") and own not in LOOPBACK and not own.endswith(".localhost")):
        return None
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}/"
