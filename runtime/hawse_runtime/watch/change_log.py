"""A log of changes, numbered from 1. Each reader has a cursor: the number of the last change that it has read."""

from collections import deque
from itertools import islice
from typing import NamedTuple

from hawse.api.watches import ChangeType, RescanReason, WatchedChange

KEPT = 10_000  # maximum number of changes kept
KEPT_BYTES = 4 << 20  # maximum total size of the changes' paths, in bytes
PART = 1000  # maximum number of changes per event
PART_BYTES = 256 << 10  # maximum total length of an event's paths, in characters; limits the size of the JSON


class ChangeLogEntry(NamedTuple):
    """A list of changes, at most one per path. `cursor` is the position for the next read."""

    changes: list[WatchedChange]
    cursor: int


class ChangeLog:
    """The latest changes. When change number n is read, the cursor advances from n - 1 to n."""

    def __init__(self) -> None:
        self.end = 0  # the cursor after the last change
        self._changes: deque[WatchedChange] = deque()
        self._size = 0
        self._overflow = 0  # the cursor just after the latest gap in the log, where changes were lost

    @property
    def start(self) -> int:
        """The lowest cursor with no changes missing after it."""
        return self.end - len(self._changes)

    def add(self, changes: list[WatchedChange]) -> None:
        for change in changes:
            self._changes.append(change)
            self._size += len(change.path)
        self.end += len(changes)
        while len(self._changes) > KEPT or self._size > KEPT_BYTES:
            self._size -= len(self._changes.popleft().path)

    def lose(self) -> None:
        """Record that changes were lost, leaving a gap."""
        self.end += 1
        self._overflow = self.end
        self._changes.clear()
        self._size = 0

    def missing(self, cursor: int) -> RescanReason | None:
        """Return why changes after `cursor` are unavailable, or None if all of them are in the log."""
        if cursor >= self.start:
            return None
        return "overflow" if cursor < self._overflow else "behind"

    def read(self, cursor: int) -> ChangeLogEntry:
        """Return the changes after `cursor` that fit into one event. There must be no gap after `cursor`."""
        merged: dict[str, WatchedChange] = {}
        size = 0
        for change in islice(self._changes, cursor - self.start, None):
            size += len(change.path)
            if len(merged) == PART or (merged and size > PART_BYTES):
                break
            cursor += 1
            merge(merged, change)
        return ChangeLogEntry(list(merged.values()), cursor)


def merge(known: dict[str, WatchedChange], change: WatchedChange) -> None:
    """Merge `change` into the pending changes. The path with the latest change comes last."""
    earlier = known.pop(change.path, None)
    kind = change.type if earlier is None else _SUM.get((earlier.type, change.type), change.type)
    known[change.path] = WatchedChange(kind, change.path, change.directory)


# The combination of two changes to a path, unless it is simply the second one. An entry that was added and then deleted
# may have replaced another, so the combination is `deleted`.
_SUM: dict[tuple[ChangeType, ChangeType], ChangeType] = {
    ("added", "modified"): "added",
    ("modified", "added"): "modified",
    ("deleted", "added"): "modified",
}
