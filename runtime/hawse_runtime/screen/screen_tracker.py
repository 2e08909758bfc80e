"""Keeps a terminal's screen up to date with its output, and requests snapshots from it.

The screen lives in another process. The tracker sends it output, size changes and requests in order, one at a time. The
screen may lag behind the journal: text that only scrolls isn't read until the screen is needed. While the screen
answers queries, other output without queries can also wait. A terminal that prints little never gets a screen.

If the process exits, a new screen starts from a *checkpoint*: a snapshot without scrollback. The journal keeps all
output printed after the checkpoint, so it waits for the tracker just as it does for a lossless reader.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.answer_ranges import AnswerRanges
from hawse_runtime.screen.deferred_output import DeferredOutput, unfinished
from hawse_runtime.screen.requests import (
    PIECE,
    PIECE_LIMIT,
    SCROLLBACK_LINES,
    Answer,
    AnyRequest,
    Close,
    Feed,
    Open,
    Paint,
    Resize,
)
from hawse_runtime.screen.screen_process import Screens
from hawse_runtime.screen.screen_requests import ScreenRequest, ScreenRequests
from hawse_runtime.screen.size_history import OutputPlace, SizeHistory
from hawse_runtime.screen.snapshot_cache import CachedSnapshot

log = logging.getLogger(__name__)

ALL = SCROLLBACK_LINES
LAG = 1 << 20  # maximum number of output bytes left unread because a viewer has yet to answer the queries in it
LAZY = 256 << 10  # number of bytes that a terminal must print to get a screen, unless one is needed earlier
# Maximum size of a checkpoint, in bytes; the styles of skipped output are added to it until the next checkpoint.
CHECKPOINT_BYTES = 1 << 20
ATTEMPTS = 3  # number of crashes on the same output before the tracker skips that output


class Checkpoint(NamedTuple):
    """The state to start a new screen from: `data` paints the screen at `place`."""

    place: OutputPlace
    data: bytes = b""
    whole: bool = True
    calm: bool = True


class ScreenTracker:
    """A terminal's screen, as a `ScreenClient` and `JournalReader`. Call `close` when the terminal is released."""

    lossless = True
    follows = True

    def __init__(
        self,
        journal: Journal,
        marks: SizeHistory,
        screens: Screens,
        *,
        reply: Callable[[bytes], None],
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a tracker, without a screen.

        Args:
            journal: The terminal's output.
            marks: The terminal's size changes.
            screens: Hosts the screen.
            reply: Called with the screen's answers to queries as long as no viewer answers them.
            moved: Called when the journal can drop output.
        """
        self._journal = journal
        self._marks = marks
        self._screens = screens
        self._reply = reply
        self._moved = moved
        self._number = screens.new_number()
        self._plan = DeferredOutput(journal, rows=SCROLLBACK_LINES)
        self._ranges = AnswerRanges()
        self._checkpoint = Checkpoint(OutputPlace(0, *marks.latest_size(), 1))
        self._place = self._checkpoint.place  # the position of the next output that the screen will read
        self._whole = self._calm = True  # the screen's state as of its last answer; valid only while it isn't busy
        self._open = False  # whether the process currently hosts the screen
        self._busy = False  # whether a request is unanswered
        self._proceeding = False
        self._styles = b""  # styles from skipped text, to be read next
        self._follow_to = 0
        self._viewer_at: int | None = None
        self._wants_checkpoint = False
        self._requests = ScreenRequests(journal)
        self._sending = (0, 0)  # the range of output in the latest request
        self._crashed = (-1, -1)  # the range of output that was being read at the latest crash
        self._crashes = 0
        self.closed = False
        journal.before_limit = self._keep  # removed by `close`

    def close(self) -> None:
        """Release the screen. Any pending requests are answered without it."""
        if self.closed:
            return
        self.closed = True
        self._journal.before_limit = None
        if self._open and self._screens.available:
            self._screens.send(self, Close(self._number), lambda answer: None)
        self._screens.leave(self)
        self._requests.give_up()

    @property
    def fed(self) -> int:
        """The offset of the next byte for the screen to read."""
        return self._place.offset

    @property
    def cursor(self) -> int | None:
        """The offset of the oldest output needed to rebuild the screen, or None if no screen can be built."""
        return self._checkpoint.place.offset if self._screens.available and not self.closed else None

    # ---- output

    def follow(self, to: int | None = None) -> None:
        """Read the output up to the offset `to`, or all of it if `to` is None."""
        self._follow_to = max(self._follow_to, self._journal.end if to is None else to)
        self.proceed()

    def keep_near(self, answered: int | None) -> None:
        """Limit how far the screen lags behind. Called whenever output has been sent to viewers.

        Text that scrolls away is skipped. `answered` is the position of the viewer that answers queries; None if no
        viewer does. Output after that position isn't read yet: if the viewer leaves, the screen must answer the queries
        in it.
        """
        self._viewer_at = answered
        if not self._busy:
            self._consider()
        elif answered is None and self._plan.asks(self.fed, self._journal.end):
            self._follow_to = self._journal.end
        self.proceed()

    def hand_over(self, offset: int | None, *, to_viewer: bool) -> None:
        """Set who answers queries from `offset` onward: a viewer or the screen. None means the end of the output."""
        end = self._journal.end
        self._ranges.hand_over(self._whole_at(end if offset is None else min(offset, end)), to_viewer=to_viewer)
        to = (end if offset is None else min(offset, end)) if to_viewer else end
        if self._busy or not self._whole or self._plan.asks(self.fed, to):
            self.follow(to)

    # ---- requests

    def snapshot(self, scrollback: int, done: Callable[[CachedSnapshot], None]) -> OutputPlace:
        """Request a snapshot of the current screen with `scrollback` rows above it. Return its position in the output.

        `done` is called once, possibly before this method returns. If there is a current snapshot still in use, it is
        shared.
        """
        place = self._end_place()
        self._requests.add_snapshot(place, scrollback, done)
        self._proceed_with_requests()
        return place

    def request(self, make: Callable[[int], AnyRequest], done: Callable[[Answer | None], None]) -> OutputPlace:
        """Send a request once the screen has read all current output. Return the request's position in the output.

        Args:
            make: Builds the request from the screen's number.
            done: Called once with the response, possibly before this method returns; None if the screen is unavailable.
        """
        place = self._end_place()
        self._requests.add(ScreenRequest(place, make, done))
        self._proceed_with_requests()
        return place

    def plain_text(self) -> bytes:
        """Return the last lines of the output as plain text, for use when the screen is unavailable."""
        return self._requests.plain(self._end_place(), 0).replace(b"\r\n", b"\n")

    def _proceed_with_requests(self) -> None:
        if self.closed:
            self._requests.give_up()
        self.proceed()

    def _end_place(self) -> OutputPlace:
        return OutputPlace(
            max(self.fed, self._whole_at(self._journal.end)), *self._marks.latest_size(), self._marks.next
        )

    # ---- sending

    def proceed(self) -> None:
        """Send output and requests until the screen is busy or nothing is left to send."""
        if self._proceeding or self.closed:
            return
        self._proceeding = True
        try:
            while not self._busy and self._step():
                pass
        finally:
            self._proceeding = False

    def _step(self) -> bool:
        """Send the next message to the screen, or answer a request locally. Return whether there was anything to do."""
        if not self._screens.available:
            self._requests.give_up()
            return False
        if self._checkpoint.place.offset < self._journal.start and (not self._open or self.fed < self._journal.start):
            self._lose_place()
        wanted = self._requests.first
        goal = wanted.place if wanted else self._place
        if not wanted and (to := self._whole_at(min(self._follow_to, self._journal.end))) > self.fed:
            goal = self._marks.place_at(to)
        behind = self.fed < goal.offset or self._next_mark() < goal.next_mark
        if wanted and not behind and self._requests.answer_first_if_known():
            return True
        if not (wanted or behind or self._checkpoint_due):
            return False
        if not self._screens.take_turn(self):
            return False
        if not self._open:
            self._send_open()
        elif behind:
            self._send_output(goal)
        elif wanted:
            self._send(wanted.make(self._number), self._answered, self.fed)
        else:
            self._send(Paint(self._number, 0), self._checkpoint_made, self.fed)
        return True

    def _send(self, request: AnyRequest, done: Callable[[Answer], None], to: int) -> None:
        self._busy = True
        self._sending = self.fed, to

        def received(answer: Answer) -> None:
            if self.closed:
                return
            self._busy = False
            self._whole, self._calm = answer.whole, answer.calm
            done(answer)
            self._consider()
            self.proceed()

        self._screens.send(self, request, received)

    def _send_open(self) -> None:
        place, data = self._checkpoint.place, self._checkpoint.data
        self._place = place
        self._open = True
        self._send(Open(self._number, place.cols, place.rows, data), lambda answer: None, place.offset)

    def _send_output(self, goal: OutputPlace) -> None:
        """Send the next size change or the next piece of output, but nothing beyond `goal`."""
        stop = goal.offset
        number = self._next_mark()
        mark = self._marks.get(number) if number < goal.next_mark else None
        if mark is not None:
            stop = self._whole_at(mark.offset)
            if self.fed >= stop:
                place = OutputPlace(self.fed, mark.cols, mark.rows, number + 1)
                answers = self._ranges.by_screen(self.fed)
                request = Resize(self._number, mark.cols, mark.rows, answers)
                self._send(request, lambda answer: self._read(place, answer), self.fed)
                return
        self._skip(stop)
        if self._styles:
            styles, self._styles = self._styles, b""
            self._send(Feed(self._number, styles), lambda answer: None, self.fed)
            return
        if self.fed >= stop:
            return
        to = self._ranges.boundary(self.fed, min(stop, self.fed + PIECE_LIMIT))
        to = max(self._whole_at(to), self.fed + 1) if to < stop else to
        place = self._place._replace(offset=to)
        data = self._journal.copy(self.fed, to)
        request_ = Feed(self._number, data, self._ranges.by_screen(self.fed))
        self._send(request_, lambda answer: self._read(place, answer), to)

    def _read(self, place: OutputPlace, answer: Answer) -> None:
        """Handle the screen's answer after it has read the output up to `place`."""
        self._place = place
        self._ranges.answered(place.offset)
        if answer.replies:
            self._reply(answer.replies)

    def _answered(self, answer: Answer) -> None:
        self._crashes = 0
        self._requests.answer_first(answer)

    # ---- deciding what to read

    def _consider(self) -> None:
        """Decide what the screen reads next. Called only while the screen is not busy."""
        end, capacity, answered = self._journal.end, self._journal.capacity, self._viewer_at
        behind = end - self.fed
        least = PIECE if self._open else min(LAZY, capacity // 4)
        if self._whole and self._plan.may_wait(self.fed, end, cut=True):
            if behind >= capacity // 8 * 3:  # leave room in the journal for output that arrives before the next call
                if not self._requests.first and self._marks.get(self._next_mark()) is None:
                    self._skip(end)
                if end - self.fed >= capacity // 16 * 5:  # skipping was not enough, so read everything at once
                    self._follow_to = end
        elif answered is None:
            if not self._whole or behind >= least or self._plan.asks(self.fed, end):
                self._follow_to = end
        else:
            to = max(answered, end - min(LAG, capacity // 4))
            if to - self.fed >= least:
                self._follow_to = max(self._follow_to, to)
        self._checkpoint_wanted()

    def _checkpoint_wanted(self) -> bool:
        """Return whether a new checkpoint is due because of output since the last one or because of a request."""
        if self._journal.end - self._checkpoint.place.offset > self._journal.capacity // 8 * 3:
            self._wants_checkpoint = True
        return self._wants_checkpoint

    def _skip(self, to: int) -> None:
        """Skip output before `to` that would scroll away. The screen reads only the style sequences in it."""
        if not self._calm:
            return
        at, styles = self._plan.skipped(self.fed, to, self._place.rows)
        if at == self.fed:
            return
        known = self._checkpoint
        if known.place == self._place and known.calm and len(known.data) + len(styles) <= CHECKPOINT_BYTES:
            place = known.place._replace(offset=at)
            self._checkpoint = known._replace(place=place, data=known.data + styles)
            self._moved()
        self._place = self._place._replace(offset=at)
        if self._open:
            self._styles += styles

    def _keep(self, capacity: int) -> None:
        """Take a checkpoint if shrinking the journal to `capacity` would drop output that the old checkpoint needs."""
        if self._journal.end - self._checkpoint.place.offset > capacity // 4:
            self._wants_checkpoint = True
            self.follow()

    @property
    def _checkpoint_due(self) -> bool:
        return self._wants_checkpoint and self._checkpoint.place != self._place

    def _checkpoint_made(self, answer: Answer) -> None:
        self._wants_checkpoint = False
        self._checkpoint = Checkpoint(self._place, answer.data, answer.whole, answer.calm)
        self._moved()

    def _next_mark(self) -> int:
        return max(self._place.next_mark, self._marks.first)

    def _whole_at(self, offset: int) -> int:
        """Return `offset`, moved back to the start of a character that it would split."""
        start = max(self._journal.start, offset - 3)
        return offset - unfinished(self._journal.copy(start, offset)) if start < offset else offset

    # ---- crashes

    def lost(self, *, at_fault: bool) -> None:
        """Handle the process's exit. The screen is rebuilt from the checkpoint when it is next needed."""
        self._busy = False
        if not at_fault:
            self._begin_again()
            return
        first, last = self._sending
        near = first <= self._crashed[1] and last >= self._crashed[0]
        self._crashes = self._crashes + 1 if near else 1
        self._crashed = self._sending
        if self._crashes < ATTEMPTS:
            self._begin_again()
            return
        log.error("! the screen process has ended %d times at the same output; skipping that output", self._crashes)
        self._crashes = 0
        if first == last and self._requests.first:
            self._requests.answer_first(None)
        self._restart_at(self._place._replace(offset=last))

    def _begin_again(self) -> None:
        self._plan.went_back(self.fed)
        if self._checkpoint_wanted():
            self._follow_to = self._journal.end  # a program may be blocked until the new checkpoint exists
        elif self._follow_to <= self._ranges.answered_to:
            self._follow_to = 0  # the output will be read once the screen is needed
        checkpoint = self._checkpoint
        self._place, self._whole, self._calm = checkpoint.place, checkpoint.whole, checkpoint.calm
        self._open, self._styles = False, b""

    def _lose_place(self) -> None:
        """Continue with the oldest remaining output. The journal has dropped output that the screen hadn't read."""
        log.warning("! a screen has lost %d bytes of output", self._journal.start - self._checkpoint.place.offset)
        self._restart_at(self._marks.place_at(self._journal.start))

    def _restart_at(self, place: OutputPlace) -> None:
        """Restart at `place`, with the output before `place` as plain text."""
        self._checkpoint = Checkpoint(place, self._requests.plain(place, 0))
        self._ranges.answered(place.offset)
        self._begin_again()
        self._moved()
