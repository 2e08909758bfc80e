"""Bytes go in whole and in order, come out to the last one, and no descriptor is left."""

import asyncio
import itertools
import os
import socket
import tty
from collections.abc import Iterator
from typing import Any

import pytest

from hawse.link import keystrokes as keystrokes_module
from hawse.link.keystrokes import LEAST, SMALL, TYPING, Keystrokes
from hawse_runtime.posix import fd_streams
from hawse_runtime.posix.fd_streams import READ_BURST, FdReader, FdWriter
from tests.support.runtime import no_fd_leaked
from tests.support.waiting import TIMEOUT, Changes

BIG = b"".join(b"%07d\n" % n for n in range(131072))  # 1 MiB without repetitions


class Reads:
    """An inlet and what came of it."""

    def __init__(self, fd: int, keystrokes: Keystrokes | None = None) -> None:
        os.set_blocking(fd, False)
        self.data = bytearray()
        self.bursts: list[int] = []
        self.ended = asyncio.Event()
        self.changes = Changes()
        self.inlet = FdReader(fd, self._take, self.ended.set, lambda: READ_BURST, keystrokes)

    @property
    def sizes(self) -> list[int]:
        return [after - before for before, after in itertools.pairwise([0, *self.bursts])]

    def _take(self, data: bytes) -> None:
        self.data += data
        self.bursts.append(len(self.data))
        self.changes.notify()


@pytest.fixture(autouse=True)
async def _no_fd_left() -> Any:
    asyncio.get_running_loop()
    with no_fd_leaked():
        yield


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


@pytest.fixture
def raw_pty() -> Iterator[tuple[int, int]]:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield master, slave
    os.close(slave)


