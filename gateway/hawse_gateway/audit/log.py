"""Writes the audit log in a separate thread, so that a slow or full disk never delays a call.

Entries wait in a bounded queue. If the queue is full or writing fails, entries are dropped and counted. Refusing calls
instead would let a full disk stop the gateway.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from hawse.api.access import AuditEntry, AuditListResult
from hawse_gateway.audit.files import AuditFiles, Position

log = logging.getLogger(__name__)

QUEUE: Final = 8192  # maximum number of queued entries: a few megabytes
BATCH: Final = 256  # maximum number of entries per write
SCAN_BLOCKS: Final = 64  # maximum number of blocks read for a page of results (4 MiB in total)
WARNING_INTERVAL: Final = 60.0  # seconds between warnings about lost entries
CLOCK_STEP: Final = 60.0  # maximum seconds that entries are expected to be out of order because the clock was set back
FLUSH_TIMEOUT: Final = 2.0  # seconds to wait for pending writes, both before reading and on exit

_encoder = msgspec.json.Encoder()


class AuditLog:
    """The audit log. Use it inside `async with log.running():`. Without files, it drops all entries."""

    def __init__(self, files: AuditFiles | None, *, queue: int = QUEUE) -> None:
        """Create the log.

        Args:
            files: The files to write to. None disables the log.
            queue: The maximum number of entries in the queue.
        """
        self.written = 0  # entries
        self.lost = 0  # number of entries lost because the queue was full or the disk failed
        self._files = files
        self._limit = queue
        # The writer thread writes the entries and calls the functions.
        self._queue: deque[AuditEntry | Callable[[], None]] = deque()
        self._ready = threading.Semaphore(0)
        self._running = False
        self._warned = 0.0

    @property
    def waiting(self) -> int:
        """The number of entries in the queue."""
        return len(self._queue)

    def record(self, entry: AuditEntry) -> None:
        """Queue an entry. Never blocks or raises."""
        if not self._running:
            return
        if len(self._queue) >= self._limit:
            self._lose(1, "the disk is too slow")
            return
        self._queue.append(entry)
        self._ready.release()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the thread. On exit, wait at most `FLUSH_TIMEOUT` for the queued entries to be written."""
        if self._files is None:
            yield
            return
        thread = threading.Thread(target=self._work, args=(self._files,), name="audit log", daemon=True)
        thread.start()
        self._running = True
        try:
            yield
        finally:
            self._running = False
            self._ready.release()
            await asyncio.to_thread(thread.join, FLUSH_TIMEOUT)

    async def flush(self) -> None:
        """Wait at most `FLUSH_TIMEOUT` for the queued entries to be written."""
        loop = asyncio.get_running_loop()
        flushed = asyncio.Event()

        def notify() -> None:
            try:
                loop.call_soon_threadsafe(flushed.set)
            except RuntimeError:
                pass  # the event loop has been closed, so nothing is waiting for the flush

        if not self._running or len(self._queue) >= 2 * self._limit:
            return
        self._queue.append(notify)
        self._ready.release()
        try:
            async with asyncio.timeout(FLUSH_TIMEOUT):
                await flushed.wait()
        except TimeoutError:
            pass  # the disk is stuck, so `page` reads the entries written so far

    async def page(
        self,
        wanted: Callable[[AuditEntry], bool],
        *,
        after: Position | None = None,
        before: Position | None = None,
        since: float | None = None,
        limit: int,
    ) -> AuditListResult:
        """Return entries, newest first.

        Args:
            wanted: A function that returns whether to include an entry.
            after: Return only entries newer than this one.
            before: Return only entries older than this one.
            since: Stop searching at entries older than this time, in seconds since 1970.
            limit: The maximum number of entries.

        Raises:
            OSError: The files cannot be read.
        """
        files, found = self._files, list[AuditEntry]()
        if files is None:
            return AuditListResult(entries=found)
        await self.flush()
        numbers = await asyncio.to_thread(files.numbers)
        place = _newest(files, numbers) if before is None else before
        for _ in range(SCAN_BLOCKS):
            if place is None or (after is not None and place <= after):
                return AuditListResult(entries=found)
            lines, start = await asyncio.to_thread(files.lines_before, *place)
            for position, line in reversed(lines):
                if after is not None and position <= after:
                    return AuditListResult(entries=found)
                entry = _decoded(position, line)
                if entry is None:
                    continue
                if since is not None and entry.time < since - CLOCK_STEP:
                    return AuditListResult(entries=found)
                if wanted(entry):
                    found.append(entry)
                    if len(found) >= limit:
                        return AuditListResult(entries=found, before=str(position))
            place = Position(place.segment, start) if start else _previous(files, numbers, place.segment)
        return AuditListResult(entries=found, before=None if place is None else str(place))

    # ---- the thread

    def _work(self, files: AuditFiles) -> None:
        try:
            while True:
                self._ready.acquire()
                if not self._queue:
                    if not self._running:
                        return
                    continue
                self._write(files)
        finally:
            files.close()

    def _write(self, files: AuditFiles) -> None:
        """Write at most one batch. There may be nothing to write, because the semaphore can still count entries that
        have already been written."""
        lines, notify = list[bytes](), None
        while self._queue and len(lines) < BATCH and notify is None:
            item = self._queue.popleft()
            if isinstance(item, AuditEntry):
                lines.append(_encoder.encode(item) + b"\n")
            else:
                notify = item
        if lines:
            try:
                files.append(b"".join(lines))
                self.written += len(lines)
            except OSError as error:
                self._lose(len(lines), str(error))
        if notify is not None:
            notify()
        if self._queue:
            self._ready.release()

    def _lose(self, count: int, reason: str) -> None:
        self.lost += count
        now = time.monotonic()
        if not self._warned or now - self._warned > WARNING_INTERVAL:
            self._warned = now
            log.error("! audit log: %d entries lost: %s", self.lost, reason)


def _newest(files: AuditFiles, numbers: list[int]) -> Position | None:
    return Position(numbers[-1], files.size(numbers[-1])) if numbers else None


def _previous(files: AuditFiles, numbers: list[int], number: int) -> Position | None:
    """Return the end position of the segment that precedes segment `number`."""
    older = [one for one in numbers if one < number]
    return Position(older[-1], files.size(older[-1])) if older else None


def _decoded(position: Position, line: bytes) -> AuditEntry | None:
    """Decode the entry in a line. Return None if the line is incomplete, or if it was written by a newer version."""
    try:
        entry = msgspec.json.decode(line, type=AuditEntry)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return msgspec.structs.replace(entry, position=str(position))
