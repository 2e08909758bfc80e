"""Reads from and types into a terminal that runs a flood (tests/support/flood.py), byte by byte."""

import asyncio

from hawse.client import Output, Snapshot, Terminal
from tests.support.flood import END


async def read_all(term: Terminal, seen: asyncio.Event | None = None, until: int = 0) -> bytes:
    """Return all output, each byte at its offset; a snapshot would be a loss. Set `seen` after `until` bytes."""
    output = bytearray()
    async for item in term.items():
        assert not isinstance(item, Snapshot)
        if isinstance(item, Output):
            assert item.offset == len(output)
            output += item.data
            if seen is not None and len(output) >= until:
                seen.set()
    return bytes(output)


async def type_numbers(term: Terminal, done: asyncio.Event) -> bytes:
    """Type numbered words until `done`, then the end mark; return everything typed."""
    typed = bytearray()
    number = 0
    while not done.is_set():
        word = b"k%07d." % number
        await term.write(word)
        typed += word
        number += 1
        if number % 20 == 0:
            await term.flush()  # waits for the connection
    await term.write(END)
    return bytes(typed + END)
