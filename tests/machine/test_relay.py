import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from hawse.machine.relay import Relay
from hawse.wire import RemoteProtocolError
from hawse.wire.join import JoinAccepted, Quit, Refused, encode_join

ID = "0123456789abcdef"


class EchoRuntime:
    """Stands for a runtime: sends back what it gets."""

    id = ID

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connections = 0

    async def connect(self) -> Any:
        self.connections += 1
        return await asyncio.open_unix_connection(self.path)

    async def echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def relay(
    tmp_path: Path, gateway: Callable[[ServerConnection], Awaitable[None]]
) -> AsyncIterator[tuple[Relay, EchoRuntime]]:
    """A relay between an echo and what a test does as the gateway."""
    runtime = EchoRuntime(tmp_path / "s")
    async with (
        await asyncio.start_unix_server(runtime.echo, runtime.path),
        serve(gateway, "127.0.0.1", 0) as server,
        connect(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", proxy=None) as websocket,
    ):
        yield Relay(websocket, runtime), runtime  # type: ignore[arg-type]


async def run(relay: Relay) -> Quit | Refused | None:
    async with asyncio.TaskGroup() as tasks:
        return await relay.run(tasks)
    raise AssertionError


async def test_bytes_pass_both_ways_in_order_whatever_their_number(tmp_path: Path) -> None:
    sent = bytes(range(256)) * 8192  # 2 MiB, more than every buffer on the way
    got = bytearray()

    async def gateway(websocket: ServerConnection) -> None:
        assert '"sandbox":"a"' in str(await websocket.recv())
        await websocket.send(encode_join(JoinAccepted(sandbox="a")))

        async def write() -> None:
            for start in range(0, len(sent), 50_000):
                await websocket.send(sent[start : start + 50_000])

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            while len(got) < len(sent):
                message = await websocket.recv()
                assert isinstance(message, bytes)
                got.extend(message)
        await websocket.send(encode_join(Quit(reason="over")))
        await websocket.wait_closed()

    async with relay(tmp_path, gateway) as (found, runtime):
        assert await found.join("a", "name") == JoinAccepted(sandbox="a")
        assert runtime.connections == 0
        assert await run(found) == Quit(reason="over")
        await found.leave("over")
    assert got == sent


async def test_a_connection_that_the_runtime_ends_ends_the_websocket(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def gateway(websocket: ServerConnection) -> None:
        await websocket.send(b"x")
        await websocket.wait_closed()
        closed.set()

    async with relay(tmp_path, gateway) as (found, runtime):
        runtime.echo = None  # type: ignore[method-assign, assignment]
        runtime.path = tmp_path / "missing"
        assert await run(found) is None
    await closed.wait()


@pytest.mark.parametrize("message", [b"early", "nonsense", encode_join(Quit(reason="r"))])
async def test_an_answer_that_is_none_is_an_error(tmp_path: Path, message: str | bytes) -> None:
    async def gateway(websocket: ServerConnection) -> None:
        await websocket.send(message)
        await websocket.wait_closed()

    async with relay(tmp_path, gateway) as (found, _):
        with pytest.raises(RemoteProtocolError):
            await found.join(None, "")


async def test_the_end_of_the_connection_ends_the_relay(tmp_path: Path) -> None:
    async def gateway(websocket: ServerConnection) -> None:
        await websocket.send(b"x")
        await websocket.recv()

    async with relay(tmp_path, gateway) as (found, _):
        assert await run(found) is None
