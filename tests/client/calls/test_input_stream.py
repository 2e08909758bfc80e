"""The input stream: backpressure, resending, EOF, and the end."""

import asyncio

import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import InputStream
from hawse.wire import End, HawseError
from tests.support.client import MemoryConnection


class Wired:
    """A feed on a channel of a line without a socket."""

    def __init__(self, limit: int = 100) -> None:
        self.input_stream = InputStream(limit, self.wake)
        self.reconnect()

    def reconnect(self) -> None:
        self.connection = MemoryConnection(CallTable(Options()))
        self.ch = self.connection.protocol.call("x")
        self.input_stream.opening()
        self.connection.writer.attach(self.ch, self.input_stream)

    def wake(self) -> None:
        self.connection.writer.wake(self.ch)
        self.connection.wake_writer()

    async def until_sent(self, total: int) -> None:
        """Wait until `total` bytes have been sent on this connection."""
        await self.connection.until(lambda: sum(len(payload) for _, payload in self.sent()) >= total)

    def sent(self) -> list[tuple[int, bytes]]:
        return self.connection.inputs()


async def test_a_new_stream_is_sent_before_opened_arrives() -> None:
    wired = Wired()
    await wired.input_stream.write(b"abc")
    assert wired.sent() == [(0, b"abc")]


async def test_on_a_new_connection_input_waits_for_opened() -> None:
    wired = Wired()
    await wired.input_stream.write(b"abcdef")
    wired.reconnect()
    assert wired.sent() == []
    wired.input_stream.opened(4)
    assert wired.sent() == [(4, b"ef")]


async def test_the_first_opened_confirms_and_repeats_nothing() -> None:
    wired = Wired()
    await wired.input_stream.write(b"abcdef")
    assert wired.sent() == [(0, b"abcdef")]
    wired.input_stream.opened(4)
    assert wired.sent() == [(0, b"abcdef")]
    assert wired.input_stream.buffer.applied == 4


async def test_a_full_window_holds_the_writer_until_credit_comes() -> None:
    wired = Wired(limit=10)
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(wired.input_stream.write(bytes(25)))
        await wired.until_sent(10)
        assert not writing.done()
        wired.input_stream.credited(10)
        await wired.until_sent(20)
        assert not writing.done()
        wired.input_stream.credited(10)
    assert wired.sent() == [(0, bytes(10)), (10, bytes(10)), (20, bytes(5))]


async def test_writes_of_two_tasks_do_not_mix() -> None:
    wired = Wired(limit=2)
    async with asyncio.TaskGroup() as group:
        for data in (b"aaaaa", b"bbbbb"):
            group.create_task(wired.input_stream.write(data))
        buffer = wired.input_stream.buffer
        while buffer.applied < 10:
            await wired.until_sent(buffer.applied + 1)
            wired.input_stream.credited(buffer.sent - buffer.applied)
    assert b"".join(payload for _, payload in wired.sent()) == b"aaaaabbbbb"


async def test_flush_waits_for_what_was_written_before_it() -> None:
    wired = Wired()
    await wired.input_stream.write(b"abc")

    async def confirm(flushing: asyncio.Task[None]) -> None:
        """Confirm the first three bytes. This task starts after the one that flushes."""
        assert not flushing.done()
        wired.sent()
        await wired.input_stream.write(b"later")
        wired.input_stream.credited(3)

    async with asyncio.TaskGroup() as group:
        flushing = group.create_task(wired.input_stream.flush())
        group.create_task(confirm(flushing))
    assert wired.input_stream.buffer.applied == 3


async def test_eof_is_sent_once_after_the_last_byte_and_again_on_each_new_connection() -> None:
    wired = Wired()
    await wired.input_stream.write(b"abc")
    await wired.input_stream.end()
    await wired.input_stream.end()
    assert wired.sent() == [(0, b"abc")]
    assert len(wired.connection.of(End)) == 1
    wired.reconnect()
    wired.input_stream.opened(3)
    assert wired.sent() == []
    assert len(wired.connection.of(End)) == 1


async def test_writing_after_the_end_raises() -> None:
    wired = Wired()
    await wired.input_stream.end()
    with pytest.raises(HawseError, match="exited"):
        await wired.input_stream.write(b"x")


async def test_waiting_writers_get_the_error_of_the_call() -> None:
    wired = Wired(limit=1)

    async def attempt(what: str) -> str:
        with pytest.raises(HawseError) as caught:
            await (wired.input_stream.write(b"xyz") if what == "write" else wired.input_stream.flush())
        return caught.value.code

    async with asyncio.TaskGroup() as group:
        writing = group.create_task(attempt("write"))
        flushing = group.create_task(attempt("flush"))
        # Runs after the two tasks have started.
        asyncio.get_running_loop().call_soon(wired.input_stream.finish, HawseError("not_found"))
    assert {writing.result(), flushing.result()} == {"not_found"}


async def test_writing_to_an_ended_program_raises_exited() -> None:
    wired = Wired()
    wired.input_stream.finish(None)
    with pytest.raises(HawseError, match="exited"):
        await wired.input_stream.write(b"x")


async def test_any_buffer_of_bytes_is_taken() -> None:
    wired = Wired()
    await wired.input_stream.write(bytearray(b"ab"))
    await wired.input_stream.write(memoryview(b"cd"))
    assert b"".join(payload for _, payload in wired.sent()) == b"abcd"
