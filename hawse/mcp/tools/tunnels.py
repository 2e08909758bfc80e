"""`tunnel_create`, `tunnel_list`, `tunnel_delete`: durable public addresses for ports."""

import msgspec

from hawse.api.ports import PortNumber
from hawse.api.tunnels import TunnelKind, TunnelName, TunnelProvider
from hawse.client import Sandbox
from hawse.client.tunnels import Tunnel
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.wire import HawseError


async def _offered(box: Sandbox) -> bool:
    """Return whether the token may create tunnels."""
    try:
        await box.tunnels.list()
    except HawseError as error:
        return error.code not in ("forbidden", "unknown_method")
    return True


@tool("tunnel_create", destructive=False, offered=_offered)
class TunnelCreateTool(Arguments):
    """Give a port a permanent public address. Anyone who knows the address can connect without a token.

    Args:
        port: The TCP port that a program in the sandbox is listening on.
        name: A name for the address: 1 to 40 lower-case letters, digits and hyphens. Others can guess the address; by
            default, a random name is used.
        kind: http for web sites, including WebSockets; tcp or tls (routed by name), if the gateway has ports for it. By
            default, tcp with ssh, otherwise http.
        expires_in: Seconds until it ends; by default, it ends with the sandbox.
        provider: The provider of the address: the gateway or, if the operator has enabled them, cloudflared for http or
            ssh for tcp.
    """

    port: PortNumber
    name: TunnelName | None = None
    kind: TunnelKind | None = None
    expires_in: float | None = None
    provider: TunnelProvider = "gateway"

    async def run(self, call: ToolCall) -> Answer:
        made = await call.box.tunnels.create(
            self.port, name=self.name, kind=self.kind, expires_in=self.expires_in, provider=self.provider
        )
        return Answer(_address(made), data=_data(made))


@tool("tunnel_list", safe=True, offered=_offered)
class TunnelListTool(Arguments):
    """List the tunnels of this sandbox."""

    async def run(self, call: ToolCall) -> Answer:
        found = await call.box.tunnels.list()
        lines = [f"{one.id}  port {one.port}  {_address(one)}" for one in found]
        return Answer("\n".join(lines) or "there are none", data={"tunnels": [_data(one) for one in found]})


@tool("tunnel_delete", idempotent=True, offered=_offered)
class TunnelDeleteTool(Arguments):
    """Delete a tunnel of this sandbox, and end its connections.

    Args:
        id: The id of the tunnel.
    """

    id: TunnelName

    async def run(self, call: ToolCall) -> Answer:
        await call.box.tunnels.delete(self.id)
        return Answer(f"tunnel {self.id} deleted")


def _data(tunnel: Tunnel) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(tunnel)
    return {name: found[name] for name in ("id", "port", "kind", "provider", "url", "path_url", "expires", "problem")}


def _address(tunnel: Tunnel) -> str:
    return tunnel.url or f"none: {tunnel.problem}"
