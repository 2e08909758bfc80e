"""Reads and types at a terminal whose program is a flood (tests/support/flood.py), byte by byte."""

import asyncio

from hawse.client import Output, Snapshot, Terminal
from tests.support.flood import END


async def read_all(term: Terminal, seen: asyncio.Event | None = None, until: int = 0) -> bytes:
    """All output to the end, each byte at its offset; a snapshot would be a loss. `seen` is set at `until` bytes."""
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
    """Type numbered words until `done`, then the end mark; return all that was typed."""
    typed = bytearray()
    number = 0
    while not done.is_set():
        word = b"k%07d." % number
        await term.write(word)
        typed += word
        number += 1
        if number % 20 == 0:
            await term.flush()  # goes at the pace of the line
    await term.write(END)
    return bytes(typed + END)
