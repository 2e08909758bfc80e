"""Searching output for a pattern while it arrives."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hawse_runtime.core.fair_work import FairWork
from hawse_runtime.core.output_matcher import Matcher, MatchSpan
from hawse_runtime.core.output_search import LONG, STEP, OutputSearch, SearchContext
from hawse_runtime.core.thread_pool import ThreadPool

LONG_PATTERN = "needle7|abcdefghijklmnopqrstuvwxyz0123456789"  # searching one step of text is more than LONG of work


class Output:
    """An `OutputCursor` on bytes in memory."""

    def __init__(self, data: bytes = b"") -> None:
        self.offset = 0
        self.data = data
        self.start = 0  # the first byte that is kept
        self.on_disk = False  # whether the next bytes must be read from disk first
        self.looks: list[int] = []

    @property
    def at_end(self) -> bool:
        return self.offset == len(self.data)

    def lost(self) -> bool:
        lost = self.offset < self.start
        self.offset = max(self.offset, self.start)
        return lost

    def look(self, size: int) -> bytes:
        self.looks.append(size)
        return b"" if self.on_disk else self.data[self.offset : self.offset + size]

    def take(self, size: int) -> None:
        self.offset += size


class Turns(FairWork):
    """Runs steps when the test asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], object]] = []

    def submit(self, caller: str, step: Callable[[], object]) -> None:
        assert caller == "ada"
        self.waiting.append(step)

    def take(self) -> None:
        """Run the steps that wait, but not those that they submit."""
        waiting, self.waiting = self.waiting, []
        for step in waiting:
            step()


class Searching:
    """A search and what it has reported."""

    def __init__(self, output: Output, pattern: str, threads: Any = None, work: FairWork | None = None) -> None:
        self.output = output
        self.turns = Turns()
        self.matches: list[MatchSpan] = []
        self.searched: list[int] = []  # the offset at each call of `searched`
        self.found = asyncio.Event()
        context = SearchContext(threads, work or self.turns, "ada")
        self.search = OutputSearch(output, Matcher(pattern), context, found=self._found, searched=self._searched)

    def wake(self) -> None:
        """Wake the search, and run its next step."""
        self.search.wake()
        self.turns.take()

    def _found(self, match: MatchSpan) -> None:
        self.matches.append(match)
        self.search.close()
        self.found.set()

    def _searched(self) -> None:
        self.searched.append(self.output.offset)


@pytest.fixture
async def threads() -> AsyncIterator[ThreadPool]:
    pool = ThreadPool("test", 1)
    yield pool
    pool.close()


async def test_output_is_searched_in_steps_which_wait_for_their_turns() -> None:
    searching = Searching(Output(b"x" * (3 * STEP)), "needle")
    searching.wake()
    assert searching.searched == [STEP]
    assert not searching.search.at_end
    searching.search.wake()
    assert len(searching.turns.waiting) == 1, "a step is already scheduled"
    searching.turns.take()
    searching.turns.take()
    assert searching.search.at_end
    assert searching.searched == [STEP, 2 * STEP, 3 * STEP]
    assert set(searching.output.looks) == {STEP}


async def test_a_match_across_two_wakes_is_found_and_ends_the_search() -> None:
    searching = Searching(Output(b"a nee"), "needle")
    searching.wake()
    searching.output.data += b"dle"
    searching.wake()
    searching.output.data += b" needle"
    searching.wake()
    assert [(match.start, match.end) for match in searching.matches] == [(2, 8)]


async def test_text_before_lost_bytes_and_text_after_them_do_not_match_together() -> None:
    searching = Searching(Output(b"nee"), "needle")
    searching.wake()
    searching.output.data += b"....dle"
    searching.output.start = 7
    searching.wake()
    assert searching.matches == []
    assert searching.search.at_end


async def test_it_waits_for_bytes_that_are_read_from_disk() -> None:
    searching = Searching(Output(b"needle"), "needle")
    searching.output.on_disk = True
    searching.wake()
    assert (searching.searched, searching.search.at_end) == ([], False)
    searching.output.on_disk = False
    searching.wake()
    assert len(searching.matches) == 1


async def test_a_long_search_runs_in_a_thread(threads: ThreadPool) -> None:
    text = b"x" * (STEP - 8) + b"needle7\n"
    searching = Searching(Output(text), LONG_PATTERN, threads, FairWork())
    assert searching.search.matcher.work(STEP) > LONG
    searching.search.wake()
    assert (searching.matches, searching.search.at_end) == ([], False)
    await searching.found.wait()
    assert searching.matches[0].text == "needle7"


async def test_output_that_comes_during_a_long_search_is_searched_after_it(threads: ThreadPool) -> None:
    searching = Searching(Output(b"x" * STEP), LONG_PATTERN, threads, FairWork())
    searching.search.wake()
    searching.output.data += b"\nneedle7"
    searching.search.wake()
    await searching.found.wait()
    assert searching.searched == [STEP]


async def test_a_closed_search_reports_nothing() -> None:
    class Threads:
        def __init__(self) -> None:
            self.started: list[asyncio.Future[Any]] = []

        def submit(self, work: Any) -> "asyncio.Future[Any]":
            self.started.append(asyncio.get_running_loop().create_future())
            return self.started[-1]

    pool = Threads()
    searching = Searching(Output(b"x" * STEP), LONG_PATTERN, pool)
    searching.wake()
    searching.search.close()
    done = asyncio.Event()
    pool.started[0].add_done_callback(lambda future: done.set())
    pool.started[0].set_result(MatchSpan(0, 1, "x", [], {}, False))
    await done.wait()
    assert (searching.matches, searching.searched) == ([], [])
