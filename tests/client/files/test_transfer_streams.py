"""Files: the channels without a socket, then handles against a server."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import hawse
from hawse.api.files import FileOpened, FileRead, FileWrite
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import BufferedChunk
from hawse.client.files.transfer_streams import ReadCall, WriteCall
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryConnection
from tests.support.fake_server import NUMBERS, FakeServer
from tests.support.waiting import in_directory

OPENED = {"size": 20, "version": "v1", "mode": 0o600, "mtime": 1.5}


def reading(**options: Any) -> tuple[CallTable, MemoryConnection, ReadCall]:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    call = ReadCall(FileRead(path="/f", **options), sandbox="local", window=1000)
    calls.submit(call)
    connection.pump()
    return calls, connection, call


async def test_a_repeated_read_asks_for_the_rest_of_the_same_version() -> None:
    calls, connection, call = reading(offset=5, length=10)
    assert connection.params == {"path": "/f", "offset": 5, "length": 10}
    connection.event("opened", OPENED)
    connection.data(Kind.OUTPUT, 5, b"5678")
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.params == {"path": "/f", "version": "v1", "offset": 9, "length": 6}
    again.event("opened", OPENED)
    again.data(Kind.OUTPUT, 9, b"9abcde")
    again.result({"bytes": 6, "version": "v1"})
    _, item = await call.receive_buffer.get()
    assert isinstance(item, BufferedChunk)
    assert item.data == b"56789abcde"
    assert call.done.result().version == "v1"
    assert call.info == FileOpened(**OPENED)  # type: ignore[arg-type]


@pytest.mark.parametrize("refused", [True, False])
async def test_a_file_that_changed_meanwhile_is_a_conflict(refused: bool) -> None:
    calls, connection, call = reading()
    connection.event("opened", OPENED)
    calls.disconnected()
    again = MemoryConnection(calls)
    if refused:
        again.error(HawseError("conflict"))
    else:
        again.event("opened", {**OPENED, "version": "v2"})
    with pytest.raises(HawseError, match="conflict"):
        await call.done


async def test_a_read_that_ends_early_is_an_error() -> None:
    _, connection, call = reading()
    connection.event("opened", OPENED)
    connection.data(Kind.OUTPUT, 0, b"0123")
    connection.result({"bytes": 20, "version": "v1"})
    with pytest.raises(HawseError, match="io_error"):
        await call.done


async def test_an_upload_is_repeated_with_its_key_from_what_was_applied() -> None:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = WriteCall(FileWrite(path="/f", mode=0o644, parents=True, input="-"), sandbox="local")
    calls.submit(call)
    await call.input_stream.write(b"abcdef")
    key = connection.call.key
    assert key
    assert connection.inputs() == [(0, b"abcdef")]
    assert connection.params == {"path": "/f", "mode": 0o644, "parents": True, "input": call.input_stream.id}
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.call.key == key
    again.event("opened", {"input_offset": 4})
    await call.input_stream.end()
    assert again.inputs() == [(4, b"ef")]
    again.result({"bytes": 6, "version": "v1"})
    assert call.done.result().bytes == 6


async def test_an_upload_that_the_server_received_in_part_is_an_error() -> None:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = WriteCall(FileWrite(path="/f", parents=False, input="-"), sandbox="local")
    calls.submit(call)
    await call.input_stream.write(b"abcdef")
    await call.input_stream.end()
    connection.result({"bytes": 5, "version": "v1"})
    with pytest.raises(HawseError, match="io_error"):
        await call.done


# ---- against a server


async def test_a_file_streams_out_in_part(hw: hawse.Client) -> None:
    async with hw.sandbox().files.open_read("numbers", offset=1000, length=200_000) as file:
        content = b"".join([chunk async for chunk in file])
        assert file.info.size == len(NUMBERS)
    assert content == NUMBERS[1000:201_000]


async def test_opening_a_missing_file_is_not_found(hw: hawse.Client) -> None:
    with pytest.raises(HawseError, match="not_found"):
        async with hw.sandbox().files.open_read("none"):
            pytest.fail("not reached")


async def test_a_file_appears_when_the_block_ends(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().files.open_write("new") as file:
        await file.write(b"one ")
        await file.write(b"two")
        with pytest.raises(RuntimeError):
            _ = file.result
        assert not (server.root / "new").exists()
    assert (server.root / "new").read_bytes() == b"one two"
    assert file.result.bytes == 7


async def test_an_error_in_the_block_leaves_the_old_file(hw: hawse.Client, server: FakeServer) -> None:
    with pytest.raises(ZeroDivisionError):
        async with hw.sandbox().files.open_write("numbers") as file:
            await file.write(b"half")
            raise ZeroDivisionError
    await hw.call("echo")
    assert (server.root / "numbers").read_bytes() == NUMBERS
    assert [params["key"] for params in server.params("file.cancel")] == [*server.keys("file.write")]


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_a_cancelled_write_gives_the_upload_up(hw: hawse.Client, server: FakeServer) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"half"
        await asyncio.Event().wait()

    writing = asyncio.create_task(hw.sandbox().files.write("numbers", endless()))
    await in_directory(server.root, lambda: any(path.read_bytes() == b"half" for path in server.root.iterdir()))
    writing.cancel()
    await server.until(lambda: server.params("file.cancel"))
    assert [params["key"] for params in server.params("file.cancel")] == [*server.keys("file.write")]
    with pytest.raises(asyncio.CancelledError):
        await writing


async def test_a_complete_upload_is_not_given_up(hw: hawse.Client, server: FakeServer) -> None:
    await hw.sandbox().files.write("new", b"x")
    await hw.call("echo")
    assert server.params("file.cancel") == []


async def test_a_refused_upload_raises_the_reason(hw: hawse.Client, server: FakeServer) -> None:
    server.fail["file.write"] = [HawseError("no_space", retryable=False)]
    with pytest.raises(HawseError, match="no_space"):
        await hw.sandbox().files.write("x", b"y" * 1_000_000)
