"""Limits the messages waiting for a client: results cost no credit, so a client that reads may get many at once.

Up to `Limits.backlog` bytes may always wait. More may wait while the client reads, within a budget of all clients.
"""

import asyncio
from collections.abc import Callable
from typing import Final

STALL_TIMEOUT = 10.0  # s for a client with more than `Limits.backlog` bytes to read something
SHARED: Final = 128 << 20  # bytes for all clients together: 300 large terminal screens


class BacklogBudget:
    """The bytes beyond `Limits.backlog` that wait for clients."""

    def __init__(self, total: int = SHARED) -> None:
        self._total = total
        self._held: dict[object, int] = {}

    @property
    def held(self) -> int:
        return sum(self._held.values())

    def hold(self, owner: object, size: int) -> bool:
        """Set the amount that `owner` holds to `size` bytes; return False without a change if there is no room for
        it."""
        if not size:
            self._held.pop(owner, None)
            return True
        if self.held - self._held.get(owner, 0) + size > self._total:
            return False
        self._held[owner] = size
        return True


class Backlog:
    """The backlog of one client. Call `close` at the end."""

    def __init__(self, budget: BacklogBudget, limit: int, overdue: Callable[[], None]) -> None:
        """Create an empty backlog.

        Args:
            budget: Shared by all clients.
            limit: Bytes that can always wait.
            overdue: Called when the client has read nothing for `STALL_TIMEOUT` seconds while more than `limit` waits.
        """
        self.exceeded = False  # whether more than `limit` waits: the client's next messages are then not read
        self._budget = budget
        self._limit = limit
        self._overdue = overdue
        self._timer: asyncio.TimerHandle | None = None

    def update(self, pending: int, *, progress: bool) -> bool:
        """Record that `pending` bytes wait; return whether they are allowed to.

        Args:
            pending: Bytes of messages waiting for the client.
            progress: Whether the client has read something since the last call.
        """
        if pending <= self._limit and not self.exceeded:
            return True  # the usual case, after each write
        self.exceeded = pending > self._limit
        if self._timer is not None and (progress or not self.exceeded):
            self._timer.cancel()
            self._timer = None
        if self.exceeded and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(STALL_TIMEOUT, self._overdue)
        return self._budget.hold(self, max(0, pending - self._limit))

    def close(self) -> None:
        self.update(0, progress=True)
