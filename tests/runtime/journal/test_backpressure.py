"""The fastest reader sets the pace, a lossless one is never outrun, and one that stalls is ignored until it moves."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from hawse_runtime.journal.backpressure import Backpressure
from hawse_runtime.journal.journal import LEAST_CAPACITY, Journal
from hawse_runtime.journal.limits import FlowLimits

CAPACITY = 4 << 20
ROOM, PROGRESS = FlowLimits().room, FlowLimits().progress


class Viewer:
    def __init__(self, cursor: int | None = 0, *, lossless: bool = False) -> None:
        self.cursor = cursor
        self.lossless = lossless


class Source:
    """A program that prints while its output is read."""

    def __init__(self, flow: FlowLimits) -> None:
        self.journal = Journal(CAPACITY, flow=flow)
        self.reading = True
        self.resumed = asyncio.Event()
        self.pacer = Backpressure(self.journal, self._pause, self._resume)

    def _pause(self) -> None:
        assert self.reading
        self.reading = False
        self.resumed.clear()

    def _resume(self) -> None:
        assert not self.reading
        self.reading = True
        self.resumed.set()

    def prints(self, size: int) -> None:
        self.journal.append(bytes(size))
        self.pacer.update()

    def takes(self, viewer: Viewer, size: int) -> None:
        assert viewer.cursor is not None
        viewer.cursor += size
        self.pacer.advanced()


@pytest.fixture
def flow() -> FlowLimits:
    """The limits of `source`. A test that needs others parametrizes this fixture directly."""
    return FlowLimits()


@pytest.fixture
async def source(flow: FlowLimits) -> AsyncIterator[Source]:
    source = Source(flow)
    yield source
    source.pacer.close()


async def test_without_readers_everything_is_read(source: Source) -> None:
    source.prints(3 * CAPACITY)
    assert source.reading


async def test_a_reader_that_has_not_begun_does_not_pause_the_program(source: Source) -> None:
    source.pacer.add(Viewer(None))
    source.prints(CAPACITY)
    assert source.reading


async def test_the_fastest_reader_sets_the_pace(source: Source) -> None:
    fast, slow = Viewer(), Viewer()
    source.pacer.add(fast)
    source.pacer.add(slow)
    source.prints(ROOM)
    assert source.reading
    source.prints(1)
    assert not source.reading
    source.takes(fast, 1)
    assert source.reading
    for _ in range(20):
        source.prints(ROOM)
        source.takes(fast, ROOM)
    assert source.reading, "the slow one is far behind by now"


async def test_the_program_runs_on_when_the_last_reader_is_removed(source: Source) -> None:
    viewer = Viewer()
    source.pacer.add(viewer)
    source.prints(2 * ROOM)
    assert not source.reading
    source.pacer.remove(viewer)
    assert source.reading


@pytest.mark.parametrize("flow", [FlowLimits(stall_timeout=0.01)])
async def test_a_reader_without_progress_is_ignored_until_it_makes_progress(source: Source) -> None:
    stalled = Viewer()
    source.pacer.add(stalled)
    source.prints(2 * ROOM)
    assert not source.reading
    await source.resumed.wait()
    source.prints(ROOM)
    assert source.reading
    source.journal.flow = replace(source.journal.flow, stall_timeout=3600.0)
    source.takes(stalled, PROGRESS - 1)
    source.prints(1)
    assert source.reading
    source.takes(stalled, 1)
    source.prints(1)
    assert not source.reading, "it has made progress: it counts again"


@pytest.mark.parametrize("flow", [FlowLimits(stall_timeout=0.05)])
async def test_a_reader_that_takes_too_little_in_time_is_ignored(source: Source) -> None:
    drip = Viewer()
    source.pacer.add(drip)
    source.prints(2 * ROOM)

    source.takes(drip, PROGRESS - 1)
    await source.resumed.wait()
    source.takes(drip, 1)
    assert source.pacer.stalled(drip), "it has taken enough, but not in time"
    source.prints(2 * CAPACITY)
    source.takes(drip, source.journal.start - (drip.cursor or 0))
    source.prints(CAPACITY // 2)
    assert source.reading, "output that it skipped does not count as progress"


@pytest.mark.parametrize("flow", [FlowLimits(stall_timeout=0.01)])
async def test_a_reader_that_has_everything_is_not_ignored(source: Source) -> None:
    fast, slow = Viewer(), Viewer(lossless=True)
    source.pacer.add(fast)
    source.pacer.add(slow)
    source.prints(CAPACITY // 2 + 1)
    source.takes(fast, source.journal.end)
    assert not source.reading
    await asyncio.sleep(0.05)  # time itself is tested: several times `stall_timeout`
    source.takes(slow, source.journal.end)
    assert source.reading
    source.prints(ROOM + 1)
    assert not source.reading


@pytest.mark.parametrize("flow", [FlowLimits(stall_timeout=0.01, lossless_stall_timeout=0.3)])
async def test_the_timeout_of_a_lossless_reader_begins_at_its_own_last_progress(source: Source) -> None:
    loop = asyncio.get_running_loop()
    moves, stuck = Viewer(lossless=True), Viewer(lossless=True)
    source.pacer.add(moves)
    source.pacer.add(stuck)
    began = loop.time()
    source.prints(CAPACITY // 2 + 1000)
    while not source.pacer.stalled(stuck):
        source.takes(moves, 1)
        await asyncio.sleep(0.002)  # time itself is tested
    assert loop.time() - began >= 0.29
    assert not source.pacer.stalled(moves)
    assert not source.reading, "a reader that makes progress is not outrun"


async def test_a_lossless_reader_is_never_outrun(source: Source) -> None:
    fast, lossless = Viewer(), Viewer(lossless=True)
    source.pacer.add(fast)
    source.pacer.add(lossless)
    while source.reading:
        source.prints(1000)
        source.takes(fast, 1000)
    assert CAPACITY // 2 < source.journal.end <= CAPACITY // 2 + 1000
    source.takes(lossless, 1000)
    assert source.reading


async def test_the_position_of_a_lost_lossless_reader_is_held_until_it_is_added_again(source: Source) -> None:
    lossless = Viewer(lossless=True)
    source.pacer.add(lossless, "id")
    source.pacer.remove(lossless)
    source.prints(CAPACITY // 2 + 1)
    assert not source.reading
    back = Viewer(0, lossless=True)
    source.pacer.add(back, "id")
    assert not source.pacer.held
    source.takes(back, CAPACITY // 2)
    assert source.reading


@pytest.mark.parametrize("flow", [FlowLimits(hold_timeout=0.01)])
async def test_a_held_position_is_released_after_the_timeout(source: Source) -> None:
    lossless = Viewer(lossless=True)
    source.pacer.add(lossless, "id")
    source.pacer.remove(lossless)
    source.prints(CAPACITY)
    assert not source.reading
    await source.resumed.wait()


async def test_no_position_is_held_if_the_reader_was_added_again_before_the_old_one_was_removed(source: Source) -> None:
    old, new = Viewer(0, lossless=True), Viewer(0, lossless=True)
    source.pacer.add(old, "id")
    source.pacer.add(new, "id")
    source.pacer.remove(old)
    assert not source.pacer.held


@pytest.mark.parametrize(("lossless", "resume_id"), [(False, "id"), (True, None)])
async def test_only_lossless_readers_with_a_resume_id_are_held(
    source: Source, lossless: bool, resume_id: str | None
) -> None:
    viewer = Viewer(0, lossless=lossless)
    source.pacer.add(viewer, resume_id)
    source.pacer.remove(viewer)
    assert not source.pacer.held


async def test_a_following_reader_is_not_outrun_and_does_not_set_the_pace(source: Source) -> None:
    viewer, wait = Viewer(0), Viewer(0, lossless=True)
    source.pacer.add(viewer)
    source.pacer.add(wait, follows=True)
    source.prints(ROOM + 1)
    source.takes(wait, ROOM + 1)
    assert not source.reading  # the viewer is the one that leads
    source.takes(viewer, ROOM + 1)
    assert source.reading
    source.pacer.remove(viewer)
    source.prints(CAPACITY // 2 + 1)
    assert not source.reading  # and without any, the one that follows is not outrun
    source.takes(wait, 1)
    assert source.reading


async def test_after_close_nothing_is_held_or_watched(source: Source) -> None:
    viewer, lossless = Viewer(), Viewer(lossless=True)
    source.pacer.add(lossless, "a")
    source.pacer.remove(lossless)
    source.pacer.add(viewer)
    source.prints(CAPACITY)
    source.pacer.close()
    assert not source.pacer.held
    assert not source.pacer.watching
    late = Viewer(0, lossless=True)
    source.pacer.add(late, "b")
    source.pacer.remove(late)
    assert not source.pacer.held


async def test_in_a_small_journal_the_fastest_reader_is_not_outrun_either() -> None:
    source = Source(FlowLimits())
    source.journal.limit(LEAST_CAPACITY)
    viewer = Viewer()
    source.pacer.add(viewer)
    source.prints(LEAST_CAPACITY // 2)
    assert source.reading
    source.prints(1)
    assert not source.reading
    assert source.journal.start == 0
    source.pacer.close()


async def test_a_reader_that_only_follows_does_not_hide_a_slower_lossless_one() -> None:
    source = Source(FlowLimits())
    ahead, slow = Viewer(0, lossless=True), Viewer(0, lossless=True)
    source.pacer.add(ahead, follows=True)
    source.pacer.add(slow)
    source.journal.append(bytes(1 << 20))
    ahead.cursor = 1 << 20
    source.journal.limit(LEAST_CAPACITY)
    assert source.journal.start == 0
    slow.cursor = 1 << 20
    source.journal.limit(LEAST_CAPACITY)
    assert source.journal.start > 0
    source.pacer.close()
