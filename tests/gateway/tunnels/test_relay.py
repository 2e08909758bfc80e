"""Bytes both ways, the end of each half, and idle connections. The visitor is a real socket, the port a fake."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hawse_gateway.tunnels.relay import relay

TIMEOUT = 20.0  # s until a waiting test fails


class Port:
    """A program at the other end of a channel."""

    def __init__(self) -> None:
        self.sends: asyncio.Queue[bytes] = asyncio.Queue()
        self.got = bytearray()
        self.ended = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()

    async def read(self) -> bytes:
        return await self.sends.get()

    async def write(self, *parts: bytes) -> None:
        await self.takes.wait()
        self.got += b"".join(parts)

    async def keep_pace(self) -> None:
        """There is no limit."""

    def end(self) -> None:
        self.ended.set()


@asynccontextmanager
async def visitor() -> AsyncIterator[tuple[socket.socket, asyncio.StreamReader, asyncio.StreamWriter]]:
    """A socket, and the streams at its other end."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=theirs)
    try:
        async with asyncio.timeout(TIMEOUT):
            yield ours, reader, writer
    finally:
        ours.close()
        writer.transport.abort()


async def test_bytes_pass_both_ways_and_each_half_ends_by_itself() -> None:
    port, loop = Port(), asyncio.get_running_loop()
    async with visitor() as (ours, reader, writer), asyncio.TaskGroup() as tasks:
        relaying = tasks.create_task(relay(reader, writer, port, first=b"fir"))
        await loop.sock_sendall(ours, b"st")
        ours.shutdown(socket.SHUT_WR)
        await port.ended.wait()
        assert bytes(port.got) == b"first"
        assert not relaying.done()
        port.sends.put_nowait(b"answer")
        port.sends.put_nowait(b"")
        answer = b""
        while part := await loop.sock_recv(ours, 100):
            answer += part
        assert answer == b"answer"


async def test_a_port_that_does_not_read_holds_the_visitor_back() -> None:
    port, loop = Port(), asyncio.get_running_loop()
    port.takes.clear()
    async with visitor() as (ours, reader, writer), asyncio.TaskGroup() as tasks:
        relaying = tasks.create_task(relay(reader, writer, port))
        size = 32 << 20
        sending = tasks.create_task(loop.sock_sendall(ours, bytes(size)))
        done, _ = await asyncio.wait([sending], timeout=0.2)
        assert not done, "32 MiB fit into no buffer on the way"
        port.takes.set()
        await sending
        ours.shutdown(socket.SHUT_WR)
        await port.ended.wait()
        assert len(port.got) == size
        port.sends.put_nowait(b"")
        await relaying


async def test_an_idle_connection_ends() -> None:
    async with visitor() as (_, reader, writer):
        with pytest.raises(TimeoutError):
            await relay(reader, writer, Port(), idle=0.05)
