"""The log of a run: the order of its streams and events, and what is no longer kept."""

import asyncio
from pathlib import Path

import pytest

from hawse_runtime.code.run_log import BARRIER, EventCursor, RunLog
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import SpillLimits, SpillStore
from tests.support.runtime import eventually


def nothing() -> None:
    """A callback that is not used."""


@pytest.fixture
def store(pools: ThreadPools, tmp_path: Path) -> SpillStore:
    return SpillStore(
        pools.spill, Folder(tmp_path / "spill"), SpillLimits(each=64 << 10, segment=32 << 10, batch=16 << 10)
    )


def make(store: SpillStore) -> RunLog:
    return RunLog(lambda: Journal(16 << 10), store, nothing, nothing, nothing)


def written(log: RunLog) -> int:
    """How much of the events is on disk."""
    assert log.events.spill is not None
    return log.events.spill.cursor or 0


async def read(log: RunLog, since: int = 0) -> list[tuple[int, tuple[int, int, int], bytes]]:
    """All frames from an offset on, also those on disk."""
    arrived = asyncio.Event()
    cursor = EventCursor(log, since, arrived.set)
    cursor.lost()
    frames = []
    while not cursor.at_end:
        frame = cursor.look()
        if frame is None:
            await arrived.wait()
            arrived.clear()
            continue
        frames.append((frame.name, frame.at, frame.body))
        cursor.take(frame)
    cursor.close()
    return frames


async def test_events_and_barriers_hold_the_order_of_all_streams(store: SpillStore) -> None:
    log = make(store)
    log.write(0, b"one")
    log.write(0, b"two")
    log.write(1, b"error")
    log.add_event("display", b'{"data":{}}')
    log.write(2, b"image")
    log.add_event("value", b"{}")
    log.write(0, b"three")
    assert await read(log) == [
        (BARRIER, (6, 0, 0), b""),
        (1, (6, 5, 0), b'{"data":{}}'),
        (0, (6, 5, 5), b"{}"),
        (BARRIER, (6, 5, 5), b""),
    ]
    assert (log.end.stdout, log.end.stderr, log.end.bundles) == (11, 5, 5)


async def test_a_reader_begins_after_any_event(store: SpillStore) -> None:
    log = make(store)
    ends = []
    for n in range(5):
        log.add_event("display", b'{"n":%d}' % n)
        ends.append(log.end.events)
    assert [body for _, _, body in await read(log, ends[2])] == [b'{"n":3}', b'{"n":4}']
    assert all(log.is_boundary(end) for end in (0, *ends))
    assert not log.is_boundary(ends[1] + 1)


async def test_events_that_are_no_longer_kept_are_skipped_as_a_whole(store: SpillStore) -> None:
    log = make(store)
    for n in range(5000):
        log.add_event("display", b'{"n":%d,"x":"%b"}' % (n, b"x" * 40))
        if n % 50 == 0:
            await eventually(lambda: written(log) > log.end.events - 12_000)
    frames = await read(log)
    numbers = [int(body[5:].partition(b",")[0]) for _, _, body in frames]
    assert numbers == list(range(numbers[0], 5000))
    assert numbers[0] > 0
    assert len(numbers) > 500
    log.finish()
    log.shrink()
    assert len(await read(log)) < 200
    await store.close()
