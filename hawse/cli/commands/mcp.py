"""`hawse mcp`: serve a sandbox's tools to agents as an MCP server."""

import click

from hawse.cli.output import examples
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client.signals import run
from hawse.mcp.tool import OUTPUT_LIMIT, ServerOptions

MISSING = "the MCP library is not installed: pip install 'hawse[mcp]'"


class Listener(click.ParamType[tuple[str, int]]):
    """A `HOST:PORT`, or just a port on the loopback address."""

    name = "[HOST:]PORT"

    def convert(
        self, value: str | tuple[str, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, _, port = value.rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 65_536:
            self.fail(f"{value!r} is not [HOST:]PORT", param, ctx)
        return host.strip("[]") or "127.0.0.1", int(port)


@click.command(
    epilog=examples(
        "hawse mcp --sandbox build",
        "hawse mcp --http 8765",
    )
)
@click.option(
    "--http",
    "listener",
    type=Listener(),
    help="serve MCP over HTTP at this address instead of standard input and output",
)
@click.option("--every-method", is_flag=True, help="add a tool for each of the sandbox's methods")
@click.option(
    "--max-output",
    type=click.IntRange(1024, 1 << 20),
    default=OUTPUT_LIMIT,
    show_default=True,
    metavar="BYTES",
    help="maximum bytes of text in a tool's answer",
)
@target_options
def mcp(target: Target, listener: tuple[str, int] | None, every_method: bool, max_output: int) -> None:
    """Serve a sandbox's tools to an agent over the Model Context Protocol (MCP).

    By default, the server uses standard input and output, as agents expect. With --http, the address is
    http://HOST:PORT/mcp, and each client sends its own token as `Authorization: Bearer TOKEN` and gets that token's
    rights.
    """
    try:
        from hawse.mcp.http import serve_http
        from hawse.mcp.stdio import serve_stdio
    except ImportError as error:
        raise click.ClickException(MISSING) from error
    options = ServerOptions(every_method=every_method, limit=max_output)
    if listener is None:
        target.run(lambda _, box: serve_stdio(box, options))
        return
    host, port = listener
    click.echo(f"hawse: MCP at http://{f'[{host}]' if ':' in host else host}:{port}/mcp", err=True)
    run(serve_http(target.for_token, target.sandbox, host, port, options))
