"""Flow control for a program's output: the fastest reader sets the pace, unless a slower one is lossless.

The limits below are attributes of the journal's `FlowLimits`.

- Reading pauses when even the fastest reader is `room` bytes behind (half the journal's size, if that is smaller).
- A `lossless` reader loses no bytes: reading pauses when it is half a journal behind. If its connection is lost, its
  position is held for `hold_timeout` seconds so that it can reconnect.
- While reading is paused, a lossless reader that consumes nothing for `lossless_stall_timeout` seconds is ignored until
  it resumes. Any other reader is ignored if it consumes less than `progress` bytes in `stall_timeout` seconds, until it
  reaches that rate. An ignored reader may lose bytes. Skipped bytes don't count as consumed.
- Without readers, all output is read: a program never blocks because its viewer has disconnected.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from hawse.weakref_support import supports_weakref
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.journal import Journal

NOT_NEEDED = 1 << 62  # greater than any offset; means that no reader needs any bytes


class JournalReader(Protocol):
    @property
    def cursor(self) -> int | None:
        """The offset of the next byte to consume, or None if the reader hasn't started yet."""
        ...

    @property
    def lossless(self) -> bool: ...


class ReaderState:
    """A reader's progress."""

    def __init__(self, resume_id: str | None, follows: bool, stores: bool) -> None:
        self.resume_id = resume_id
        self.stores = stores  # whether the reader stores the bytes it consumes, so that others can read them
        self.follows = follows  # whether the reader is passive: its progress alone doesn't let the program print more
        self.stalled = False  # whether the reader is being ignored for lack of progress
        self.seen_at: int | None = None  # the offset where measuring the reader's progress started
        self.since = 0.0  # when the reader was at `seen_at` (loop time)


