"""Spills process output that doesn't fit into memory to files of a few MiB. The oldest files are removed first.

A spill follows its stream's journal and writes bytes to disk before the ring buffer drops them. It pauses the program
only while half a ring buffer is waiting for the disk (docs/decisions/0030). Bytes that can't be written are skipped,
and readers are notified of the gap. One thread does all disk work in order, so that nothing is read before it has been
written, or written after it has been removed.
"""

import asyncio
import logging
import os
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.journal.journal import Journal

log = logging.getLogger(__name__)

READ_SIZE = 256 << 10  # bytes per read
AFTERWARDS = 256 << 10  # number of bytes kept in memory once a stream has ended


class SpillLimits(msgspec.Struct, frozen=True):
    """Limits on output stored on disk, in bytes."""

    total: int = 1 << 30  # limit for all streams together
    # Limit for each stream.
    each: int = 64 << 20
    segment: int = 4 << 20  # limit for each file, which can only be removed as a whole
    batch: int = 1 << 20  # number of bytes copied and written at a time


class SpillSegment:
    """A file that contains the bytes `[start, end)` of a stream."""

    def __init__(self, folder: Folder, name: str, start: int, spill: "Spill") -> None:
        self.folder = folder
        self.name = name
        self.start = start
        self.end = start
        self.spill = spill


