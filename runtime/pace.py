"""How fast a program's output is read: by its fastest reader, never by its slowest, except where one asks for it.

- Reading pauses when even the reader furthest ahead is ROOM behind.
- A `lossless` reader is never outrun: reading pauses when it is half a journal behind. For HOLD seconds after it was
  cut off, its place is held so that it can come back.
- A reader that makes no progress for its patience while reading is paused counts as gone until it does.
- With nobody there, everything is read: a program never blocks because its viewer left.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from runtime.journal import Journal

ROOM = 512 << 10  # bytes the fastest reader may be behind: enough to keep a fast one busy
PATIENCE = 2.0  # seconds without progress after which an ordinary reader counts as gone
LOSSLESS_PATIENCE = 30.0  # the same for a lossless one
HOLD = 30.0  # seconds the place of a lossless reader is kept after its line was cut


class Reader(Protocol):
    @property
    def cursor(self) -> int | None:
        """The offset of the next byte it will take; None while it has not begun."""
        ...

    @property
    def lossless(self) -> bool: ...


class Pacer:
    """Pauses and resumes the reading of one journal's source. `update` after every change of offsets."""

    def __init__(self, journal: Journal, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._journal = journal
        self._pause = pause
        self._resume = resume
        self._readers: dict[Reader, None] = {}
        self._holds: dict[str, tuple[int, asyncio.TimerHandle]] = {}  # by input id: the cursor it left at
        self._gone: dict[Reader, int] = {}  # those that stalled, and where
        self._watch: asyncio.TimerHandle | None = None
        self._paused_at: dict[Reader, int] = {}  # where each stood when reading was paused
        self._paused_since = 0.0
        self.paused = False

    def add(self, reader: Reader, resume_id: str | None = None) -> None:
        self._readers[reader] = None
        if resume_id is not None:
            self._release(resume_id)
        self.update()

    def remove(self, reader: Reader, hold_id: str | None = None) -> None:
        """`hold_id`: keep the place of a lossless reader for this id to come back."""
        self._readers.pop(reader, None)
        self._gone.pop(reader, None)
        self._paused_at.pop(reader, None)
        if hold_id is not None and reader.lossless and reader.cursor is not None:
            timer = asyncio.get_running_loop().call_later(HOLD, self._expire, hold_id)
            self._holds[hold_id] = (reader.cursor, timer)
        self.update()

    def update(self) -> None:
        allowed = self._allowed()
        if allowed and self.paused:
            self.paused = False
            self._stop_watching()
            self._resume()
        elif not allowed and not self.paused:
            self.paused = True
            self._pause()
            self._start_watching()

    def close(self) -> None:
        self._stop_watching()
        for _, timer in self._holds.values():
            timer.cancel()
        self._holds.clear()
        self._readers.clear()

    def _allowed(self) -> bool:
        end = self._journal.end
        furthest = -1
        slowest_lossless = end
        for reader in self._readers:
            cursor = reader.cursor
            if cursor is None or self._is_gone(reader, cursor):
                continue
            furthest = max(furthest, cursor)
            if reader.lossless:
                slowest_lossless = min(slowest_lossless, cursor)
        for cursor, _ in self._holds.values():
            slowest_lossless = min(slowest_lossless, cursor)
        if end - slowest_lossless > self._journal.capacity // 2:
            return False
        return furthest < 0 or end - furthest <= ROOM

    def _is_gone(self, reader: Reader, cursor: int) -> bool:
        stalled_at = self._gone.get(reader)
        if stalled_at is None:
            return False
        if stalled_at == cursor:
            return True
        del self._gone[reader]
        return False

    def _start_watching(self) -> None:
        loop = asyncio.get_running_loop()
        self._paused_since = loop.time()
        self._paused_at = {r: r.cursor for r in self._readers if r.cursor is not None}
        self._watch = loop.call_later(PATIENCE, self._look)

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._paused_at.clear()

    def _look(self) -> None:
        """Reading has been paused for a while: who has not moved since counts as gone."""
        loop = asyncio.get_running_loop()
        waited = loop.time() - self._paused_since
        for reader in self._readers:
            cursor = reader.cursor
            if cursor is None:
                continue
            if cursor != self._paused_at.get(reader):
                self._paused_at[reader] = cursor
            elif not reader.lossless or waited >= LOSSLESS_PATIENCE:
                self._gone[reader] = cursor
        self._watch = loop.call_later(PATIENCE, self._look)
        self.update()

    def _expire(self, hold_id: str) -> None:
        self._holds.pop(hold_id, None)
        self.update()

    def _release(self, hold_id: str) -> None:
        held = self._holds.pop(hold_id, None)
        if held is not None:
            held[1].cancel()
