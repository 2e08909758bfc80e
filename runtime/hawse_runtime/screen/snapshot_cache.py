"""Keeps snapshots of all terminals until they have been sent to viewers, bounded in bytes.

Viewers that need the same snapshot share it. When the cache is full, the viewer that has been idle the longest loses
its snapshot. It gets a new one when it takes bytes again.
"""

from collections import Counter, OrderedDict
from typing import Protocol

import msgspec

from hawse.wire import HawseError

CACHE_BYTES = 32 << 20  # fifty full scrollbacks with 80 columns


class CachedSnapshot(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """VT bytes that paint a screen of this size. The output continues it from `offset` on."""

    data: bytes
    offset: int
    cols: int
    rows: int
    next_mark: int


class SnapshotHolder(Protocol):
    @property
    def lossless(self) -> bool:
        """Whether it must receive all output, so that a newer snapshot cannot replace its own."""
        ...

    def lose_snapshot(self) -> None:
        """Called when its snapshot was evicted."""


class SnapshotCache:
    """A least-recently-read cache of pending snapshots."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        """`limit` is in bytes. A larger snapshot is accepted if it is the only one."""
        self.limit = limit
        self.held = 0  # bytes
        self._sent: OrderedDict[SnapshotHolder, tuple[CachedSnapshot, int]] = (
            OrderedDict()
        )  # least recently read first, with the number of bytes taken
        self._copies: Counter[CachedSnapshot] = Counter()

    def put(self, holder: SnapshotHolder, snapshot: CachedSnapshot) -> None:
        """Keep `snapshot` for `holder`. Raises `limit_exceeded` if snapshots of lossless viewers fill the cache."""
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
                "limit_exceeded", "snapshot memory limit reached: too many viewers have not read their snapshots"
            )

    def holds(self, holder: SnapshotHolder) -> bool:
        return holder in self._sent

    def take(self, holder: SnapshotHolder, size: int) -> tuple[int, memoryview]:
        """Return the offset and the next `size` bytes of a holder's snapshot, which is dropped after its last byte."""
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
