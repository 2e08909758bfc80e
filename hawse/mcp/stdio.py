"""MCP on standard input and output, for agents that start the server themselves."""

import os
import stat
import sys
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

from hawse.client import Sandbox
from hawse.mcp.server import make_server
from hawse.mcp.tool import ServerOptions

READ_SIZE: Final = 256 << 10  # maximum number of bytes per read


async def serve_stdio(box: Sandbox, options: ServerOptions) -> None:
    """Serve one client until it closes standard input.

    Args:
        box: The sandbox the tools work in.
        options: The tools to offer, and limits.
    """
    server = make_server(lambda _: box, options)
    # The library's reader is not used, because it runs in a thread, which signals cannot interrupt.
    lines = cast("Any", _lines(sys.stdin.fileno()))
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _lines(fd: int) -> AsyncIterator[str]:
    """Iterate over lines of input. Cancelling takes effect immediately, even while waiting for a line."""
    mode = os.fstat(fd).st_mode
    blocks = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)
    rest = bytearray()
    while True:
        if blocks:
            await anyio.wait_readable(fd)
        data = os.read(fd, READ_SIZE)
        *lines, end = data.split(b"\n")
        for line in lines:
            yield (rest + line).decode(errors="replace")
            rest.clear()
        rest += end
        if not data:
            break
    if rest:
        yield rest.decode(errors="replace")
