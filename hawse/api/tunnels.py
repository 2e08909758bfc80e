"""Tunnels: durable public addresses for ports. These are gateway methods."""

from typing import Annotated, Literal

from hawse.api.access import Lifetime
from hawse.api.ports import PortNumber
from hawse.api.spec import Nothing, Params, Reply, method
from hawse.api.types import Id, matching

# Host names contain the id, prefixed with `t-`, so hyphens are only allowed between letters or digits.
_TUNNEL_NAME = "lower-case letters and digits, with single hyphens between them"
TunnelName = Annotated[str, matching(r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)", _TUNNEL_NAME, min_length=1, max_length=40)]

TunnelKind = Literal["http", "tcp", "tls"]
TunnelProvider = Literal["gateway", "cloudflared", "ssh"]

# ---- values


class TunnelInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A tunnel.

    Attributes:
        id: Its id, unique within the gateway: the requested name or a random id.
        sandbox: The sandbox.
        port: The port in the sandbox that it forwards to.
        kind: Its protocol: `http`, including WebSockets; `tcp`; or `tls`, routed by the requested host name.
        path: Path of its address at the gateway, `/t/ID/`; null if it has no path.
        host: Host name of its address, without a port; null means the gateway's.
        public_port: Port of its address, for `tcp` and `tls`; null means the gateway's own port, or no port yet.
        provider: The provider of its address.
        url: Its complete address, if its provider is not the gateway; null if the fields above specify the address, or
            if the tunnel has none.
        problem: Why it cannot currently be reached; null if it can.
        owner: Id of the user who created it.
        created: When it was created, in seconds since 1970.
        expires: When it ends, in seconds since 1970; null if it ends with the sandbox.
        connections: Number of requests and connections open through it at this gateway.
    """

    id: str
    sandbox: str
    port: int
    kind: TunnelKind = "http"
    path: str | None = None
    host: str | None = None
    public_port: int | None = None
    owner: str | None = None
    created: float = 0.0
    expires: float | None = None
    connections: int = 0
    provider: TunnelProvider = "gateway"
    url: str | None = None
    problem: str | None = None


class TunnelListResult(Reply, frozen=True, kw_only=True):
    """A sandbox's tunnels.

    Attributes:
        tunnels: The tunnels, sorted by id.
    """

    tunnels: list[TunnelInfo]


# ---- methods


@method(
    "tunnel.create", sandbox=False, target="sandbox", names="name", raises=("not_found", "conflict", "limit_exceeded")
)
class TunnelCreate(Params[TunnelInfo], kw_only=True):
    """Give a port a public address at the gateway. Anyone who knows the address can connect without a token.

    An `http` tunnel has a host name and a path. A `tcp` tunnel has a port on the gateway. A `tls` tunnel has a host
    name, at a gateway port shared by all `tls` tunnels. The program in the sandbox terminates TLS, with a certificate
    for this name. If the operator has not enabled this kind, the error is `unavailable`.

    For other `provider` values, the gateway runs a program: `cloudflared` for an `http` address, which changes with
    each start, or `ssh` for a `tcp` port on an SSH server. The call returns once the address can be used. If the
    operator has not enabled the provider, or its program is missing or cannot connect, the error is `unavailable`.

    The address stays the same until the tunnel expires or the tunnel or sandbox is deleted; it survives restarts of the
    sandbox and the gateway. Neither this call nor visitors start the sandbox. If a tunnel with the same kind, sandbox,
    port, and name or `public_port` exists, the call updates its `expires_in` and returns it.

    If another tunnel has this name or port, the error is `conflict`. At most 16 tunnels can exist per sandbox and 1,000
    per gateway, including 32 with other providers (`limit_exceeded`).

    Args:
        sandbox: Id of the sandbox.
        port: The port number. No program needs to be listening yet.
        name: Its id: lower-case letters, digits, single hyphens. Others can guess the address. Null means a random
            id. Gateway `tcp` tunnels can't have a name.
        kind: Its protocol; null means `tcp` with `ssh`, otherwise `http`.
        public_port: Port on the gateway or the SSH server, for `tcp`; null means a free port.
        expires_in: Seconds until it ends; null means that it ends with the sandbox.
        provider: The provider of its address.
    """

    sandbox: Id
    port: PortNumber
    name: TunnelName | None = None
    kind: TunnelKind | None = None
    public_port: PortNumber | None = None
    expires_in: Lifetime | None = None
    provider: TunnelProvider = "gateway"


@method("tunnel.list", safe=True, sandbox=False, target="sandbox", raises=("not_found",))
class TunnelList(Params[TunnelListResult], kw_only=True):
    """List a sandbox's tunnels without starting it.

    Args:
        sandbox: Id of the sandbox.
    """

    sandbox: Id


@method("tunnel.delete", sandbox=False, target="sandbox", names="tunnel", ends=True, raises=("not_found",))
class TunnelDelete(Params[Nothing], kw_only=True):
    """Delete a tunnel and end its connections. Any user can then create a tunnel with the same name.

    Args:
        sandbox: Id of the sandbox.
        tunnel: Id of the tunnel.
    """

    sandbox: Id
    tunnel: TunnelName
