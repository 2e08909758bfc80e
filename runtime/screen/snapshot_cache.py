"""The snapshots that viewers have not been sent yet, of all terminals: bounded in bytes, whoever stalls.

Viewers that need the same one share it. Where there are too many, the viewer that has taken nothing for the longest
time loses its own; it is given a new one when it takes bytes again.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Protocol

from hawse.wire import HawseError

CACHE_BYTES = 32 << 20  # fifty full scrollbacks of 80 columns


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class CachedSnapshot:
    """VT bytes that paint a screen of that size, to be followed by the output from `offset`."""

    data: bytes
    offset: int
    cols: int
    rows: int
    next_mark: int


class SnapshotHolder(Protocol):
    @property
    def lossless(self) -> bool:
        """Whether a new snapshot would leave out what it was promised."""
        ...

    def lose_snapshot(self) -> None: ...


class SnapshotCache:
    def __init__(self, limit: int = CACHE_BYTES) -> None:
        """`limit` in bytes. One snapshot may be larger, but then it is alone."""
        self.limit = limit
        self.held = 0  # bytes
        self._sent: OrderedDict[SnapshotHolder, tuple[CachedSnapshot, int]] = OrderedDict()  # who moved last is last
        self._copies: Counter[CachedSnapshot] = Counter()

    def put(self, holder: SnapshotHolder, snapshot: CachedSnapshot) -> None:
        """Keep it for `holder` from its first byte on. Raises `limit_exceeded` where lossless ones fill it."""
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
        """The next `size` bytes for `holder`, and where in its snapshot they stand. After the last it has none."""
        snapshot, at = self._sent[holder]
        part = memoryview(snapshot.data)[at : at + size]
        self._sent[holder] = snapshot, at + len(part)
        self._sent.move_to_end(holder)
        if at + len(part) == len(snapshot.data):
            self.drop(holder)
        return at, part

    def drop(self, holder: SnapshotHolder) -> None:
        """It wants no snapshot any more, if it has one."""
        snapshot, _ = self._sent.pop(holder, (None, 0))
        if snapshot is not None:
            self._copies[snapshot] -= 1
            if not self._copies[snapshot]:
                del self._copies[snapshot]
                self.held -= len(snapshot.data)
