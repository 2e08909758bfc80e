"""`hawse port`: a sandbox's ports, their previews, and port forwarding."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import click

from hawse.api.ports import PortIncoming
from hawse.cli.group import Group
from hawse.cli.output import examples, print_json, print_table
from hawse.cli.target import Target, first
from hawse.cli.target_options import target_options
from hawse.client import Client, OpenPort, Preview, Sandbox
from hawse.client.config import find_gateway
from hawse.client.ports import PortConnection
from hawse.client.tunnels import other_name
from hawse.wire import HawseError

PORT: Final = click.IntRange(1, 65_535)
LOOPBACK: Final = "127.0.0.1"
CHUNK: Final = 64 << 10  # maximum number of bytes per read


@click.group(cls=Group)
def port() -> None:
    """List, expose and forward ports."""


@port.command("ls", epilog=examples("hawse port ls -s build"))
@target_options
def list_ports(target: Target) -> None:
    """List the ports that programs are listening on, along with the addresses of their previews."""

    async def work(client: Client, box: Sandbox) -> tuple[list[OpenPort], list[Preview]]:
        return await box.ports.list(), await box.ports.exposed()

    found, previews = target.run(work)
    if target.as_json:
        print_json({"ports": found, "previews": previews})
        return
    urls = {preview.port: preview.url for preview in previews}
    rows = [[each.port, each.process, each.pid, urls.pop(each.port, None)] for each in found]
    print_table(
        ["PORT", "PROGRAM", "PID", "PREVIEW"], rows + [[number, None, None, url] for number, url in urls.items()]
    )


@port.command(epilog=examples("hawse port expose 3000", "hawse port expose 3000 --name web"))
@click.argument("number", type=PORT)
@click.option("--name", help="a display name")
@target_options
def expose(target: Target, number: int, name: str | None) -> None:
    """Create a preview of a port and print its address. Anyone with the address can access the port."""

    async def work(client: Client, box: Sandbox) -> Preview:
        return await box.ports.expose(number, name=name)

    target.print_result(work, lambda preview: preview.url)


@port.command(epilog=examples("hawse port unexpose 3000"))
@click.argument("number", type=PORT)
@target_options
def unexpose(target: Target, number: int) -> None:
    """Remove the preview of a port, and close connections through it."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.ports.unexpose(number)

    target.run(work)


@port.command(
    epilog=examples(
        "hawse port forward 5173",
        "hawse port forward 8000:5173",
        "hawse port forward -R 5432",
    )
)
@click.argument("mapping", metavar="[LOCAL:]PORT")
@click.option("--bind", default=LOOPBACK, show_default=True, metavar="ADDRESS", help="the local address")
@click.option(
    "-R", "--reverse", is_flag=True, help="forward a port in the sandbox to PORT on this machine: [REMOTE:]PORT"
)
@target_options
def forward(target: Target, mapping: str, bind: str, reverse: bool) -> None:
    """Forward a local port to a sandbox, or a port in the sandbox to this machine.

    Each connection to LOCAL is forwarded to PORT in the sandbox, until Ctrl-C. With LOCAL 0, a free port is used. In a
    browser, use the printed host name; under the page's host name, the program would get the page's cookies.

    With -R, the direction is reversed: programs in the sandbox that connect to REMOTE reach PORT on this machine, at
    the --bind address. REMOTE is 1024 or above; with 0, a free port is used.
    """
    local, remote = parse_mapping(mapping)
    if reverse:
        _forward_back(target, local, bind, remote)
        return

    name = bind
    if bind == LOOPBACK:
        name = other_name(find_gateway(target.url, target.token, target.ca).url) or "localhost"

    async def work(client: Client, box: Sandbox) -> None:
        def announce(number: int) -> None:
            if target.as_json:
                print_json({"address": name, "port": number})
            else:
                click.echo(f"{name}:{number} leads to port {remote} of sandbox {box.id}")

        await box.info()  # reports an unknown sandbox now, not on the first connection
        await forward_port(box, bind, local, remote, announce)

    try:
        target.run(work)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise click.ClickException(f"cannot listen on {bind}:{local}: {reason}") from error


