"""The writing half: backpressure, resending, EOF, and the end."""

import asyncio

import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import InputStream
from hawse.wire import End, HawseError
from tests.support.client import MemoryLine


class Wired:
    """A feed on a channel of a line without a socket."""

    def __init__(self, limit: int = 100) -> None:
        self.feed = InputStream(limit, self.wake)
        self.reconnect()

    def reconnect(self) -> None:
        self.line = MemoryLine(CallTable(Options()))
        self.ch = self.line.connection.call("x")
        self.feed.opening()
        self.line.writer.attach(self.ch, self.feed)

    def wake(self) -> None:
        self.line.writer.wake(self.ch)

    def sent(self) -> list[tuple[int, bytes]]:
        return self.line.inputs()


async def test_a_new_stream_is_sent_before_the_server_has_said_anything() -> None:
    wired = Wired()
    await wired.feed.write(b"abc")
    assert wired.sent() == [(0, b"abc")]


async def test_on_a_new_line_nothing_is_sent_before_the_server_said_what_it_has() -> None:
    wired = Wired()
    await wired.feed.write(b"abcdef")
    wired.reconnect()
    assert wired.sent() == []
    wired.feed.opened(4)
    assert wired.sent() == [(4, b"ef")]


async def test_the_first_opened_confirms_and_repeats_nothing() -> None:
    wired = Wired()
    await wired.feed.write(b"abcdef")
    assert wired.sent() == [(0, b"abcdef")]
    wired.feed.opened(4)
    assert wired.sent() == [(0, b"abcdef")]
    assert wired.feed.buffer.applied == 4


async def test_a_full_window_holds_the_writer_until_credit_comes() -> None:
    wired = Wired(limit=10)
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(wired.feed.write(bytes(25)))
        for _ in range(3):
            await asyncio.sleep(0)
        assert not writing.done()
        wired.sent()
        wired.feed.credited(10)
        await asyncio.sleep(0)
        assert not writing.done()
        wired.sent()
        wired.feed.credited(10)
    assert wired.sent() == [(0, bytes(10)), (10, bytes(10)), (20, bytes(5))]


async def test_writes_of_two_tasks_do_not_mix() -> None:
    wired = Wired(limit=2)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(wired.feed.write(data)) for data in (b"aaaaa", b"bbbbb")]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            wired.sent()
            wired.feed.credited(wired.feed.buffer.sent - wired.feed.buffer.applied)
    assert b"".join(payload for _, payload in wired.sent()) == b"aaaaabbbbb"


async def test_flush_waits_for_what_was_written_before_it() -> None:
    wired = Wired()
    await wired.feed.write(b"abc")
    async with asyncio.TaskGroup() as group:
        flushing = group.create_task(wired.feed.flush())
        await asyncio.sleep(0)
        assert not flushing.done()
        wired.sent()
        await wired.feed.write(b"later")
        wired.feed.credited(3)
    assert wired.feed.buffer.applied == 3


async def test_eof_comes_once_after_the_last_byte_and_again_on_each_new_line() -> None:
    wired = Wired()
    await wired.feed.write(b"abc")
    await wired.feed.end()
    await wired.feed.end()
    assert wired.sent() == [(0, b"abc")]
    assert len(wired.line.of(End)) == 1
    wired.reconnect()
    wired.feed.opened(3)
    assert wired.sent() == []
    assert len(wired.line.of(End)) == 1


async def test_whoever_writes_after_the_end_is_told() -> None:
    wired = Wired()
    await wired.feed.end()
    with pytest.raises(HawseError, match="exited"):
        await wired.feed.write(b"x")


async def test_whoever_waits_is_told_when_the_channel_fails() -> None:
    wired = Wired(limit=1)

    async def attempt(what: str) -> str:
        with pytest.raises(HawseError) as caught:
            await (wired.feed.write(b"xyz") if what == "write" else wired.feed.flush())
        return caught.value.code

    async with asyncio.TaskGroup() as group:
        writing = group.create_task(attempt("write"))
        await asyncio.sleep(0)
        flushing = group.create_task(attempt("flush"))
        await asyncio.sleep(0)
        wired.feed.finish(HawseError("not_found"))
    assert {writing.result(), flushing.result()} == {"not_found"}


async def test_a_program_that_is_gone_reads_nothing() -> None:
    wired = Wired()
    wired.feed.finish(None)
    with pytest.raises(HawseError, match="exited"):
        await wired.feed.write(b"x")


async def test_any_buffer_of_bytes_is_taken() -> None:
    wired = Wired()
    await wired.feed.write(bytearray(b"ab"))
    await wired.feed.write(memoryview(b"cd"))
    assert b"".join(payload for _, payload in wired.sent()) == b"abcd"
