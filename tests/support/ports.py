"""Programs of the sandbox that listen on a port, and channels to them."""

import shlex
import sys
from typing import Any

from tests.support import peers
from tests.support.runtime import Channel, Client


async def listening(client: Client, *words: str) -> int:
    """Start a program of tests/support/peers.py in the sandbox; return its port."""
    argv = shlex.join([sys.executable, peers.__file__, *words])
    program = client.execute(f"exec {argv}")
    await program.seen(b"\n")
    return int(program.output)


async def connected(client: Client, port: int, **options: Any) -> Channel:
    """Open a channel to a port; return it when the runtime has connected."""
    channel = client.call("port.connect", {"port": port}, **options)
    await channel.event("opened")
    return channel
