"""Feeds the output of a terminal, with its size changes, to the emulator of its screen.

It may lag behind the journal: viewers are served first, and text that only scrolls is read when the screen is needed.
"""

import weakref
from collections.abc import Callable

from runtime.core.weak_callback import WeakCallback
from runtime.journal.journal import Journal
from runtime.screen.screen import ALL, Screen
from runtime.screen.size_history import SizeHistory
from runtime.screen.snapshot_cache import CachedSnapshot

LAG = 1 << 20  # bytes it may be behind, of output whose queries a viewer has not answered yet


class ScreenTracker:
    """The screen of one terminal. Create it with the terminal, and `close` it."""

    def __init__(self, journal: Journal, marks: SizeHistory, *, reply: Callable[[bytes], None]) -> None:
        """Start with an empty screen.

        Args:
            journal: The output of the terminal.
            marks: Its sizes.
            reply: Is called with the answers of the screen to queries, while output is read.
        """
        self._journal = journal
        self._marks = marks
        self._mark = 1  # the number of the next size change
        self._screen = Screen(*marks.size, reply=reply)
        self._known: tuple[tuple[int, int, int], weakref.ref[CachedSnapshot]] | None = None  # the latest snapshot
        journal.before_limit = WeakCallback(self._keep)

    def close(self) -> None:
        self._journal.before_limit = None
        self._screen.close()

    @property
    def fed(self) -> int:
        """The offset up to which it has read."""
        return self._screen.fed

    def follow(self, to: int | None = None) -> None:
        """Read the output up to offset `to` (None: to the end), applying each size change at its offset."""
        to = self._journal.end if to is None else to
        self._mark = max(self._mark, self._marks.first)
        while (mark := self._marks.get(self._mark)) is not None and mark.offset <= to:
            self._screen.catch_up(self._journal, mark.offset)
            self._screen.resize(mark.cols, mark.rows)
            self._mark += 1
        self._screen.catch_up(self._journal, to)

    def keep_near(self, answered: int | None) -> None:
        """Limit how far the screen lags behind. Called after viewers have been served.

        Text that scrolls away is skipped. The output from `answered` on, which the answering viewer has not
        been sent, is not read yet: the screen answers its queries if that viewer leaves. None: no viewer answers.
        """
        end, lag = self._journal.end, min(LAG, self._journal.capacity // 4)
        if self._screen.may_wait(self._journal, end, cut=True):
            if end - self.fed >= self._journal.capacity // 8 * 3:  # leaves space for the output until the next call
                if self._marks.get(max(self._mark, self._marks.first)) is None:
                    self._screen.skip(self._journal, end)
                if end - self.fed >= self._journal.capacity // 16 * 5:  # otherwise it would be skipped in small steps
                    self.follow(end)
        elif answered is None:
            self.follow(end)
        else:
            self.follow(max(answered, end - lag))

    def answer_queries(self, to: int | None = None) -> None:
        """Answer the queries up to offset `to` (None: to the end), before another viewer becomes the one that answers.

        Text that only scrolls is not read: it contains no queries.
        """
        to = self._journal.end if to is None else to
        if not self._screen.may_wait(self._journal, to):
            self.follow(to)

    def snapshot(self, scrollback: int = ALL) -> CachedSnapshot:
        """Return a snapshot of the present screen with `scrollback` rows above it. An unchanged one is shared."""
        self.follow()
        screen = self._screen
        key = screen.fed, self._mark, scrollback
        known = self._known and self._known[1]()
        if known and self._known and self._known[0] == key:  # a viewer still holds it
            return known
        made = CachedSnapshot(screen.snapshot(scrollback), screen.fed, screen.cols, screen.rows, self._mark)
        self._known = key, weakref.ref(made)
        return made

    def current(self) -> Screen:
        """Return the screen after reading all output. The caller must not change it."""
        self.follow()
        return self._screen

    def _keep(self, capacity: int) -> None:
        """Read the output that the journal will drop when its capacity is reduced to `capacity` bytes."""
        if self._journal.end - self.fed > capacity // 4:
            self.follow()
