"""MCP on standard input and output, as agents start a server."""

from mcp.server.stdio import stdio_server

from hawse.client import Sandbox
from hawse.mcp.server import make_server
from hawse.mcp.tool import ServerOptions


async def serve_stdio(box: Sandbox, options: ServerOptions) -> None:
    """Serve one client, until it closes its end.

    Args:
        box: The sandbox that the tools work in.
        options: What the server offers.
    """
    server = make_server(lambda _: box, options)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
