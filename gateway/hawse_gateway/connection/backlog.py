"""Limits the number of bytes waiting for a client. Credit isn't enough for this, because results use no credit.

Up to `Limits.backlog` bytes can be waiting for each client. A client that keeps reading can exceed this limit, within a
budget shared by all clients.
"""

import asyncio
from collections.abc import Callable
from typing import Final

STALL_TIMEOUT = 10.0  # seconds within which a client above `Limits.backlog` must read something
SHARED: Final = 128 << 20  # size of the shared budget in bytes: 300 large terminal screens


class BacklogBudget:
    """The shared budget for bytes above `Limits.backlog`."""

    def __init__(self, total: int = SHARED) -> None:
        self._total = total
        self._held: dict[object, int] = {}

    @property
    def held(self) -> int:
        return sum(self._held.values())

    def hold(self, owner: object, size: int) -> bool:
        """Set `owner`'s share to `size` bytes. If the budget would be exceeded, change nothing and return False."""
        if not size:
            self._held.pop(owner, None)
            return True
        if self.held - self._held.get(owner, 0) + size > self._total:
            return False
        self._held[owner] = size
        return True


class Backlog:
    """One client's backlog. Call `close` after use."""

    def __init__(self, budget: BacklogBudget, limit: int, overdue: Callable[[], None]) -> None:
        """Create an empty backlog.

        Args:
            budget: The budget shared by all clients.
            limit: The number of bytes that can be waiting without using the budget.
            overdue: Called when the client has read nothing for `STALL_TIMEOUT` seconds while above `limit`.
        """
        self.exceeded = False  # whether the backlog is above `limit` and reading from the client is therefore paused
        self._budget = budget
        self._limit = limit
        self._overdue = overdue
        self._timer: asyncio.TimerHandle | None = None

    def update(self, pending: int, *, progress: bool) -> bool:
        """Update the size of the backlog. Return whether the size is allowed.

        Args:
            pending: The size of the messages waiting for the client, in bytes.
            progress: Whether the client has read something since the last call.
        """
        if pending <= self._limit and not self.exceeded:
            return True  # the usual case: the backlog is small
        self.exceeded = pending > self._limit
        if self._timer is not None and (progress or not self.exceeded):
            self._timer.cancel()
            self._timer = None
        if self.exceeded and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(STALL_TIMEOUT, self._overdue)
        return self._budget.hold(self, max(0, pending - self._limit))

    def close(self) -> None:
        self.update(0, progress=True)
