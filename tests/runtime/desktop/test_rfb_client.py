"""The runtime's connection to an X server that answers with anything: each answer has a bound and an error."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hawse.wire import HawseError
from hawse_runtime.desktop import rfb
from hawse_runtime.desktop.rfb import Rect, ScreenSize
from hawse_runtime.desktop.rfb_client import RfbClient

GREETING = rfb.VERSION + b"\x01\x01" + bytes(4)
INIT = struct.pack(">HH16xI", 4, 3, 4) + b"name"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(path: Path, serve: Serve) -> Any:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_unix_server(handle, path)
    try:
        yield str(path)
    finally:
        listening.close()


@asynccontextmanager
async def connected(path: Path, serve: Serve) -> Any:
    """A client of a server that has done the handshake and then calls `serve`."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GREETING + INIT)
        await reader.readexactly(12 + 1 + 1 + 20 + 20)
        await serve(reader, writer)

    async with server(path, handle) as address, asyncio.TaskGroup() as tasks:
        client = await RfbClient.connect(address)
        running = tasks.create_task(client.run())
        yield client
        client.close()
        running.cancel()


def update(*rects: tuple[Rect, int, bytes]) -> bytes:
    parts = [struct.pack(">4Hi", *rect, encoding) + data for rect, encoding, data in rects]
    return struct.pack(">BxH", 0, len(parts)) + b"".join(parts)


async def test_a_capture_is_put_together_of_its_rectangles(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        writer.write(b"\x02")  # a bell
        writer.write(update((Rect(0, 0, 4, 3), rfb.EXTENDED_DESKTOP_SIZE, b"\x01" + bytes(3 + 16))))
        assert (await reader.readexactly(10))[1] == 1  # incremental
        left = update((Rect(0, 0, 1, 3), rfb.RAW, b"abcdefghijkl"))
        right = update((Rect(1, 0, 3, 3), rfb.RAW, b"ABCDEFGHIJKL" * 3))
        writer.write(left + right)
        await reader.read()

    async with connected(tmp_path / "s", serve) as client:
        part, pixels = await client.capture(None)
        assert part == Rect(0, 0, 4, 3)
        assert bytes(pixels) == b"abcdABCDEFGHIJKLefghABCDEFGHIJKLijklABCDEFGHIJKL"


async def test_a_capture_begins_again_when_the_size_changes(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        writer.write(update((Rect(0, 0, 2, 1), rfb.DESKTOP_SIZE, b"")))
        await reader.readexactly(10)
        while (await reader.readexactly(10))[1] != 0:
            pass
        writer.write(update((Rect(0, 0, 2, 1), rfb.RAW, b"12345678")))
        await reader.read()

    async with connected(tmp_path / "s", serve) as client:
        part, pixels = await client.capture(None)
        assert (part, bytes(pixels)) == (Rect(0, 0, 2, 1), b"12345678")
        assert client.size == ScreenSize(2, 1)


@pytest.mark.parametrize(
    "message",
    [
        b"\x09",
        struct.pack(">B3xi", 3, 1 << 30),
        struct.pack(">B3xiI", 3, -8, rfb.PROVIDE | rfb.TEXT) + b"junk",
        update((Rect(0, 0, 4, 3), 7, b"")),
        update((Rect(0, 0, 5, 3), rfb.RAW, b"")),
        update((Rect(3, 0, 2, 3), rfb.RAW, bytes(24))),
        update((Rect(0, 65_535, 4, 1), rfb.RAW, bytes(16))),
        update((Rect(0, 0, 65_535, 65_535), rfb.DESKTOP_SIZE, b"")),
        update((Rect(0, 0, 0, 0), rfb.DESKTOP_SIZE, b"")),
        b"",
    ],
)
async def test_an_answer_that_is_not_allowed_ends_the_connection(tmp_path: Path, message: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        writer.write(message)

    async with connected(tmp_path / "s", serve) as client:
        with pytest.raises(HawseError) as failed:
            await client.capture(None)
        assert failed.value.code == "io_error"
        assert client.ended


@pytest.mark.parametrize(
    "greeting",
    [
        b"RFB 003.003\n",
        rfb.VERSION + b"\x01\x02",
        rfb.VERSION + b"\x00",
        rfb.VERSION + b"\x01\x01\x00\x00\x00\x01",
        GREETING + struct.pack(">HH16xI", 4, 3, 1 << 30),
        GREETING + struct.pack(">HH16xI", 65_535, 65_535, 0),
        GREETING + struct.pack(">HH16xI", 0, 0, 0),
        b"",
    ],
)
async def test_a_handshake_that_fails_is_an_error(tmp_path: Path, greeting: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)

    async with server(tmp_path / "s", serve) as address:
        with pytest.raises(HawseError) as failed:
            await RfbClient.connect(address)
        assert failed.value.code == "io_error"


async def test_a_socket_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HawseError) as failed:
        await RfbClient.connect(str(tmp_path / "nothing"))
    assert failed.value.code == "io_error"


async def test_changes_are_waited_for_and_returned_as_they_came(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readexactly(10))[1] == 1  # incremental
        writer.write(update((Rect(0, 0, 4, 3), rfb.EXTENDED_DESKTOP_SIZE, b"\x01" + bytes(3 + 16))))
        await reader.readexactly(10)
        writer.write(update((Rect(1, 1, 2, 1), rfb.RAW, b"abcdefgh"), (Rect(0, 2, 1, 1), rfb.RAW, b"ABCD")))
        await reader.readexactly(10)
        writer.write(update((Rect(0, 0, 8, 6), rfb.DESKTOP_SIZE, b"")))
        await reader.read()

    async with connected(tmp_path / "s", serve) as client:
        assert await client.changes() == [(Rect(1, 1, 2, 1), b"abcdefgh"), (Rect(0, 2, 1, 1), b"ABCD")]
        assert await client.changes() == []
        assert client.size == (8, 6)


async def test_a_server_that_sends_more_than_its_screen_is_disconnected(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        writer.write(update(*[(Rect(0, 0, 4, 3), rfb.RAW, bytes(48))] * 3))
        await reader.read()

    async with connected(tmp_path / "s", serve) as client:
        with pytest.raises(HawseError, match="the server sent too many pixels"):
            await client.changes()
