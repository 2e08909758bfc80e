"""The fastest reader paces, a lossless one is never outrun, and a stalled one counts as gone until it moves."""

import asyncio
from typing import Any

import pytest

from runtime.journal import backpressure as pace
from runtime.journal.backpressure import PROGRESS, ROOM, Backpressure
from runtime.journal.journal import LEAST_CAPACITY, Journal
from tests.support.runtime import eventually

CAPACITY = 4 << 20


class Viewer:
    def __init__(self, cursor: int | None = 0, *, lossless: bool = False) -> None:
        self.cursor = cursor
        self.lossless = lossless


class Source:
    """A program that prints when it may."""

    def __init__(self) -> None:
        self.journal = Journal(CAPACITY)
        self.reading = True
        self.pacer = Backpressure(self.journal, self._pause, self._resume)

    def _pause(self) -> None:
        assert self.reading
        self.reading = False

    def _resume(self) -> None:
        assert not self.reading
        self.reading = True

    def prints(self, size: int) -> None:
        self.journal.append(bytes(size))
        self.pacer.update()

    def takes(self, viewer: Viewer, size: int) -> None:
        assert viewer.cursor is not None
        viewer.cursor += size
        self.pacer.advanced()


@pytest.fixture
async def source() -> Any:
    source = Source()
    yield source
    source.pacer.close()


async def test_with_nobody_there_everything_is_read(source: Source) -> None:
    source.prints(3 * CAPACITY)
    assert source.reading


async def test_who_has_not_begun_holds_up_nothing(source: Source) -> None:
    source.pacer.add(Viewer(None))
    source.prints(CAPACITY)
    assert source.reading


async def test_the_fastest_paces_and_the_slowest_does_not(source: Source) -> None:
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


async def test_the_last_to_leave_lets_the_program_run(source: Source) -> None:
    viewer = Viewer()
    source.pacer.add(viewer)
    source.prints(2 * ROOM)
    assert not source.reading
    source.pacer.remove(viewer)
    assert source.reading


async def test_one_that_makes_no_progress_counts_as_gone_until_it_does(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.01)
    stalled = Viewer()
    source.pacer.add(stalled)
    source.prints(2 * ROOM)
    assert not source.reading
    await eventually(lambda: source.reading)
    source.prints(ROOM)
    assert source.reading
    monkeypatch.setattr(pace, "PATIENCE", 3600.0)
    source.takes(stalled, PROGRESS - 1)
    source.prints(1)
    assert source.reading
    source.takes(stalled, 1)
    source.prints(1)
    assert not source.reading, "it has made progress: it counts again"


async def test_one_that_takes_a_little_at_a_time_counts_as_gone(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.05)
    drip = Viewer()
    source.pacer.add(drip)
    source.prints(2 * ROOM)

    def resumed() -> bool:
        if not source.reading:
            source.takes(drip, 1)
        return source.reading

    await eventually(resumed)
    source.prints(2 * CAPACITY)
    source.takes(drip, source.journal.start - (drip.cursor or 0))
    source.prints(CAPACITY // 2)
    assert source.reading, "the output that it was sent around is no progress"


async def test_one_that_has_everything_does_not_count_as_gone(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.01)
    fast, slow = Viewer(), Viewer(lossless=True)
    source.pacer.add(fast)
    source.pacer.add(slow)
    source.prints(CAPACITY // 2 + 1)
    source.takes(fast, source.journal.end)
    assert not source.reading
    await asyncio.sleep(0.05)  # several times PATIENCE
    source.takes(slow, source.journal.end)
    assert source.reading
    source.prints(ROOM + 1)
    assert not source.reading


async def test_a_lossless_one_has_patience_from_its_own_last_progress(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "PATIENCE", 0.01)
    monkeypatch.setattr(pace, "LOSSLESS_PATIENCE", 0.3)
    loop = asyncio.get_running_loop()
    moves, stuck = Viewer(lossless=True), Viewer(lossless=True)
    source.pacer.add(moves)
    source.pacer.add(stuck)
    source.prints(CAPACITY // 2 + 1000)
    began = loop.time()
    while not source.pacer._readers[stuck].gone:
        source.takes(moves, 1)
        await asyncio.sleep(0.002)
    assert loop.time() - began >= 0.29
    assert not source.pacer._readers[moves].gone
    assert not source.reading, "who still moves is not outrun"


async def test_a_lossless_one_is_never_outrun(source: Source) -> None:
    fast, lossless = Viewer(), Viewer(lossless=True)
    source.pacer.add(fast)
    source.pacer.add(lossless)
    while source.reading:
        source.prints(1000)
        source.takes(fast, 1000)
    assert CAPACITY // 2 < source.journal.end <= CAPACITY // 2 + 1000
    source.takes(lossless, 1000)
    assert source.reading


async def test_its_place_is_held_after_a_cut_and_is_its_own_again_when_it_comes_back(source: Source) -> None:
    lossless = Viewer(lossless=True)
    source.pacer.add(lossless, "id")
    source.pacer.remove(lossless)
    source.prints(CAPACITY // 2 + 1)
    assert not source.reading
    back = Viewer(0, lossless=True)
    source.pacer.add(back, "id")
    assert not source.pacer._holds
    source.takes(back, CAPACITY // 2)
    assert source.reading


async def test_a_place_is_not_held_for_ever(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "HOLD", 0.01)
    lossless = Viewer(lossless=True)
    source.pacer.add(lossless, "id")
    source.pacer.remove(lossless)
    source.prints(CAPACITY)
    assert not source.reading
    await eventually(lambda: source.reading)


async def test_no_place_is_held_for_one_who_is_back_before_the_old_line_is_known_to_be_cut(source: Source) -> None:
    old, new = Viewer(0, lossless=True), Viewer(0, lossless=True)
    source.pacer.add(old, "id")
    source.pacer.add(new, "id")
    source.pacer.remove(old)
    assert not source.pacer._holds


@pytest.mark.parametrize(("lossless", "resume_id"), [(False, "id"), (True, None)])
async def test_nobody_elses_place_is_held(source: Source, lossless: bool, resume_id: str | None) -> None:
    viewer = Viewer(0, lossless=lossless)
    source.pacer.add(viewer, resume_id)
    source.pacer.remove(viewer)
    assert not source.pacer._holds


async def test_one_that_follows_is_waited_for_but_leads_nobody(source: Source) -> None:
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


async def test_after_the_end_nothing_is_held_or_watched(source: Source) -> None:
    viewer, lossless = Viewer(), Viewer(lossless=True)
    source.pacer.add(lossless, "a")
    source.pacer.remove(lossless)
    source.pacer.add(viewer)
    source.prints(CAPACITY)
    source.pacer.close()
    assert not source.pacer._holds
    assert source.pacer._watch is None
    late = Viewer(0, lossless=True)
    source.pacer.add(late, "b")
    source.pacer.remove(late)
    assert not source.pacer._holds


async def test_in_a_small_journal_the_fastest_is_not_outrun_either() -> None:
    source = Source()
    source.journal.limit(LEAST_CAPACITY)
    viewer = Viewer()
    source.pacer.add(viewer)
    source.prints(LEAST_CAPACITY // 2)
    assert source.reading
    source.prints(1)
    assert not source.reading
    assert source.journal.start == 0
    source.pacer.close()