async def test_a_slow_reader_gets_a_big_write_whole_and_in_order(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.set_blocking(writer, False)
    written: list[int] = []
    outlet = FdWriter(writer, owned=True)
    half = len(BIG) // 2
    outlet.write(BIG[:half], written.append)
    outlet.write(BIG[half:], written.append)
    assert outlet.pending == len(BIG) - sum(written)
    outlet.end()
    got = bytearray()
    while part := await asyncio.to_thread(os.read, reader, 1000 if len(got) < 100_000 else 60_000):
        got += part
    os.close(reader)
    assert bytes(got) == BIG
    assert sum(written) == len(BIG)
    assert outlet.closed
    assert outlet.pending == 0


async def test_a_pty_takes_a_megabyte_whole(raw_pty: tuple[int, int]) -> None:
    master, slave = raw_pty
    outlet = FdWriter(master, owned=True)
    outlet.write(memoryview(BIG))
    got = bytearray()
    while len(got) < len(BIG):
        got += await asyncio.to_thread(os.read, slave, 65536)
    assert bytes(got) == BIG
    outlet.close()


async def test_data_that_cannot_be_read_any_more_is_dropped_and_counted_as_written(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.set_blocking(writer, False)
    written: list[int] = []
    outlet = FdWriter(writer, owned=True)
    changes = Changes()

    def count(size: int) -> None:
        written.append(size)
        changes.notify()

    outlet.write(BIG, count)
    os.close(reader)
    await changes.until(lambda: outlet.closed)
    assert sum(written) == len(BIG)
    outlet.write(b"more", written.append)
    assert sum(written) == len(BIG) + 4
    outlet.end()
    outlet.close()


async def test_an_end_without_anything_queued_closes_at_once(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    outlet = FdWriter(writer, owned=True)
    outlet.end()
    assert outlet.ended
    assert outlet.closed
    assert os.read(reader, 1) == b""
    os.close(reader)


async def test_an_outlet_that_does_not_own_its_fd_leaves_it_open(raw_pty: tuple[int, int]) -> None:
    master, _ = raw_pty
    outlet = FdWriter(master, owned=False)
    outlet.write(BIG)
    outlet.close()
    os.fstat(master)
    os.close(master)


async def test_an_inlet_reads_to_the_end(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    reads = Reads(reader)
    write = asyncio.create_task(asyncio.to_thread(_write_all, writer, BIG))
    async with asyncio.timeout(TIMEOUT):
        await reads.ended.wait()
        await write
    await reads.changes.until(lambda: len(reads.data) == len(BIG))
    assert bytes(reads.data) == BIG
    assert reads.inlet.ended
    assert reads.bursts[-1] == len(BIG)
    reads.inlet.close()
    assert max(after - before for before, after in zip([0, *reads.bursts], reads.bursts, strict=False)) <= (
        READ_BURST + 65536
    )


async def test_an_inlet_reads_a_portion_at_a_time() -> None:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # a read gives no more than was written at once
    with here, there:
        here.setblocking(False)
        for _ in range(50):
            there.send(bytes(1000))
        taken, bursts, changes = bytearray(), list[int](), Changes()

        def take(data: bytes) -> None:
            taken.extend(data)
            bursts.append(len(taken))
            changes.notify()

        inlet = FdReader(os.dup(here.fileno()), take, lambda: None, lambda: 10_000)
        await changes.until(lambda: len(taken) == 50_000)
        inlet.close()
    assert bursts == [10_000, 20_000, 30_000, 40_000, 50_000]


async def test_portions_are_small_while_somebody_types_and_nothing_is_lost_when_they_change(
    pipe: tuple[int, int],
) -> None:
    reader, writer = pipe
    os.set_blocking(writer, False)
    now = 0.0
    keystrokes = Keystrokes(lambda: now)
    reads = Reads(reader, keystrokes)
    outlet = FdWriter(writer, owned=True)
    outlet.write(BIG)
    outlet.end()
    small = 0
    for _ in range(5):  # a key, then silence, and so on
        keystrokes.note(1)
        first = len(reads.bursts)
        await reads.changes.until(lambda first=first: len(reads.bursts) >= first + 3)  # type: ignore[misc]
        assert max(reads.sizes[first:]) <= SMALL
        small = len(reads.bursts)
        now += 2 * TYPING
        await reads.changes.until(lambda small=small: len(reads.bursts) > small + 1)  # type: ignore[misc]
        assert max(reads.sizes[small + 1 :]) > SMALL  # the first of them may have begun before
    await reads.ended.wait()
    assert bytes(reads.data) == BIG
    reads.inlet.close()


def typing(monkeypatch: pytest.MonkeyPatch) -> Keystrokes:
    """Somebody types without end, and each turn of a reader comes a second after the last one."""
    monkeypatch.setattr(keystrokes_module, "TYPING", 1e9)
    keystrokes = Keystrokes(itertools.count(1.0).__next__)
    keystrokes.note(1)
    return keystrokes


async def test_many_readers_share_what_is_read_while_somebody_types() -> None:
    pipes = [os.pipe() for _ in range(5)]
    keystrokes = Keystrokes(lambda: 1.0)  # no time passes
    keystrokes.note(1)
    many = [Reads(reader, keystrokes) for reader, _ in pipes]
    for _, writer in pipes:
        os.write(writer, bytes(SMALL))
        os.close(writer)
    for reads in many:
        await reads.ended.wait()
        assert len(reads.data) == SMALL
        reads.inlet.close()
    sizes = sorted(size for reads in many for size in reads.sizes)
    assert sizes == [LEAST] * 16 + [SMALL]


async def test_a_reader_of_much_output_rests_while_somebody_types(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fd_streams, "REST", 3600.0)
    reader, writer = pipe
    keystrokes = typing(monkeypatch)
    reads = Reads(reader, keystrokes)
    os.write(writer, b"an echo")
    await reads.changes.until(lambda: reads.bursts == [7])
    os.write(writer, bytes(3 * SMALL))
    await reads.changes.until(lambda: len(reads.bursts) == 2)  # at once, as little output was before it
    for _ in range(5):
        await asyncio.sleep(0)
    assert reads.sizes == [7, SMALL]
    reads.inlet.pause()
    for _ in range(5):
        await asyncio.sleep(0)
    assert reads.sizes == [7, SMALL]
    reads.inlet.resume()
    await reads.changes.until(lambda: len(reads.bursts) == 3)
    os.close(writer)
    reads.inlet.drain(1 << 20)  # at the end of a program, also while it rests
    assert len(reads.data) == 7 + 3 * SMALL
    assert reads.inlet.ended
    reads.inlet.close()


async def test_a_reader_reads_on_after_its_rest(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = pipe
    reads = Reads(reader, typing(monkeypatch))
    os.write(writer, bytes(3 * SMALL))
    os.close(writer)
    await reads.ended.wait()
    assert reads.sizes == [SMALL] * 3
    reads.inlet.close()


async def test_a_paused_reader_reads_nothing_until_it_is_resumed(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    reads = Reads(reader)
    reads.inlet.pause()
    reads.inlet.pause()
    os.write(writer, b"waiting")
    for _ in range(5):
        await asyncio.sleep(0)
    assert not reads.data
    reads.inlet.resume()
    reads.inlet.resume()
    await reads.changes.until(lambda: reads.data == b"waiting")
    os.close(writer)
    await reads.ended.wait()
    reads.inlet.resume()
    assert not reads.inlet.closed, "to close a terminal would hang up its program"
    reads.inlet.close()


async def test_draining_reads_the_available_output_also_while_paused(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    reads = Reads(reader)
    reads.inlet.pause()
    os.write(writer, b"last bytes")
    reads.inlet.drain(1 << 20)
    assert reads.data == b"last bytes"
    assert not reads.inlet.ended, "the other end is still open"
    reads.inlet.close()
    os.close(writer)


async def test_a_pty_ends_when_no_process_has_it_open(raw_pty: tuple[int, int]) -> None:
    master, slave = raw_pty
    reads = Reads(master)
    other = os.dup(slave)
    os.write(other, b"bye")
    os.close(other)
    await reads.changes.until(lambda: reads.data == b"bye")
    reads.inlet.close()


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)
