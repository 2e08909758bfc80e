"""One of a process's output streams: a pipe, the bytes kept in memory and on disk, and its readers' cursors."""

from collections.abc import Callable

from hawse.api.processes import KeptRange
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.backpressure import Backpressure
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import Spill, SpillStore
from hawse_runtime.posix.fd_streams import FdReader
from hawse_runtime.posix.orphaned_pipes import OrphanedPipes

DRAIN_LIMIT = 1 << 20  # maximum number of bytes read after the program has exited; the capacity of a pipe


class KeptStream:
    """A stream's output, kept in memory and optionally on disk. The owner appends to `journal`."""

    def __init__(
        self,
        journal: Journal,
        pause: Callable[[], None],
        resume: Callable[[], None],
        store: SpillStore | None = None,
    ) -> None:
        """Create a stream for output appended to `journal`.

        Args:
            journal: Holds the latest bytes in memory.
            pause: Pauses the output if the readers or the disk fall behind.
            resume: Resumes output paused by `pause`.
            store: Stores older bytes on disk. Without a store, they are lost.
        """
        self.journal = journal
        # With a store, a held position may be further behind, because a reconnected reader reads old bytes from disk.
        hold_room = store.limits.each // 2 if store is not None else None
        self.pacer = Backpressure(journal, pause, resume, hold_room)
        self.spill = Spill(store, journal, WeakCallback(self.pacer.advanced)) if store is not None else None
        if self.spill is not None:
            self.pacer.add(self.spill, follows=True, stores=True)

    @property
    def end(self) -> int:
        return self.journal.end

    def first_at(self, offset: int) -> int:
        """Return the first available offset at or after `offset`."""
        start = self.journal.start
        if offset >= start or self.spill is None:
            return max(offset, start)
        on_disk = self.spill.first_at(offset)
        return start if on_disk is None else min(on_disk, start)

    def describe(self) -> KeptRange:
        return KeptRange(start=self.first_at(0), offset=self.end)

    def appended(self) -> None:
        """Handle new bytes in the journal by moving old bytes to disk and, if necessary, pausing the output."""
        if self.spill is not None:
            self.spill.update()
        self.pacer.update()

    def finish(self) -> None:
        """Record the end of the output."""
        self.pacer.close()
        if self.spill is not None:
            self.spill.finish()
        self.journal.seal()

    def forget(self) -> None:
        """Delete the bytes on disk. After that, no readers can be added."""
        if self.spill is not None:
            self.spill.close()


class OutputStream(KeptStream):
    """A process's stdout or stderr, read from a pipe."""

    def __init__(
        self,
        fd: int,
        journal: Journal,
        changed: Callable[[], None],
        store: SpillStore | None = None,
        orphaned_pipes: OrphanedPipes | None = None,
    ) -> None:
        """Start reading a pipe into a journal.

        Args:
            fd: The read end of the pipe. This object closes it.
            journal: Holds the latest bytes in memory.
            changed: Called on new output and at the end of the output.
            store: Stores older bytes on disk. Without a store, they are lost.
            orphaned_pipes: Drains the pipe if background children outlive the program. With None, the pipe is closed
                instead.
        """
        self._inlet = FdReader(fd, WeakCallback(self._read), changed, journal.portion, journal.keystrokes)
        super().__init__(journal, self._inlet.pause, self._inlet.resume, store)
        self._changed = changed
        self._orphaned_pipes = orphaned_pipes

    def finish(self) -> None:
        """Read the remaining output from the pipe. Then close the pipe or pass it to `orphaned_pipes`."""
        self._inlet.drain(DRAIN_LIMIT)
        if not self._inlet.ended and self._orphaned_pipes is not None:
            self._orphaned_pipes.take(self._inlet.fd)
        self._inlet.close()
        super().finish()

    def _read(self, data: bytes) -> None:
        self.journal.append(data)
        self._changed()
        self.appended()


class StreamCursor:
    """A reader's position in a stream. `arrived` is called whenever bytes have been read from disk."""

    lossless = True

    def __init__(
        self, stream: KeptStream, since: int, arrived: Callable[[], None], *, limit: int | None = None
    ) -> None:
        """Create a cursor. `limit` is the offset where this reader stops; it never delays output beyond that."""
        self.stream = stream
        self.offset = since  # the offset of the next byte
        self._limit = limit
        self._arrived = arrived
        self._block = b""  # bytes read from disk, starting at offset `_block_at`
        self._block_at = 0
        self._fetching = False
        self._closed = False

    @property
    def cursor(self) -> int | None:
        """The offset for backpressure. None while reading from disk, unless the bytes would soon be deleted."""
        if self.full:
            return self.stream.end
        spill = self.stream.spill
        if spill is not None and self.offset < self.stream.journal.start:
            return self.offset if self.stream.end - self.offset > spill.limit // 2 else None
        return self.offset

    @property
    def full(self) -> bool:
        """Whether the cursor has reached its limit."""
        return self._limit is not None and self.offset >= self._limit

    @property
    def at_end(self) -> bool:
        return self.offset >= self.stream.end or self.full

    @property
    def cut(self) -> bool:
        """Whether the output extends beyond the cursor's limit."""
        return self._limit is not None and self.stream.end > self._limit

    def lost(self) -> bool:
        """Skip bytes that have been dropped. Return whether any were skipped."""
        if self.full:
            return False
        first = self.stream.first_at(self.offset)
        lost = first > self.offset
        self.offset = first
        return lost

    def look(self, size: int) -> bytes | memoryview:
        """Return up to `size` bytes, valid until more output arrives, or none while they are being read from disk."""
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
        """Advance by `size` bytes."""
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
