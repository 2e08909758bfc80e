"""Keeps the screens that agents have seen, so that only the rows changed since then need to be returned."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple

SCREENS_SIZE: Final = 4 << 20  # maximum size of the screens to remember, in characters
ROWS_MAX: Final = 500  # larger screens are always returned whole


class Changes(NamedTuple):
    """The difference between two screens.

    Attributes:
        scrolled: How many rows the text has moved up.
        rows: The rows that have changed, keyed by their number, starting at 1.
    """

    scrolled: int
    rows: dict[int, str]


class Screens:
    """The latest screens, keyed by the terminal's instance and the offset in its output. All callers can share them,
    because an offset identifies at most one screen, and the agent passes the offset of the screen it has seen.
    """

    def __init__(self, limit: int = SCREENS_SIZE) -> None:
        """Create an empty table. `limit` is the maximum total size of the screens, in characters."""
        self._limit = limit
        self._size = 0
        self._screens: OrderedDict[tuple[str, int], tuple[str, ...]] = OrderedDict()

    def add(self, instance: str, offset: int, rows: Sequence[str]) -> None:
        """Remember a screen. The oldest screens are forgotten.

        If a different screen is already known for this offset, as after a resize, the offset becomes unknown, because
        callers may have seen either screen.
        """
        key, screen = (instance, offset), tuple(rows)
        known = self._screens.pop(key, None)
        if known is not None:
            self._size -= _size(known)
        if len(screen) > ROWS_MAX or known not in (None, screen):
            screen = ()  # matches no screen
        self._screens[key] = screen
        self._size += _size(screen)
        while self._size > self._limit:
            self._size -= _size(self._screens.popitem(last=False)[1])

    def changes(self, instance: str, since: int, rows: Sequence[str]) -> Changes | None:
        """Return the rows that have changed since offset `since`.

        None if most have changed, or the screen at `since` is unknown."""
        before = self._screens.get((instance, since))
        if before is None or len(before) != len(rows):
            return None
        scrolled = max(range(len(rows)), key=lambda count: _kept(before, rows, count), default=0)
        moved = [*before[scrolled:], *[""] * scrolled]
        changed = {number: row for number, (old, row) in enumerate(zip(moved, rows, strict=True), 1) if old != row}
        return Changes(scrolled, changed) if 2 * len(changed) <= len(rows) else None


def _kept(before: Sequence[str], rows: Sequence[str], scrolled: int) -> int:
    """Return the number of rows with text that are the same after scrolling."""
    return sum(old == row != "" for old, row in zip(before[scrolled:], rows, strict=False))


def _size(rows: Sequence[str]) -> int:
    return sum(map(len, rows)) + 100 * (len(rows) + 1)
