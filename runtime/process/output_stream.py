"""One stream of a process's output: the pipe, what is kept of it in memory and on disk, and places in it."""

from collections.abc import Callable

from hawse.api.processes import KeptRange
from runtime.core.weak_callback import WeakCallback
from runtime.journal.backpressure import Backpressure
from runtime.journal.journal import Journal
from runtime.journal.spill import Spill, SpillStore
from runtime.posix.fd_streams import FdReader
from runtime.posix.orphaned_pipes import OrphanedPipes

LAST_WORDS = 1 << 20  # bytes read after the program's end: the most a pipe holds


class OutputStream:
    """stdout or stderr. With a `store`, what leaves the journal stays readable on disk."""

    def __init__(
        self,
        fd: int,
        journal: Journal,
        changed: Callable[[], None],
        store: SpillStore | None = None,
        leftovers: OrphanedPipes | None = None,
    ) -> None:
        """`leftovers`: who goes on reading when the program has ended, and its children have not."""
        self.journal = journal
        self._inlet = FdReader(fd, journal.append, WeakCallback(self._burst_over), changed, journal.portion)
        hold_room = store.limits.each // 2 if store is not None else None  # who comes back finds it on the disk
        self.pacer = Backpressure(journal, self._inlet.pause, self._inlet.resume, hold_room)
        self.spill = Spill(store, journal, WeakCallback(self.pacer.advanced)) if store is not None else None
        if self.spill is not None:
            self.pacer.add(self.spill, follows=True)
        self._changed = changed
        self._leftovers = leftovers

    @property
    def end(self) -> int:
        return self.journal.end

    def first_at(self, offset: int) -> int:
        """The first offset from `offset` on of which the byte is kept."""
        start = self.journal.start
        if offset >= start or self.spill is None:
            return max(offset, start)
        on_disk = self.spill.first_at(offset)
        return start if on_disk is None else min(on_disk, start)

    def describe(self) -> KeptRange:
        return KeptRange(start=self.first_at(0), offset=self.end)

    def finish(self) -> None:
        """The program has ended: take what it left, and let go of a pipe that its children may still hold."""
        self._inlet.drain(LAST_WORDS)
        if not self._inlet.ended and self._leftovers is not None:
            self._leftovers.take(self._inlet.fd)
        self._inlet.close()
        self.pacer.close()
        if self.spill is not None:
            self.spill.finish()
        self.journal.seal()

    def forget(self) -> None:
        """Nobody will read it any more."""
        if self.spill is not None:
            self.spill.close()

    def _burst_over(self) -> None:
        self._changed()
        if self.spill is not None:
            self.spill.update()
        self.pacer.update()


class StreamCursor:
    """A place in a stream, of somebody who reads on from there. `arrived` is called when bytes came from the disk."""

    lossless = True

    def __init__(
        self, stream: OutputStream, since: int, arrived: Callable[[], None], *, limit: int | None = None
    ) -> None:
        """`limit`: the offset at which reading ends; what comes after it holds nobody up."""
        self.stream = stream
        self.offset = since  # of the next byte to be taken
        self._limit = limit
        self._arrived = arrived
        self._block = b""  # read from the disk, of which the first byte is at `_block_at`
        self._block_at = 0
        self._fetching = False
        self._closed = False

    @property
    def cursor(self) -> int | None:
        """What the pacer sees. Who reads old output from the disk holds nobody up, unless it is about to be outrun."""
        if self.full:
            return self.stream.end
        spill = self.stream.spill
        if spill is not None and self.offset < self.stream.journal.start:
            return self.offset if self.stream.end - self.offset > spill.limit // 2 else None
        return self.offset

    @property
    def full(self) -> bool:
        """It has as much as it wants, and there is more."""
        return self._limit is not None and self.offset >= self._limit

    @property
    def at_end(self) -> bool:
        return self.offset >= self.stream.end or self.full

    @property
    def cut(self) -> bool:
        """There was more than it wanted."""
        return self._limit is not None and self.stream.end > self._limit

    def lost(self) -> bool:
        """Go over what is no longer kept and still wanted; return whether there was any."""
        if self.full:
            return False
        first = self.stream.first_at(self.offset)
        lost = first > self.offset
        self.offset = first
        return lost

    def look(self, size: int) -> bytes | memoryview:
        """Up to `size` bytes from here, valid until more output comes; none if they are still to come from disk."""
        if self._limit is not None:
            size = min(size, self._limit - self.offset)
        if self.offset >= self.stream.journal.start:
            self._block = b""
            return self.stream.journal.read(self.offset, size)
        at = self.offset - self._block_at
        if 0 <= at < len(self._block):
            return memoryview(self._block)[at : at + size]
        if not self._fetching and self.stream.spill is not None:
            self._fetching, self._block, self._block_at = True, b"", self.offset
            self.stream.spill.fetch(self.offset, self._fetched)
        return b""

    def take(self, size: int) -> None:
        """Go on over bytes that were looked at."""
        self.offset += size
        self.stream.pacer.update()

    def close(self) -> None:
        self._closed = True
        self._block = b""

    def _fetched(self, block: bytes) -> None:
        self._fetching = False
        if not self._closed:
            self._block = block
            self._arrived()