class SpillStore:
    """The directory for spilled output, along with the total size of its files."""

    def __init__(self, pool: ThreadPool, folder: Folder | None = None, limits: SpillLimits = SpillLimits()) -> None:
        """Empty `folder` and take it over. No other code may use it.

        Args:
            pool: A pool with one thread, which runs work in the order it was submitted.
            folder: The directory; None creates a temporary one on demand.
            limits: The maximum sizes on disk.
        """
        self.limits = limits
        self.held = 0  # total size of the files in bytes
        self.closed = False
        self._folder = folder
        self._count = 0
        self._segments: dict[SpillSegment, None] = {}  # oldest first
        self._pool = pool
        self._pending: set[asyncio.Future[Any]] = set()
        if folder is not None:
            folder.remove()  # removes anything left behind by a killed runtime

    @property
    def files(self) -> int:
        """The number of files."""
        return len(self._segments)

    async def close(self) -> None:
        """Remove all files."""
        self.closed = True
        for work in list(self._pending):
            work.cancel()  # doesn't cancel work that has already started
        if self._folder is not None:
            await self._pool.run(self._folder.remove)  # runs after any work that has already started

    def segment(self, start: int, spill: "Spill") -> SpillSegment:
        """Create a file. Raises `OSError` if it or the directory can't be created."""
        if self._folder is None:
            self._folder = Folder(tempfile.mkdtemp(prefix="hawse-spill-"))
        self._count += 1
        segment = SpillSegment(self._folder, f"{self._count:x}", start, spill)
        self._segments[segment] = None
        return segment

    def grew(self, segment: SpillSegment, size: int) -> None:
        """Record that `size` bytes were written. If that exceeds the limit, remove the oldest files."""
        segment.end += size
        self.held += size
        while self.held > self.limits.total:
            oldest = next(iter(self._segments))
            oldest.spill.drop(oldest)

    def remove(self, segment: SpillSegment) -> None:
        del self._segments[segment]
        self.held -= segment.end - segment.start
        if not self.closed:
            self.run(lambda: _unlink(segment))

    def run(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        """Run disk work after all previously submitted work."""
        future = self._pool.submit(work)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future


class Spill:
    """A stream's spilled output: a passive `JournalReader` that calls `moved` on progress."""

    lossless = True

    def __init__(self, store: SpillStore, journal: Journal, moved: Callable[[], None]) -> None:
        self.cursor: int | None = 0  # all bytes before this offset have been written or skipped
        self.segments: deque[SpillSegment] = deque()
        self._store = store
        self._journal = journal
        self._moved = moved
        self.busy = False  # whether a write is in progress
        self._closed = False
        self._failing = False
        self._ended = False

    @property
    def _behind(self) -> int:
        return self._journal.end - (self.cursor or 0)

    @property
    def limit(self) -> int:
        return self._store.limits.each

    def first_at(self, offset: int) -> int | None:
        """Return the first offset at or after `offset` that is on disk, or None if there is none."""
        for segment in self.segments if not self._store.closed else ():
            if segment.end > offset:
                return max(segment.start, offset)
        return None

    def update(self) -> None:
        """Handle new output. As long as a stream fits into a quarter of its ring buffer, it isn't written to disk."""
        if self._behind > self._journal.capacity // 4:
            self._write()

    def finish(self) -> None:
        """Record the end of the stream. Most of the stream then moves to disk, where it may be kept for a long time."""
        self._ended = True
        if len(self._journal) > AFTERWARDS:
            self._write()

    def fetch(self, offset: int, done: Callable[[bytes], None]) -> None:
        """Call `done` with bytes starting at `offset`, or with b"" if they have been removed."""
        segment = next((s for s in self.segments if s.start <= offset < s.end), None)
        if segment is None or self._store.closed:
            asyncio.get_running_loop().call_soon(done, b"")
            return
        at, size = offset - segment.start, min(READ_SIZE, segment.end - offset)
        self._store.run(lambda: _read(segment, at, size)).add_done_callback(
            lambda future: done(self._fetched(future, segment))
        )

    def drop(self, segment: SpillSegment) -> None:
        self.segments.remove(segment)
        self._store.remove(segment)

    def close(self) -> None:
        """Remove the stream's files. The stream can't be read afterwards."""
        self._closed = True
        while self.segments:
            self.drop(self.segments[0])

    def _write(self) -> None:
        """Write the next bytes that aren't on disk yet. Called again when a write completes."""
        if self.busy or self._closed or self._store.closed:
            return
        if not self._behind:
            if self._ended and not self._failing:
                self._journal.limit(AFTERWARDS)
            return
        journal = self._journal
        assert self.cursor is not None
        self.cursor = max(self.cursor, journal.start)
        try:
            segment = self._open_segment(self.cursor)
        except OSError as error:
            self._failed(error, journal.end - self.cursor)
            return
        room = self._store.limits.segment - (segment.end - segment.start)
        data = journal.copy(self.cursor, min(journal.end, self.cursor + min(self._store.limits.batch, room)))
        at = segment.end - segment.start
        self.busy = True
        self._store.run(lambda: _write(segment, at, data)).add_done_callback(
            lambda future: self._written(future, segment, len(data))
        )

    def _open_segment(self, offset: int) -> SpillSegment:
        segment_size = self._store.limits.segment
        last = self.segments[-1] if self.segments else None
        if last is not None and last.end == offset and last.end - last.start < segment_size:
            return last
        while len(self.segments) * segment_size >= self.limit:
            self.drop(self.segments[0])
        segment = self._store.segment(offset, self)
        self.segments.append(segment)
        return segment

    def _written(self, future: asyncio.Future[None], segment: SpillSegment, size: int) -> None:
        self.busy = False
        if self._closed or future.cancelled():
            return
        error = future.exception()
        if error is not None:
            self._failed(error, size)
            if segment.end == segment.start and segment in self.segments:
                self.drop(segment)
        else:
            self._failing = False
            if segment in self.segments:  # false if the segment was removed while it was being written
                self._store.grew(segment, size)
            self._advance(size)
        self._write()

    def _fetched(self, future: asyncio.Future[bytes], segment: SpillSegment) -> bytes:
        if future.cancelled():
            return b""
        error = future.exception()
        if error is None:
            return future.result()
        log.warning("! cannot read output from disk: %s", error)
        if segment in self.segments:
            self.drop(segment)
        return b""

    def _failed(self, error: BaseException, size: int) -> None:
        """Skip the bytes that could not be written, because a full disk must not block the program."""
        if not self._failing:
            self._failing = True
            log.warning("! cannot store output on disk: %s", error)
        self._advance(size)

    def _advance(self, size: int) -> None:
        assert self.cursor is not None
        self.cursor += size
        self._moved()


def _write(segment: SpillSegment, at: int, data: bytes) -> None:
    segment.folder.make()
    fd = segment.folder.open(segment.name, os.O_WRONLY | os.O_CREAT)
    try:
        view = memoryview(data)
        while view:
            written = os.pwrite(fd, view, at)
            view, at = view[written:], at + written
    finally:
        os.close(fd)


def _read(segment: SpillSegment, at: int, size: int) -> bytes:
    fd = segment.folder.open(segment.name, os.O_RDONLY)
    try:
        return os.pread(fd, size, at)
    finally:
        os.close(fd)


def _unlink(segment: SpillSegment) -> None:
    with suppress(OSError):  # if this fails, `close` removes the whole directory
        segment.folder.unlink(segment.name)
