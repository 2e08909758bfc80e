"""Which size a terminal has: the one that fits whoever is in use of it, by the last key or focus.

A change by whoever decides already waits `SETTLE` after the last one (a window is being dragged), one by somebody else
`SWITCH` (two people type in turns). Neither slides: at most one change in that time, and the last wish always counts.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from runtime.people.presence import ViewerPresence

SETTLE: Final = 0.1  # s
SWITCH: Final = 1.0  # s

Size = tuple[int, int]


class SizePolicy:
    """Of one terminal. `current` tells its size, `apply` changes it. Read-only viewers have no business here."""

    def __init__(self, current: Callable[[], Size], apply: Callable[[int, int], None]) -> None:
        self._current = current
        self._apply = apply
        self._fits: dict[ViewerPresence, Size] = {}  # whoever was in use last is last
        self._changed_at = float("-inf")
        self._changed_by: ViewerPresence | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def decider(self) -> ViewerPresence | None:
        return next(reversed(self._fits), None)

    def fits(self, participant: ViewerPresence, size: Size) -> None:
        """That size fits `participant`. Whoever was never in use decides only while nobody else is there."""
        if participant in self._fits:
            self._fits[participant] = size
        else:
            self._fits = {participant: size, **self._fits}
        self._aim()

    def used(self, participant: ViewerPresence) -> None:
        """`participant` has typed, or turned to the terminal."""
        size = self._fits.pop(participant, None)
        if size is not None:
            self._fits[participant] = size
            self._aim()

    def left(self, participant: ViewerPresence) -> None:
        """Whoever was in use before decides."""
        if self._fits.pop(participant, None) is not None:
            self._aim()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _aim(self) -> None:
        self.close()
        decider = self.decider
        if decider is None or self._fits[decider] == self._current():
            return
        loop = asyncio.get_running_loop()
        due = self._changed_at + (SETTLE if decider is self._changed_by else SWITCH)
        if loop.time() < due:
            self._timer = loop.call_at(due, self._aim)
            return
        self._changed_at, self._changed_by = loop.time(), decider
        self._apply(*self._fits[decider])
