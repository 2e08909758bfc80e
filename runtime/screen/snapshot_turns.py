"""Spreads snapshots over the turns of the event loop: one takes 10 to 30 ms, in which the runtime does nothing else.

Without it, the viewers of 50 terminals that attach at once would hold up everything else for a second.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol


class SnapshotTaker(Protocol):
    """Asks again when it is woken, if it still needs a snapshot."""

    def wake(self) -> None: ...


class SnapshotTurns:
    """Allows one snapshot in each turn of the event loop, in the order in which they were asked for."""

    def __init__(self, call_soon: Callable[[Callable[[], object]], object] | None = None) -> None:
        """`call_soon`: runs a function in the next turn; None: that of the running event loop."""
        self._call_soon = call_soon
        self._taken = False  # in this turn
        self._waiting: dict[SnapshotTaker, None] = {}  # the first one asked first

    @property
    def waiting(self) -> int:
        """The number of those that will be woken."""
        return len(self._waiting)

    def take(self, taker: SnapshotTaker) -> bool:
        """Return whether `taker` may take a snapshot now. If not, it is woken in a later turn."""
        if self._taken:
            self._waiting[taker] = None
            return False
        self._taken = True
        self._waiting.pop(taker, None)
        self._schedule()
        return True

    def leave(self, taker: SnapshotTaker) -> None:
        """Forget that `taker` is waiting, if it is."""
        self._waiting.pop(taker, None)

    def _schedule(self) -> None:
        call_soon = self._call_soon or asyncio.get_running_loop().call_soon
        call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._taken = False
        while self._waiting and not self._taken:
            taker = next(iter(self._waiting))
            del self._waiting[taker]
            taker.wake()  # calls `take`, unless it cannot send now: then the next one may
