"""A few slots for long work, given to users in turn: no matter how much one user requests, another waits for one
job."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

SIGN: Final = 10.0  # s between progress signals of waiting work


class FairTurns:
    """Slots for work. A user gets all but one of them at most, so that another user can always start soon.

    Args:
        places: The number of jobs that run at the same time.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._of_each = max(1, places - 1)
        self._running: Counter[str] = Counter()  # by user
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by user, in order of their turns

    @asynccontextmanager
    async def turn(self, user: str, moved: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Wait for a slot, and hold it until the block ends.

        Args:
            user: The id of the user.
            moved: Called every `SIGN` seconds while waiting, because waiting is not a stall.
        """
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
        """Give free slots to waiting users, each in turn."""
        for user in list(self._waiting):
            if self._running.total() >= self._places:
                return
            if self._running[user] < self._of_each:
                granted = self._waiting[user][0]
                self._forget(user, granted)
                if waiting := self._waiting.pop(user, None):
                    self._waiting[user] = waiting  # after all other users
                self._running[user] += 1
                granted.set_result(None)
        self._running += Counter()  # removes users without work

    def _forget(self, user: str, granted: asyncio.Future[None]) -> None:
        waiting = self._waiting[user]
        waiting.remove(granted)
        if not waiting:
            del self._waiting[user]
