"""Connects to the Unix socket of an X server, whose queue for new connections is short."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

RETRY: Final = 0.01  # seconds between connection attempts


async def connected(connect: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `connect` as soon as the server's queue has room for a new connection.

    The queue of an X server holds 5 connections. The caller sets a time limit. `connect` must raise `BlockingIOError`
    if the queue is full, as the runtime's event loop (uvloop) does.
    """
    while True:
        try:
            return await connect()
        except BlockingIOError:  # the system does not report when the queue has room
            await asyncio.sleep(RETRY)
