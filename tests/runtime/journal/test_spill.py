"""Output that leaves memory is read back from disk exactly, within limits. A full disk does not pause the program."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal import spill
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import Spill, SpillLimits, SpillStore
from tests.support.waiting import Changes, in_directory

RING = 64 << 10
MANY = 4 << 20


def number(offset: int) -> int:
    """The byte that stands at `offset`: places that are close differ."""
    return (offset * 31 + (offset >> 8) * 7 + (offset >> 16)) & 0xFF


def text(start: int, end: int) -> bytes:
    return bytes(number(offset) for offset in range(start, end))


class Stream:
    def __init__(self, store: SpillStore, ring: int = RING) -> None:
        self.journal = Journal(ring)
        self.written = Changes()  # notifies of progress
        self.spill = Spill(store, self.journal, self.written.notify)

    async def print(self, size: int) -> None:
        """Output, held back as the pacer does."""
        for _ in range(0, size, 4096):
            self.journal.append(text(self.journal.end, self.journal.end + 4096))
            self.spill.update()
            await self.written.until(lambda: self.journal.end - (self.spill.cursor or 0) <= RING // 2)

    async def settled(self) -> None:
        self.spill.finish()
        await self.idle()

    async def idle(self) -> None:
        """Wait until no write is running."""
        await self.written.until(lambda: not self.spill.busy)

    async def read(self, offset: int) -> tuple[int, bytes]:
        """All from the first byte on that is kept from `offset` on, to where the disk ends."""
        start = self.spill.first_at(offset)
        if start is None:
            return self.journal.end, b""
        got = bytearray()
        while self.spill.first_at(start + len(got)) == start + len(got):
            part: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self.spill.fetch(start + len(got), part.set_result)
            got += await part
        return start, bytes(got)


@pytest.fixture
async def store(tmp_path: Path, pools: ThreadPools) -> AsyncIterator[SpillStore]:
    limits = SpillLimits(total=1_000_000, each=400_000, segment=40_000, batch=16_384)
    store = SpillStore(pools.spill, Folder(tmp_path / "spill"), limits)
    yield store
    await store.close()
    assert not (tmp_path / "spill").exists()


async def test_bytes_that_left_the_ring_are_on_disk(store: SpillStore) -> None:
    stream = Stream(store)
    await stream.print(300_000)
    await stream.settled()
    for offset in (0, 1, 39_999, 40_000, 123_456):
        start, data = await stream.read(offset)
        assert start == offset
        assert data == text(offset, offset + len(data))
        assert offset + len(data) >= stream.journal.start, "there is no gap between disk and memory"


async def test_a_short_stream_never_touches_the_disk(store: SpillStore, tmp_path: Path) -> None:
    stream = Stream(store)
    await stream.print(RING // 4)
    assert not (tmp_path / "spill").exists()
    assert stream.spill.first_at(0) is None


async def test_of_one_stream_the_latest_are_kept(store: SpillStore) -> None:
    stream = Stream(store)
    await stream.print(1_000_000)
    await stream.settled()
    start, data = await stream.read(0)
    assert 500_000 < start < 700_000
    assert store.held <= 400_000
    assert data == text(start, start + len(data))


async def test_of_all_streams_the_oldest_go_first(store: SpillStore) -> None:
    first, others = Stream(store), [Stream(store) for _ in range(3)]
    await first.print(300_000)
    for other in others:
        await other.print(350_000)
        await other.settled()
    assert store.held <= 1_000_000
    assert first.spill.first_at(0) is None
    assert (await others[-1].read(0))[0] == 0


async def test_files_go_with_their_stream(store: SpillStore, tmp_path: Path) -> None:
    streams = [Stream(store) for _ in range(3)]
    for stream in streams:
        await stream.print(100_000)
    for stream in streams:
        stream.spill.close()
    await in_directory(tmp_path / "spill", lambda: not list((tmp_path / "spill").iterdir()))
    assert store.held == 0


async def test_bytes_that_cannot_be_written_are_left_out_and_later_ones_are_written(
    store: SpillStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stream = Stream(store)
    await stream.print(100_000)
    folder = tmp_path / "spill"
    await stream.idle()
    folder.rename(tmp_path / "away")
    folder.write_text("no folder")
    await stream.print(100_000)
    await stream.idle()
    folder.unlink()
    (tmp_path / "away").rename(folder)
    await stream.print(100_000)
    await stream.settled()
    assert [record.getMessage()[:32] for record in caplog.records] == ["! cannot store output on disk: ["]
    start, data = await stream.read(0)
    assert (start, data) == (0, text(0, len(data)))
    assert len(data) < 200_000
    after, rest = await stream.read(len(data))
    assert after > len(data)
    assert after + len(rest) >= stream.journal.start
    assert rest == text(after, after + len(rest))


async def test_only_the_bytes_of_a_removed_file_are_lost(store: SpillStore) -> None:
    stream = Stream(store)
    await stream.print(200_000)
    await stream.settled()
    segment = stream.spill.segments[1]
    segment.folder.unlink(segment.name)
    _, data = await stream.read(0)
    assert data == text(0, 40_000)
    after, _ = await stream.read(40_000)
    assert after == 80_000


async def test_an_ended_stream_keeps_little_in_memory_and_loses_nothing(tmp_path: Path, pools: ThreadPools) -> None:
    store = SpillStore(pools.spill, Folder(tmp_path / "other"))
    stream = Stream(store, ring=4 << 20)
    stream.journal.append(text(0, 600_000))
    stream.spill.finish()
    await stream.written.until(lambda: len(stream.journal) <= spill.AFTERWARDS)
    _, data = await stream.read(0)
    assert len(data) >= stream.journal.start
    assert data + stream.journal.copy(len(data), stream.journal.end) == text(0, 600_000)
    await store.close()


async def test_what_a_killed_runtime_left_is_removed(tmp_path: Path, pools: ThreadPools) -> None:
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "1").write_bytes(b"old")
    store = SpillStore(pools.spill, Folder(tmp_path / "spill"))
    assert not (tmp_path / "spill").exists()
    await store.close()


async def test_streams_that_print_and_end_at_random_stay_within_bounds_and_exact(store: SpillStore) -> None:
    chance = random.Random(7)
    streams = [Stream(store) for _ in range(6)]
    for _ in range(60):
        stream = chance.choice(streams)
        await stream.print(chance.choice((4096, 30_000, 90_000)))
        assert store.held <= 1_000_000
        offset = chance.randrange(stream.journal.end)
        start, data = await stream.read(offset)
        assert start >= offset
        assert data == text(start, start + len(data))
        if chance.random() < 0.1:
            stream.spill.close()
            streams[streams.index(stream)] = Stream(store)
    held = sum(segment.end - segment.start for stream in streams for segment in stream.spill.segments)
    assert store.held == held