def parse_mapping(text: str) -> tuple[int, int]:
    """Return the local and remote ports from `[LOCAL:]PORT`. Raises `click.BadParameter`."""
    first, colon, second = text.partition(":")
    try:
        remote = int(second if colon else first)
        local = int(first)
        if not (0 <= local <= PORT.max and PORT.min <= remote <= PORT.max):  # type: ignore[operator]
            raise ValueError
    except ValueError:
        raise click.BadParameter(f"{text!r} is not [LOCAL:]PORT, such as 8080 or 9000:8080") from None
    return local, remote


async def forward_port(box: Sandbox, bind: str, local: int, remote: int, announce: Callable[[int], None]) -> None:
    """Forward connections until cancelled.

    Args:
        box: The sandbox.
        bind: The local address to listen on.
        local: The local port; 0 means a free port.
        remote: The port in the sandbox.
        announce: Called with the local port once it is open.

    Raises:
        OSError: The local port is in use.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _pass(box.ports.connect(remote), reader, writer)
        except* (HawseError, OSError) as errors:
            click.echo(f"a connection to port {remote} ended: {first(errors)}", err=True)
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, bind, local, limit=CHUNK)
    async with server:
        announce(server.sockets[0].getsockname()[1])
        await server.serve_forever()


def _forward_back(target: Target, inside: int, bind: str, local: int) -> None:
    async def work(client: Client, box: Sandbox) -> None:
        def announce(number: int) -> None:
            if target.as_json:
                print_json({"sandbox": box.id, "port": number})
            else:
                click.echo(f"port {number} in sandbox {box.id} leads to {bind}:{local}")

        await forward_port_back(box, inside, bind, local, announce)

    target.run(work)


async def forward_port_back(box: Sandbox, inside: int, bind: str, local: int, announce: Callable[[int], None]) -> None:
    """Forward connections from programs in the sandbox to a port on this machine until cancelled.

    Args:
        box: The sandbox.
        inside: The port in the sandbox; 0 means a free port.
        bind: The address on this machine.
        local: The port at this address.
        announce: Called with the port in the sandbox once it is open.

    Raises:
        HawseError: The port in the sandbox is in use, or the listening call has ended.
    """

    async def serve(incoming: PortIncoming) -> None:
        writer: asyncio.StreamWriter | None = None
        try:
            reader, writer = await asyncio.open_connection(bind, local, limit=CHUNK)
            await _pass(box.ports.accept(incoming), reader, writer)
        except* (HawseError, OSError) as errors:
            click.echo(f"a connection to {bind}:{local} ended: {first(errors)}", err=True)
            if writer is None:
                with suppress(HawseError):
                    async with box.ports.accept(incoming):
                        pass  # accepting and closing the connection resets it for the program
        finally:
            if writer is not None:
                writer.transport.abort()

    ended: HawseError | None = None
    try:
        async with box.ports.listen(inside) as listener, asyncio.TaskGroup() as tasks:
            announce(listener.port)
            async for incoming in listener:
                tasks.create_task(serve(incoming))
    except* HawseError as errors:
        ended = first(errors)
    if ended is not None:
        raise ended


async def _pass(stream: PortConnection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward bytes in both directions. If one end closes its direction, the other direction stays open."""
    async with stream, asyncio.TaskGroup() as tasks:

        async def upstream() -> None:
            while data := await reader.read(CHUNK):
                await stream.write(data)
            await stream.end()

        async def downstream() -> None:
            while data := await stream.read():
                writer.write(data)
                await writer.drain()
            with suppress(OSError):
                writer.write_eof()

        tasks.create_task(upstream())
        tasks.create_task(downstream())
