"""Connections through a Unix socket, as from providers' programs. Others are tested in test_listeners.py."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hawse_gateway.store.clock import Clock
from hawse_gateway.tunnels import connections
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.relay import Channel
from hawse_gateway.tunnels.table import TunnelRecord

TIMEOUT = 20.0  # s until a waiting test fails


class Silent:
    """A program that sends `hello` and then nothing until it was told to end."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._chunks.put_nowait(b"hello")

    async def read(self) -> bytes:
        return await self._chunks.get()

    async def write(self, *parts: bytes) -> None: ...

    async def keep_pace(self) -> None: ...

    def end(self) -> None:
        self._chunks.put_nowait(b"")


async def test_visitors_through_a_unix_socket_have_the_address_of_the_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "AT_ONCE_EACH", 1)
    addresses = []

    @asynccontextmanager
    async def connect(record: TunnelRecord, address: str, ended: Callable[[], None]) -> AsyncIterator[Channel]:
        addresses.append(address)
        yield Silent()

    path = str(tmp_path / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    listener.setblocking(False)
    record = TunnelRecord(
        name="shop", sandbox="box", generation="g", port=80, created=Clock().now(), provider="cloudflared"
    )
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(TunnelConnections(connect).serve(record, listener))
        reader, writer = await asyncio.open_unix_connection(path)
        assert await reader.readexactly(5) == b"hello"
        second, second_writer = await asyncio.open_unix_connection(path)
        assert await second.read() == b""  # there is no place for it
        second_writer.close()
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        serving.cancel()
    assert addresses == ["cloudflared:0"]
    assert listener.fileno() == -1
    assert not caplog.records, "the end of a connection is not an error"
