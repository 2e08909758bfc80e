"""Flow control of the output of a program: its fastest reader sets the pace, unless a slower one is lossless.

The limits named here are the journal's `FlowLimits`.

- Reading pauses when even the reader furthest ahead is `room` bytes behind, or half of a small journal.
- A `lossless` reader loses no bytes: reading pauses when it is half a journal behind. For `hold_timeout` seconds after
  its connection was lost, its position is held so that it can come back.
- While reading is paused, a lossless reader that takes nothing for `lossless_stall_timeout` seconds is ignored until it
  takes something. Another reader that takes less than `progress` bytes in `stall_timeout` seconds is ignored until it
  takes so much in that time. It may lose bytes while it is ignored; skipped bytes do not count as taken.
- Without readers all output is read: a program never blocks because its viewer has disconnected.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from hawse.referable import referable
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.journal import Journal

NOT_NEEDED = 1 << 62  # above every offset: no reader needs any byte


class JournalReader(Protocol):
    @property
    def cursor(self) -> int | None:
        """The offset of the next byte it will take; None before it has begun."""
        ...

    @property
    def lossless(self) -> bool: ...


class ReaderState:
    """The progress of one reader."""

    def __init__(self, resume_id: str | None, follows: bool, stores: bool) -> None:
        self.resume_id = resume_id
        self.stores = stores  # it stores what it has taken where every reader can read it
        self.follows = follows  # it never sets the pace: its progress does not allow more output
        self.stalled = False  # it made no progress in time, and is ignored
        self.seen_at: int | None = None  # the offset from which its progress is measured
        self.since = 0.0  # when it was at that offset, by the loop's clock


@referable
class Backpressure:
    """Pauses and resumes the reading into one journal. `update` it after output, `advanced` after a cursor's move."""

    def __init__(
        self,
        journal: Journal,
        pause: Callable[[], None],
        resume: Callable[[], None],
        hold_room: int | None = None,
    ) -> None:
        """Start without readers and without a pause.

        Args:
            journal: What the program's output is appended to. Its `flow` has the limits.
            pause: Stops the reading of output.
            resume: Continues it.
            hold_room: How many bytes a held position may be behind; None: half of the journal.
        """
        self._journal = journal
        self._hold_room = hold_room
        self._pause = pause
        self._resume = resume
        self._readers: dict[JournalReader, ReaderState] = {}
        self._holds: dict[str, tuple[int, asyncio.TimerHandle]] = {}  # by input id: the cursor at the loss
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False
        self.paused = False
        # Weak, because a write of spilled output may keep the journal longer than this object.
        journal.needed = WeakCallback(self._needed, default=NOT_NEEDED)

    @property
    def readers(self) -> set[JournalReader]:
        """The readers that are taken into account, those that are ignored for now included."""
        return set(self._readers)

    @property
    def held(self) -> int:
        """The number of positions that are held for readers whose connection was lost."""
        return len(self._holds)

    @property
    def watching(self) -> bool:
        """Whether a timer looks for readers that stall."""
        return self._watch is not None

    def stalled(self, reader: JournalReader) -> bool:
        """Whether `reader`, which was added, is ignored because it made no progress in time."""
        return self._readers[reader].stalled

    def add(
        self, reader: JournalReader, resume_id: str | None = None, *, follows: bool = False, stores: bool = False
    ) -> None:
        """Take `reader` into account from now on.

        Args:
            reader: A reader of the journal.
            resume_id: Names the reader across its reconnects: a position that is held under this name is released.
            follows: Whether it never sets the pace. Output is still not read so fast that it loses bytes.
            stores: Whether every reader can read the bytes that it has taken elsewhere.
        """
        self._readers[reader] = ReaderState(resume_id, follows, stores)
        if resume_id in self._holds:
            self._holds.pop(resume_id)[1].cancel()
        self.update()

    def remove(self, reader: JournalReader) -> None:
        """Remove a reader. Hold the position of a lossless one, unless it has already been added again."""
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
        """Note that a cursor has moved on, which can only end a pause."""
        if self.paused:
            self.update()

    def update(self) -> None:
        """Pause or resume the reading, after output or a change of the readers."""
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
        """Note that nothing more will be read: release all held positions and stop the timers."""
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
        """The first offset that a lossless reader has not taken yet and that is only in the journal."""
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
        """Whether a reader that has stalled makes progress again."""
        flow = self._journal.flow
        now = asyncio.get_running_loop().time()
        start = state.seen_at if state.seen_at is not None else cursor
        if reader.lossless:
            state.stalled = cursor == start
        elif start < self._journal.start or now - state.since > flow.stall_timeout:  # it has lost bytes, or is too slow
            state.seen_at, state.since = cursor, now
        elif cursor - start >= flow.progress:
            state.stalled = False
        return not state.stalled

    def _find_stalled(self) -> None:
        """Ignore the readers that have made no progress in time. Called repeatedly while reading is paused."""
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
                if cursor < self._journal.end:  # a reader at the end of the output is not slow
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
