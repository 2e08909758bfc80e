"""Flow control of the output of a program: its fastest reader sets the pace, unless a slower one is lossless.

- Reading pauses when even the reader furthest ahead is ROOM behind, or half of a small journal.
- A `lossless` reader is never outrun: reading pauses when it is half a journal behind. For HOLD seconds after its
  connection was lost, its position is held so that it can come back.
- While reading is paused, a lossless reader that takes nothing for LOSSLESS_PATIENCE seconds is ignored until it takes
  something. Another reader that takes less than PROGRESS bytes in PATIENCE seconds is ignored until it takes so much
  in that time. It may be outrun meanwhile; the bytes it skips do not count as taken.
- Without readers everything is read: a program never blocks because its viewer left.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from runtime.core.weak_callback import WeakCallback
from runtime.journal.journal import Journal

ROOM = 512 << 10  # bytes the fastest reader may be behind: enough to keep a fast one busy
PATIENCE = 2.0  # seconds without real progress after which an ordinary reader counts as gone
PROGRESS = 16 << 10  # bytes in that time that are real progress: a slow modem is faster
LOSSLESS_PATIENCE = 30.0  # the same for a lossless one
HOLD = 30.0  # seconds the place of a lossless reader is kept after its line was cut
NOBODY = 1 << 62  # beyond every offset: nobody needs anything


class JournalReader(Protocol):
    @property
    def cursor(self) -> int | None:
        """The offset of the next byte it will take; None while it has not begun."""
        ...

    @property
    def lossless(self) -> bool: ...


class ReaderState:
    """What the pacer knows of one reader."""

    def __init__(self, resume_id: str | None, follows: bool) -> None:
        self.resume_id = resume_id
        self.follows = follows  # it never leads: what it has read makes room for no more
        self.gone = False  # it is ignored
        self.seen_at: int | None = None  # the offset from which its progress is measured
        self.since = 0.0  # when it was there


class Backpressure:
    """Pauses and resumes the reading into one journal. `update` it after output, `advanced` after a cursor's move."""

    def __init__(
        self,
        journal: Journal,
        pause: Callable[[], None],
        resume: Callable[[], None],
        hold_room: int | None = None,
    ) -> None:
        """`hold_room`: bytes that a place which is held may be behind; half a journal by default."""
        self._journal = journal
        self._hold_room = hold_room
        self._pause = pause
        self._resume = resume
        self._readers: dict[JournalReader, ReaderState] = {}
        self._holds: dict[str, tuple[int, asyncio.TimerHandle]] = {}  # by input id: the cursor it left at
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False
        self.paused = False
        journal.needed = WeakCallback(
            self._needed, gone=NOBODY
        )  # what is being written out may keep the journal longer

    def add(self, reader: JournalReader, resume_id: str | None = None, *, follows: bool = False) -> None:
        """`resume_id` names the reader across its reconnects: a place that is held for it is its own again."""
        self._readers[reader] = ReaderState(resume_id, follows)
        if resume_id in self._holds:
            self._holds.pop(resume_id)[1].cancel()
        self.update()

    def remove(self, reader: JournalReader) -> None:
        """It was cut off: keep its place, if it is lossless and has not come back by another line already."""
        resume_id = self._readers.pop(reader).resume_id
        back = any(place.resume_id == resume_id for place in self._readers.values())
        if resume_id is not None and reader.lossless and reader.cursor is not None and not back and not self._closed:
            timer = asyncio.get_running_loop().call_later(HOLD, self._expire, resume_id)
            self._holds[resume_id] = (reader.cursor, timer)
        self.update()

    def advanced(self) -> None:
        """A cursor has moved on, which can only end a pause."""
        if self.paused:
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
            for place in self._readers.values():
                if not place.gone:
                    place.seen_at = None
            self._look()

    def close(self) -> None:
        """Nothing more will be read: hold and watch nobody."""
        self._closed = True
        self._stop_watching()
        for _, timer in self._holds.values():
            timer.cancel()
        self._holds.clear()

    def _allowed(self) -> bool:
        if self._closed:
            return True
        end = self._journal.end
        furthest = -1
        slowest_lossless = end
        for reader, place in self._readers.items():
            cursor = reader.cursor
            if cursor is None or (place.gone and not self._is_back(reader, place, cursor)):
                continue
            if not place.follows:
                furthest = max(furthest, cursor)
            if reader.lossless:
                slowest_lossless = min(slowest_lossless, cursor)
        slowest_held = min((cursor for cursor, _ in self._holds.values()), default=end)
        room = self._journal.capacity // 2
        if end - slowest_lossless > room or end - slowest_held > (self._hold_room or room):
            return False
        return furthest < 0 or end - furthest <= min(ROOM, self._journal.capacity // 2)

    def _needed(self) -> int:
        """The first offset that a lossless reader has yet to take, and that stands nowhere but in the journal."""
        start, needed = self._journal.start, self._journal.end
        for reader, place in self._readers.items():
            cursor = reader.cursor if reader.lossless else None
            if cursor is None or (place.gone and cursor == place.seen_at):
                continue
            if place.follows:
                return cursor  # what is before, it has put where everybody finds it
            if start <= cursor < needed:
                needed = cursor
        for cursor, _ in self._holds.values():
            if start <= cursor < needed:
                needed = cursor
        return needed

    def _is_back(self, reader: JournalReader, place: ReaderState, cursor: int) -> bool:
        """Whether a reader that counted as gone takes enough again."""
        now = asyncio.get_running_loop().time()
        start = place.seen_at if place.seen_at is not None else cursor
        if reader.lossless:
            place.gone = cursor == start
        elif start < self._journal.start or now - place.since > PATIENCE:  # it was outrun, or too slow: measure anew
            place.seen_at, place.since = cursor, now
        elif cursor - start >= PROGRESS:
            place.gone = False
        return not place.gone

    def _look(self) -> None:
        """Reading is paused: ignore the readers that have not made progress for their patience."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for reader, place in self._readers.items():
            cursor = reader.cursor
            if place.gone:
                continue
            progress = 1 if reader.lossless else PROGRESS
            if cursor is None or place.seen_at is None or cursor - place.seen_at >= progress:
                place.seen_at, place.since = cursor, now
            elif now - place.since >= 0.99 * (LOSSLESS_PATIENCE if reader.lossless else PATIENCE):
                if cursor < self._journal.end:  # one that has everything is not slow
                    place.gone, place.seen_at, place.since = True, cursor, now
                else:
                    place.since = now
        self._watch = loop.call_later(PATIENCE, self._look)
        self.advanced()

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _expire(self, resume_id: str) -> None:
        del self._holds[resume_id]
        self.update()
