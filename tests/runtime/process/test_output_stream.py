"""An output stream and its cursors: one range of offsets over memory, disk and lost bytes."""

import asyncio
import os
import random
import threading
import weakref
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal.journal import Journal, JournalPool
from hawse_runtime.journal.spill import SpillLimits, SpillStore
from hawse_runtime.process.output_stream import OutputStream, StreamCursor
from tests.support.runtime import eventually
from tests.support.waiting import TIMEOUT, Changes, writable

RING = 64 << 10
SIZE = 500_000
DATA = random.Random(0).randbytes(SIZE)


class Printed:
    """A stream with a pipe that the test writes to."""

    def __init__(self, store: SpillStore | None, journal: Journal | None = None) -> None:
        self.changes = Changes()
        ours, self.into = os.pipe()
        os.set_blocking(ours, False)
        os.set_blocking(self.into, False)
        self.stream = OutputStream(ours, Journal(RING) if journal is None else journal, self.changes.notify, store)

    async def print(self, data: bytes) -> None:
        end = self.stream.end + len(data)
        while data:
            try:
                data = data[os.write(self.into, data) :]
            except BlockingIOError:
                await writable(self.into)
        await self.changes.until(lambda: self.stream.end == end)

    def close(self) -> None:
        os.close(self.into)
        self.stream.finish()
        self.stream.forget()


@pytest.fixture
async def store(tmp_path: Path, pools: ThreadPools) -> AsyncIterator[SpillStore]:
    store = SpillStore(pools.spill, Folder(tmp_path / "spill"), SpillLimits(each=800_000, segment=40_000))
    yield store
    await store.close()


async def read(cursor: StreamCursor, arrived: asyncio.Event) -> bytes:
    got = bytearray()
    while not cursor.at_end:
        assert not cursor.lost()
        data = bytes(cursor.look(10_000))
        if data:
            got += data
            cursor.take(len(data))
        else:
            await arrived.wait()
            arrived.clear()
    return bytes(got)


async def test_a_cursor_reads_from_disk_and_then_from_memory(store: SpillStore) -> None:
    printed = Printed(store)
    await printed.print(DATA)
    assert printed.stream.journal.start > 0
    assert printed.stream.describe().start == 0
    for since in (0, 1, 123_456, SIZE - 10, SIZE):
        arrived = asyncio.Event()
        cursor = StreamCursor(printed.stream, since, arrived.set)
        assert await read(cursor, arrived) == DATA[since:]
    printed.close()


async def test_a_reader_of_the_disk_does_not_slow_the_program_until_its_bytes_would_be_overwritten(
    store: SpillStore,
) -> None:
    printed = Printed(store)
    await printed.print(DATA[:300_000])
    old = StreamCursor(printed.stream, 0, lambda: None)
    printed.stream.pacer.add(old)
    assert old.cursor is None
    await printed.print(DATA[300_000:400_000])
    os.write(printed.into, b"x" * 50_000)
    await printed.changes.until(lambda: old.cursor == 0)  # it is behind by half of what the disk holds
    await printed.changes.until(lambda: printed.stream.pacer.paused)
    printed.stream.pacer.remove(old)
    await eventually(lambda: not printed.stream.pacer.paused)  # after a write to disk, which is no event
    printed.close()


async def test_without_a_disk_bytes_that_leave_the_ring_are_lost() -> None:
    printed = Printed(None)
    await printed.print(DATA)
    cursor = StreamCursor(printed.stream, 0, lambda: None)
    assert cursor.lost()
    assert cursor.offset == printed.stream.journal.start == printed.stream.describe().start
    assert not cursor.lost()
    printed.close()


async def test_a_cursor_with_a_limit_stops_and_does_not_slow_the_program() -> None:
    printed = Printed(None)
    await printed.print(DATA[:1000])
    cursor = StreamCursor(printed.stream, 0, lambda: None, limit=300)
    assert bytes(cursor.look(1000)) == DATA[:300]
    assert not cursor.full
    cursor.take(300)
    assert cursor.full
    assert cursor.cut
    assert cursor.at_end
    await printed.print(DATA[1000:2000])
    assert cursor.cursor == 2000
    printed.close()


async def test_a_closed_cursor_is_not_called_when_the_disk_answers(store: SpillStore) -> None:
    printed = Printed(store)
    await printed.print(DATA)
    called: list[bool] = []
    cursor = StreamCursor(printed.stream, 0, lambda: called.append(True))
    assert not cursor.look(10)
    cursor.close()
    again = asyncio.Event()
    other = StreamCursor(printed.stream, 0, again.set)
    assert not other.look(10)
    await again.wait()
    assert not called
    printed.close()


async def test_a_stream_that_is_dropped_while_the_disk_is_slow_does_not_block_others(store: SpillStore) -> None:
    pool, slow = JournalPool(), threading.Event()
    store.run(lambda: slow.wait(20))
    try:
        printed = Printed(store, pool.journal())
        released = asyncio.Event()
        journal = weakref.ref(printed.stream.journal, lambda _: released.set())
        await printed.print(bytes(700_000))
        printed.close()
        del printed
        assert journal() is not None  # it is still being written out
        assert pool.journal().capacity > 0  # the pool reads the size of the other journals
    finally:
        slow.set()
    async with asyncio.timeout(TIMEOUT):
        await released.wait()
