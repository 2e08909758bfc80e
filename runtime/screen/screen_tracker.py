"""The screen of a terminal beside its journal: how far it has read, through which sizes, and what it shows.

It lags behind on purpose: viewers are served first, and plain text waits for somebody who looks.
"""

import weakref
from collections.abc import Callable

from runtime.core.weak_callback import WeakCallback
from runtime.journal.journal import Journal
from runtime.screen.screen import ALL, Screen
from runtime.screen.size_history import SizeHistory
from runtime.screen.snapshot_cache import CachedSnapshot

LAG = 1 << 20  # bytes it may be behind, of what a viewer has yet to answer


class ScreenTracker:
    """Of one terminal; use it from its start, and `close` it."""

    def __init__(self, journal: Journal, marks: SizeHistory, *, reply: Callable[[bytes], None]) -> None:
        """`reply` is called, while output is read, with what the screen answers to queries in it."""
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
        """Read up to `to`, by default all there is, through every size change on the way."""
        to = self._journal.end if to is None else to
        self._mark = max(self._mark, self._marks.first)
        while (mark := self._marks.get(self._mark)) is not None and mark.offset <= to:
            self._screen.catch_up(self._journal, mark.offset)
            self._screen.resize(mark.cols, mark.rows)
            self._mark += 1
        self._screen.catch_up(self._journal, to)

    def keep_near(self, answered: int | None) -> None:
        """Read what has to be read by now: nothing of this holds up a viewer.

        Of plain text it is too much for a screen to see it all. And what the viewer that answers has not had yet, from
        `answered` on, the screen answers if that leaves. None: no viewer answers.
        """
        end, lag = self._journal.end, min(LAG, self._journal.capacity // 4)
        if self._screen.may_wait(self._journal, end):
            if end - self.fed >= self._journal.capacity // 8 * 3:  # what comes before the next time has to fit, too
                if self._marks.get(max(self._mark, self._marks.first)) is None:
                    self._screen.skip(self._journal, end)
                if end - self.fed >= lag:
                    self.follow(end)
        elif answered is None:
            self.follow(end)
        else:
            self.follow(max(answered, end - lag))

    def answer_queries(self, to: int | None = None) -> None:
        """See what was asked up to `to`, by default in all there is: who answers is about to change.

        Plain text asks nothing.
        """
        to = self._journal.end if to is None else to
        if not self._screen.may_wait(self._journal, to):
            self.follow(to)

    def snapshot(self, scrollback: int = ALL) -> CachedSnapshot:
        """The screen as it is, with so many rows above it, and the place in the output from which it goes on."""
        self.follow()
        screen = self._screen
        key = screen.fed, self._mark, scrollback
        known = self._known and self._known[1]()
        if known and self._known and self._known[0] == key:  # somebody still has it
            return known
        made = CachedSnapshot(screen.snapshot(scrollback), screen.fed, screen.cols, screen.rows, self._mark)
        self._known = key, weakref.ref(made)
        return made

    def current(self) -> Screen:
        """The screen, brought up to all the output there is. To be looked at only."""
        self.follow()
        return self._screen

    def _keep(self, capacity: int) -> None:
        """The journal will hold less: read what would be gone, also by what comes before the next time."""
        if self._journal.end - self.fed > capacity // 4:
            self.follow()
