"""Connects to an X server's Unix socket, which has a short queue for new connections."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

RETRY: Final = 0.01  # seconds between connection attempts


async def connected(connect: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `connect` as soon as there is room for a new connection in the server's queue.

    An X server's queue holds 5 connections. The caller must set a time limit. `connect` must raise `BlockingIOError` if
    the queue is full, as the runtime's event loop (uvloop) does.
    """
    while True:
        try:
            return await connect()
        except BlockingIOError:  # the system doesn't report when there is room in the queue
            await asyncio.sleep(RETRY)
