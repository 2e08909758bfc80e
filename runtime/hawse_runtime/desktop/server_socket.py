"""Connects to an X server's Unix socket, whose queue of new connections is short."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

RETRY: Final = 0.01  # seconds between two attempts to connect


async def connected(connect: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `connect`, as soon as the server's queue has room for a new connection.

    The queue of an X server has 5 places. The caller sets a time limit. `connect` must raise `BlockingIOError` if the
    queue is full, as the runtime's event loop (uvloop) does.
    """
    while True:
        try:
            return await connect()
        except BlockingIOError:  # there is no notification of free room
            await asyncio.sleep(RETRY)
