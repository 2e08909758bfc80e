"""Divides work on many items: on the event loop, or among several tasks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from itertools import islice
from typing import Final, TypeVar

TURN: Final = 500  # number of items to handle before letting other tasks run

T = TypeVar("T")


async def turns(items: Iterable[T], size: int = TURN) -> AsyncIterator[list[T]]:
    """Yield the current items in lists of at most `size`, and let other tasks run after each list."""
    remaining = iter(list(items))
    while turn := list(islice(remaining, size)):
        yield turn
        await asyncio.sleep(0)


async def concurrently(items: Iterable[T], work: Callable[[T], Awaitable[None]], limit: int) -> None:
    """Call `work` for each item, for at most `limit` items at the same time.

    If it fails for an item, continue with the others, and then raise the first error.
    """
    remaining, errors = iter(list(items)), list[Exception]()

    async def take() -> None:
        for item in remaining:
            try:
                await work(item)
            except Exception as error:
                errors.append(error)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(limit):
            tasks.create_task(take())
    if errors:
        raise errors[0]
