"""`hawse tunnel`: durable public addresses for ports in a sandbox."""

import time
from typing import Final

import click

from hawse.api.tunnels import TunnelKind, TunnelProvider
from hawse.cli.candidates import offer, tunnels
from hawse.cli.commands.access import Lifetime
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.group import Group
from hawse.cli.output import duration, examples, printable
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox, Tunnel

PORT: Final = click.IntRange(1, 65_535)


@click.group(cls=Group)
def tunnel() -> None:
    """Create, list and remove public addresses for ports in a sandbox."""


@tunnel.command(epilog=examples("hawse tunnel create 3000 --name demo", "hawse tunnel create 5432 --tcp --expires 8h"))
@click.argument("port", type=PORT)
@click.option("--name", help="the name in the address: lower-case letters, digits and hyphens (a random name)")
@click.option("--tcp", "kind", flag_value="tcp", help="forward TCP connections to a port on the gateway")
@click.option(
    "--tls", "kind", flag_value="tls", help="forward TLS connections by host name; the program has the certificate"
)
@click.option("--public-port", type=PORT, metavar="N", help="the address's port, for TCP (a free port)")
@click.option(
    "--via",
    "provider",
    type=click.Choice(["gateway", "cloudflared", "ssh"]),
    default="gateway",
    help="the provider of the address: Cloudflare, for HTTP, or the gateway's SSH server, for TCP (the gateway)",
)
@click.option(
    "--expires", type=Lifetime(), metavar="DURATION", help="expire after this time, such as 8h or 30d (never)"
)
@target_options
def create(
    target: Target,
    port: int,
    name: str | None,
    kind: TunnelKind | None,
    public_port: int | None,
    expires: float | None,
    provider: TunnelProvider,
) -> None:
    """Give PORT in a sandbox a public address, and print it. Anyone who knows the address can connect to the port.

    The address remains the same until it expires or is removed, or the sandbox is deleted. With the name of an existing
    tunnel for the same port, the command changes the tunnel's expiry.
    """

    async def work(client: Client, box: Sandbox) -> Tunnel:
        return await box.tunnels.create(
            port, name=name, kind=kind, public_port=public_port, expires_in=expires, provider=provider
        )

    target.print_result(work, address)


@tunnel.command("ls", epilog=examples("hawse tunnel ls"))
@target_options
def list_tunnels(target: Target) -> None:
    """List a sandbox's tunnels without starting it."""

    async def work(client: Client, box: Sandbox) -> list[Tunnel]:
        return await box.tunnels.list()

    target.print_list(work, ["ID", "PORT", "EXPIRES IN", "CONNECTIONS", "ADDRESS"], _row)


@tunnel.command(epilog=examples("hawse tunnel rm demo"))
@click.argument("tunnel", shell_complete=offer(tunnels))
@yes_option
@target_options
def rm(target: Target, tunnel: str, yes: bool) -> None:
    """Remove a tunnel and end its connections."""
    confirm(f"Remove tunnel {printable(tunnel)} from sandbox {printable(target.sandbox)}?", yes=yes)

    async def work(client: Client, box: Sandbox) -> None:
        await box.tunnels.delete(tunnel)

    target.run(work)


def _row(one: Tunnel) -> list[object]:
    left = "never" if one.expires is None else duration(one.expires - time.time())
    return [one.id, one.port, left, one.connections, address(one)]


def address(one: Tunnel) -> str:
    """Return the address where a tunnel can be reached, or the reason it can't be."""
    return one.url or f"none: {one.problem}"
