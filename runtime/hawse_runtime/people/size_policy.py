"""Chooses a terminal's size: the size that fits the *decider*, the participant who last typed, received focus or
claimed the size.

Changes are rate-limited. Changes by the same decider, as when a window is being resized, happen at most once every
`SETTLE` seconds. Changes by different deciders, as when two people take turns typing, happen at most once every
`SWITCH` seconds. Later requests don't extend the delay, and the last request is always applied.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from hawse_runtime.people.presence import ViewerPresence

SETTLE: Final = 0.1  # minimum number of seconds between changes by the same decider
# Minimum number of seconds between changes by different deciders.
SWITCH: Final = 1.0

Size = tuple[int, int]


class SizePolicy:
    """A terminal's size policy. Its methods are not called for read-only viewers."""

    def __init__(self, current: Callable[[], Size], apply: Callable[[int, int], None]) -> None:
        """Create the policy, without a decider.

        Args:
            current: Returns the size of the terminal as (columns, rows).
            apply: Sets the size of the terminal.
        """
        self._current = current
        self._apply = apply
        self._fits: dict[ViewerPresence, Size] = {}  # ordered by last activity; the decider comes last
        self._changed_at = float("-inf")
        self._changed_by: ViewerPresence | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def decider(self) -> ViewerPresence | None:
        return next(reversed(self._fits), None)

    def set_fit(self, participant: ViewerPresence, size: Size) -> None:
        """Set the size that fits `participant`. A participant that was never active becomes the decider only if it is
        the only one.
        """
        if participant in self._fits:
            self._fits[participant] = size
        else:
            self._fits = {participant: size, **self._fits}
        self._apply_when_due()

    def mark_active(self, participant: ViewerPresence) -> None:
        """Make `participant` the decider if its size is known. Called when the participant types, receives focus or
        claims the size.
        """
        size = self._fits.pop(participant, None)
        if size is not None:
            self._fits[participant] = size
            self._apply_when_due()

    def remove(self, participant: ViewerPresence) -> None:
        """Remove `participant`. If it was the decider, the next most recently active participant takes over."""
        if self._fits.pop(participant, None) is not None:
            self._apply_when_due()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _apply_when_due(self) -> None:
        self.close()
        decider = self.decider
        if decider is None or self._fits[decider] == self._current():
            return
        loop = asyncio.get_running_loop()
        due = self._changed_at + (SETTLE if decider is self._changed_by else SWITCH)
        if loop.time() < due:
            self._timer = loop.call_at(due, self._apply_when_due)
            return
        self._changed_at, self._changed_by = loop.time(), decider
        self._apply(*self._fits[decider])
