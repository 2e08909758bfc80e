"""Serializes work and takes turns between callers."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from hawse.wire import HawseError

WAITING_EACH: Final = 256  # waiting calls of one caller: each can return up to 1 MiB


class CallerTurns:
    """A lock with one queue for each caller. A caller waits for at most one call of each other caller."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by caller, in the order of their turns

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn of `caller`; it lasts until the end of the `with` block.

        Raises:
            HawseError: `limit_exceeded` if too many of its calls are waiting.
        """
        if self._taken:
            await self._wait(caller)
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, caller: str) -> None:
        waiting = self._waiting.setdefault(caller, deque())
        if len(waiting) >= WAITING_EACH:
            message = f"{WAITING_EACH} calls of {caller!r} wait for long work, which is the limit"
            raise HawseError("limit_exceeded", message)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Hand the turn to the next caller. It stays taken until that caller runs."""
        while self._waiting:
            caller, waiting = next(iter(self._waiting.items()))
            turn = waiting.popleft()
            del self._waiting[caller]
            if waiting:
                self._waiting[caller] = waiting  # behind all other callers
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False
