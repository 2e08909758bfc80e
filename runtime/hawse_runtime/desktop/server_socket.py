"""Connecting to the Unix socket of an X server, whose queue of new connections is short."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

RETRY: Final = 0.01  # seconds between two attempts to connect


async def connected(connect: Callable[[], Awaitable[T]]) -> T:
    """Return what `connect` returns, as soon as there is room in the server's queue of new connections.

    The queue of an X server has 5 places. There is no limit of the time; the caller sets one. `connect` has to raise
    `BlockingIOError` if it is full, as the event loop of the runtime (uvloop) does.
    """
    while True:
        try:
            return await connect()
        except BlockingIOError:  # nothing tells when there is room
            await asyncio.sleep(RETRY)