@supports_weakref
class Backpressure:
    """Pauses and resumes reading into a journal. Call `update` after output, and `advanced` after a cursor has
    moved.
    """

    def __init__(
        self,
        journal: Journal,
        pause: Callable[[], None],
        resume: Callable[[], None],
        hold_room: int | None = None,
    ) -> None:
        """Create an instance without readers. Reading is not paused.

        Args:
            journal: The journal for the program's output. Its `flow` contains the limits.
            pause: Pauses reading.
            resume: Resumes reading.
            hold_room: How many bytes a held position can be behind; None means half the journal.
        """
        self._journal = journal
        self._hold_room = hold_room
        self._pause = pause
        self._resume = resume
        self._readers: dict[JournalReader, ReaderState] = {}
        self._holds: dict[str, tuple[int, asyncio.TimerHandle]] = {}  # keyed by input id
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False
        self.paused = False
        # A weak reference, because a pending write of spilled output can keep the journal alive longer than this
        # object.
        journal.needed = WeakCallback(self._needed, default=NOT_NEEDED)

    @property
    def readers(self) -> set[JournalReader]:
        """All readers, including any that are being ignored."""
        return set(self._readers)

    @property
    def held(self) -> int:
        """The number of positions held for readers that have lost their connection."""
        return len(self._holds)

    @property
    def watching(self) -> bool:
        """Whether a timer is checking for stalled readers."""
        return self._watch is not None

    def stalled(self, reader: JournalReader) -> bool:
        """Return whether a reader is being ignored for lack of progress."""
        return self._readers[reader].stalled

    def add(
        self, reader: JournalReader, resume_id: str | None = None, *, follows: bool = False, stores: bool = False
    ) -> None:
        """Add a reader.

        Args:
            reader: A reader of the journal.
            resume_id: Identifies the reader across reconnects. Any position held for this id is released.
            follows: Whether the reader is passive. If it is also lossless, it still loses no bytes.
            stores: Whether this reader stores the bytes that it consumes, so that all readers can still read them.
        """
        self._readers[reader] = ReaderState(resume_id, follows, stores)
        if resume_id in self._holds:
            self._holds.pop(resume_id)[1].cancel()
        self.update()

    def remove(self, reader: JournalReader) -> None:
        """Remove a reader. If it is lossless, hold its position unless it has already reconnected."""
        resume_id = self._readers.pop(reader).resume_id
        returned = any(state.resume_id == resume_id for state in self._readers.values())
        if (
            resume_id is not None
            and reader.lossless
            and reader.cursor is not None
            and not returned
            and not self._closed
        ):
            timer = asyncio.get_running_loop().call_later(self._journal.flow.hold_timeout, self._expire, resume_id)
            self._holds[resume_id] = (reader.cursor, timer)
        self.update()

    def advanced(self) -> None:
        """Record that a cursor has advanced, which may end a pause."""
        if self.paused:
            self.update()

    def update(self) -> None:
        """Pause or resume reading. Called after new output and whenever the readers change."""
        allowed = self._allowed()
        if allowed and self.paused:
            self.paused = False
            self._stop_timer()
            self._resume()
        elif not allowed and not self.paused:
            self.paused = True
            self._pause()
            for state in self._readers.values():
                if not state.stalled:
                    state.seen_at = None
            self._find_stalled()

    def close(self) -> None:
        """Record the end of the output by releasing all held positions and stopping the timers."""
        self._closed = True
        self._stop_timer()
        for _, timer in self._holds.values():
            timer.cancel()
        self._holds.clear()

    def _allowed(self) -> bool:
        if self._closed:
            return True
        end = self._journal.end
        furthest = -1
        slowest_lossless = end
        for reader, state in self._readers.items():
            cursor = reader.cursor
            if cursor is None or (state.stalled and not self._recovered(reader, state, cursor)):
                continue
            if not state.follows:
                furthest = max(furthest, cursor)
            if reader.lossless:
                slowest_lossless = min(slowest_lossless, cursor)
        slowest_held = min((cursor for cursor, _ in self._holds.values()), default=end)
        room = self._journal.capacity // 2
        if end - slowest_lossless > room or end - slowest_held > (self._hold_room or room):
            return False
        return furthest < 0 or end - furthest <= min(self._journal.flow.room, self._journal.capacity // 2)

    def _needed(self) -> int:
        """The offset of the first byte that a lossless reader needs and that only the journal stores."""
        start, needed = self._journal.start, self._journal.end
        for reader, state in self._readers.items():
            cursor = reader.cursor if reader.lossless else None
            if cursor is None or (state.stalled and cursor == state.seen_at):
                continue
            if state.stores:
                return cursor
            if start <= cursor < needed:
                needed = cursor
        for cursor, _ in self._holds.values():
            if start <= cursor < needed:
                needed = cursor
        return needed

    def _recovered(self, reader: JournalReader, state: ReaderState, cursor: int) -> bool:
        """Return whether a stalled reader has resumed making progress."""
        flow = self._journal.flow
        now = asyncio.get_running_loop().time()
        start = state.seen_at if state.seen_at is not None else cursor
        if reader.lossless:
            state.stalled = cursor == start
        elif start < self._journal.start or now - state.since > flow.stall_timeout:  # has lost bytes or is too slow
            state.seen_at, state.since = cursor, now
        elif cursor - start >= flow.progress:
            state.stalled = False
        return not state.stalled

    def _find_stalled(self) -> None:
        """Ignore readers that are making too little progress. Called repeatedly while reading is paused."""
        flow = self._journal.flow
        loop = asyncio.get_running_loop()
        now = loop.time()
        for reader, state in self._readers.items():
            cursor = reader.cursor
            if state.stalled:
                continue
            progress = 1 if reader.lossless else flow.progress
            if cursor is None or state.seen_at is None or cursor - state.seen_at >= progress:
                state.seen_at, state.since = cursor, now
            elif now - state.since >= 0.99 * (flow.lossless_stall_timeout if reader.lossless else flow.stall_timeout):
                if cursor < self._journal.end:  # a reader that is at the end of the output isn't slow
                    state.stalled, state.seen_at, state.since = True, cursor, now
                else:
                    state.since = now
        self._watch = loop.call_later(flow.stall_timeout, self._find_stalled)
        self.advanced()

    def _stop_timer(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _expire(self, resume_id: str) -> None:
        del self._holds[resume_id]
        self.update()
