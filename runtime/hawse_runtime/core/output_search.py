"""Search output for a pattern while it arrives: in steps, which take turns with those of other callers."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from hawse_runtime.core.fair_work import FairWork
from hawse_runtime.core.output_matcher import Matcher, MatchSpan
from hawse_runtime.core.thread_pool import ThreadPool

STEP = 32 << 10  # bytes of output searched in one step: up to 15 ms if they consist of escape sequences
LONG = 1_000_000  # units of `Matcher.work`, about 5 ms: a search that may take longer runs in a thread


class SearchContext(NamedTuple):
    """Where searches run."""

    threads: ThreadPool  # for long searches
    work: FairWork  # for short ones, in the event loop
    caller: str = ""  # the principal whose turns they take


class OutputCursor(Protocol):
    """The position of a search in output that is still being written."""

    offset: int  # of the next byte

    @property
    def at_end(self) -> bool:
        """Whether all output has been taken."""
        ...

    def lost(self) -> bool:
        """Skip bytes that are no longer kept; return whether there were any."""
        ...

    def look(self, size: int) -> bytes | memoryview:
        """Return up to `size` bytes; none while they are being read from disk, after which the search is woken."""
        ...

    def take(self, size: int) -> None:
        """Advance by `size` bytes."""
        ...


class OutputSearch:
    """Searches output from the position of a cursor on. Each `wake` makes it search all output that there is."""

    def __init__(
        self,
        cursor: OutputCursor,
        matcher: Matcher,
        context: SearchContext,
        *,
        found: Callable[[MatchSpan], object],
        searched: Callable[[], object],
    ) -> None:
        """Create a search, which begins with the first `wake`.

        Args:
            cursor: Where the search begins. The caller has called `lost`.
            matcher: The pattern.
            context: Where it runs.
            found: Is called with the first match, and is expected to close the search.
            searched: Is called after each search without a match.
        """
        self.cursor = cursor
        self.matcher = matcher
        self._context = context
        self._found = found
        self._searched = searched
        self._busy = False  # a search runs in a thread, or the next step is scheduled
        self._closed = False

    @property
    def at_end(self) -> bool:
        """Whether all output has been searched."""
        return not self._busy and self.cursor.at_end

    def wake(self) -> None:
        """Search new output. A busy search ignores this: it looks for new output after each step."""
        if not self._busy and not self._closed:
            self._continue()

    def close(self) -> None:
        """End the search: neither `found` nor `searched` is called any more."""
        self._closed = True

    def search_next(self) -> None:
        """Take output from the cursor and search it with `run`."""
        if self.cursor.lost():
            self.matcher.restart()
        data = bytes(self.cursor.look(STEP))
        if not data:
            if self.cursor.at_end:
                self._report(None)
            return  # otherwise the cursor wakes the search when the bytes have been read from disk
        has_text = self.matcher.feed(self.cursor.offset, data)
        self.cursor.take(len(data))
        if has_text:
            self.run(self.matcher.search, self.matcher.work(self.matcher.size))
        else:
            self._report(None)

    def hold(self) -> None:
        """Begin nothing until `resume`, because what is to be searched is not there yet."""
        self._busy = True

    def resume(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        """End `hold`, and `run` the search unless the whole search was closed meanwhile."""
        self._busy = False
        if not self._closed:
            self.run(search, work)

    def run(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        """Run one search: here, or in a thread if it is long.

        Args:
            search: Returns the first match.
            work: How long it may take, in units of `Matcher.work`.
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
