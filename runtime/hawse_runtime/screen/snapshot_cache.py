"""A size-limited cache that holds all terminals' snapshots until they have been sent to the viewers.

Viewers that need the same snapshot share it. When the cache is full, the viewer that has been idle longest loses its
snapshot, and gets a new one once it can receive data.
"""

from collections import Counter, OrderedDict
from typing import Protocol

import msgspec

from hawse.wire import HawseError

CACHE_BYTES = 32 << 20  # size in bytes; enough for about fifty snapshots of 80 columns with full scrollback


class CachedSnapshot(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """VT bytes that paint a screen of the given size. The output that follows them starts at `offset`."""

    data: bytes
    offset: int
    cols: int
    rows: int
    next_mark: int


class SnapshotHolder(Protocol):
    @property
    def lossless(self) -> bool:
        """Whether the holder must receive all output, so that its snapshot can't be replaced with a newer one."""
        ...

    def lose_snapshot(self) -> None:
        """Called when the holder's snapshot has been evicted."""


class SnapshotCache:
    """A cache for unsent snapshots that evicts the least recently read one."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        """Create a cache of `limit` bytes. A larger snapshot is accepted only if the cache is empty."""
        self.limit = limit
        self.held = 0  # total size in bytes
        self._sent: OrderedDict[SnapshotHolder, tuple[CachedSnapshot, int]] = (
            OrderedDict()
        )  # least recently read first, each with the number of bytes read
        self._copies: Counter[CachedSnapshot] = Counter()

    def put(self, holder: SnapshotHolder, snapshot: CachedSnapshot) -> None:
        """Store `snapshot` for `holder`. Raises `limit_exceeded` if snapshots of lossless viewers fill the cache."""
        self.drop(holder)
        self._sent[holder] = snapshot, 0
        self._copies[snapshot] += 1
        self.held += len(snapshot.data) if self._copies[snapshot] == 1 else 0
        for other in [] if self.held <= self.limit else list(self._sent):
            if self.held <= self.limit:
                break
            if other is not holder and not other.lossless:
                self.drop(other)
                other.lose_snapshot()
        if self.held > self.limit and len(self._sent) > 1:
            self.drop(holder)
            raise HawseError(
                "limit_exceeded", "snapshot memory limit reached: too many viewers are not reading their snapshots"
            )

    def holds(self, holder: SnapshotHolder) -> bool:
        return holder in self._sent

    def take(self, holder: SnapshotHolder, size: int) -> tuple[int, memoryview]:
        """Return the offset and next `size` bytes of a holder's snapshot, which is dropped after its last byte."""
        snapshot, at = self._sent[holder]
        part = memoryview(snapshot.data)[at : at + size]
        self._sent[holder] = snapshot, at + len(part)
        self._sent.move_to_end(holder)
        if at + len(part) == len(snapshot.data):
            self.drop(holder)
        return at, part

    def drop(self, holder: SnapshotHolder) -> None:
        """Drop the snapshot of `holder`, if any."""
        snapshot, _ = self._sent.pop(holder, (None, 0))
        if snapshot is not None:
            self._copies[snapshot] -= 1
            if not self._copies[snapshot]:
                del self._copies[snapshot]
                self.held -= len(snapshot.data)
