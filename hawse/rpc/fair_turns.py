"""Limits concurrent work. Users take turns, so that no user blocks another."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from hawse.wire import HawseError

SIGN: Final = 10.0  # seconds between progress reports while waiting


class FairTurns:
    """A semaphore with one queue per user. If there is more than one place, no single user can hold all of them.

    Args:
        places: Maximum number of concurrent holders.
        waiting_each: Maximum number of waiting calls per user; None means unlimited.
    """

    def __init__(self, places: int, waiting_each: int | None = None) -> None:
        self._places = places
        self._of_each = max(1, places - 1)
        self._waiting_each = waiting_each
        self._running: Counter[str] = Counter()  # by user
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # keyed by user, in the order of their turns

    @asynccontextmanager
    async def turn(self, user: str, moved: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Wait for a place, and hold it until the end of the `with` block.

        Args:
            user: The user's id.
            moved: Called every `SIGN` seconds while waiting, to show progress.

        Raises:
            HawseError: `limit_exceeded` if too many of the user's calls are waiting.
        """
        waiting = self._waiting.get(user, ())
        if self._waiting_each is not None and len(waiting) >= self._waiting_each:
            message = f"{self._waiting_each} calls of {user!r} are waiting for long work, which is the limit"
            raise HawseError("limit_exceeded", message)
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(granted)
        self._grant()
        try:
            while not granted.done():
                moved()
                await asyncio.wait([granted], timeout=SIGN)
            yield
        finally:
            if granted.done():
                self._running[user] -= 1
            else:
                self._forget(user, granted)
            self._grant()

    def _grant(self) -> None:
        """Assign free places to waiting users in turn."""
        for user in list(self._waiting):
            if self._running.total() >= self._places:
                return
            if self._running[user] < self._of_each:
                waiting = self._waiting.pop(user)
                granted = waiting.popleft()
                if waiting:
                    self._waiting[user] = waiting  # moves this user to the end of the queue
                self._running[user] += 1
                granted.set_result(None)
        self._running += Counter()  # removes users that have no calls running

    def _forget(self, user: str, granted: asyncio.Future[None]) -> None:
        waiting = self._waiting[user]
        waiting.remove(granted)
        if not waiting:
            del self._waiting[user]
