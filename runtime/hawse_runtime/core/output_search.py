"""Searches output for a pattern as it arrives, in steps that alternate with other callers' steps."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from hawse_runtime.core.fair_work import FairWork
from hawse_runtime.core.output_matcher import Matcher, MatchSpan
from hawse_runtime.core.thread_pool import ThreadPool

STEP = 32 << 10  # number of bytes searched per step; takes up to 15 ms if they consist of escape sequences
LONG = 1_000_000  # maximum `Matcher.work` of a search on the event loop, about 5 ms; longer searches run in a thread


class SearchContext(NamedTuple):
    """Resources that a search uses."""

    threads: ThreadPool  # runs long searches
    work: FairWork  # runs short searches on the event loop
    caller: str = ""  # the principal's id, used for fair scheduling


class OutputCursor(Protocol):
    """A search's position in output that is still growing."""

    offset: int  # the offset of the next byte

    @property
    def at_end(self) -> bool:
        """Whether all output has been consumed."""
        ...

    def lost(self) -> bool:
        """Skip bytes that have been dropped. Return whether any were skipped."""
        ...

    def look(self, size: int) -> bytes | memoryview:
        """Return up to `size` bytes. While they are being read from disk, return none, and wake the search once they
        have been read.
        """
        ...

    def take(self, size: int) -> None:
        """Advance by `size` bytes."""
        ...


class OutputSearch:
    """Searches output from a cursor's position. Each `wake` searches all available output."""

    def __init__(
        self,
        cursor: OutputCursor,
        matcher: Matcher,
        context: SearchContext,
        *,
        found: Callable[[MatchSpan], object],
        searched: Callable[[], object],
    ) -> None:
        """Create a search, which starts on the first `wake`.

        Args:
            cursor: The position to start from. The caller must have called `lost`.
            matcher: The pattern to search for.
            context: The resources to use.
            found: Called with the first match. Must close the search.
            searched: Called after each search without a match.
        """
        self.cursor = cursor
        self.matcher = matcher
        self._context = context
        self._found = found
        self._searched = searched
        self._busy = False  # whether a search is running in a thread or a step is scheduled
        self._closed = False

    @property
    def at_end(self) -> bool:
        """Whether all output has been searched."""
        return not self._busy and self.cursor.at_end

    def wake(self) -> None:
        """Search new output. Has no effect if a step is running or scheduled, because steps check for new output."""
        if not self._busy and not self._closed:
            self._continue()

    def close(self) -> None:
        """End the search. After that, neither `found` nor `searched` is called."""
        self._closed = True

    def search_next(self) -> None:
        """Read output from the cursor and `run` a search in it."""
        if self.cursor.lost():
            self.matcher.restart()
        data = bytes(self.cursor.look(STEP))
        if not data:
            if self.cursor.at_end:
                self._report(None)
            return  # the cursor wakes the search once bytes have been read from disk
        has_text = self.matcher.feed(self.cursor.offset, data)
        self.cursor.take(len(data))
        if has_text:
            self.run(self.matcher.search, self.matcher.work(self.matcher.size))
        else:
            self._report(None)

    def hold(self) -> None:
        """Delay further steps until `resume` is called, because the text to search is not available yet."""
        self._busy = True

    def resume(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        """End the delay, and `run` the search unless it has been closed."""
        self._busy = False
        if not self._closed:
            self.run(search, work)

    def run(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        """Run a search, either on the event loop or, if it is long, in a thread.

        Args:
            search: Returns the first match.
            work: The maximum cost, in units of `Matcher.work`.
        """
        if work <= LONG:
            self._report(search())
        else:
            self._busy = True
            self._context.threads.submit(search).add_done_callback(self._thread_done)

    def _continue(self) -> None:
        self._busy = True
        self._context.work.submit(self._context.caller, self._step)

    def _step(self) -> None:
        self._busy = False
        if not self._closed:
            self.search_next()

    def _thread_done(self, future: "asyncio.Future[MatchSpan | None]") -> None:
        self._busy = False
        if not self._closed and not future.cancelled():
            self._report(future.result())

    def _report(self, match: MatchSpan | None) -> None:
        if match is not None:
            self._found(match)
            return
        if not self.cursor.at_end:
            self._continue()
        self._searched()
