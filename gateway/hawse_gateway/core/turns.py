"""Splits long work on the event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Final, TypeVar

TURN: Final = 500  # number of items to handle without letting other tasks run

T = TypeVar("T")


async def turns(items: Iterable[T], size: int = TURN) -> AsyncIterator[list[T]]:
    """Yield the current items in lists of at most `size`, and let other tasks run after each list."""
    remaining = iter(list(items))
    while turn := list(islice(remaining, size)):
        yield turn
        await asyncio.sleep(0)
