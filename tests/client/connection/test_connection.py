"""One connection: its handshake, its pings, and every way it can end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from hawse.client.base.errors import RefusedError
from hawse.client.connection.connection import ConnectionEnd, GatewayConnection
from hawse.client.connection.dial import dial
from hawse.client.connection.liveness import CountingConnection
from hawse.wire import Error, Event, Goaway, Hello, RemoteProtocolError, Welcome
from hawse.wire.limits import Limits
from hawse.wire.messages import Message, Ping, Pong, encode, from_client
from tests.support.client import eventually

WELCOME = Welcome(protocol=1, server="s", identity="me", role="owner", limits=Limits())


class Script:
    """The server's side of one line: a coroutine that reads and writes messages."""

    def __init__(self, websocket: ServerConnection) -> None:
        self.websocket = websocket

    async def receive(self) -> Any:
        return from_client.decode(await self.websocket.recv())

    async def send(self, *messages: Message | str | bytes) -> None:
        for message in messages:
            await self.websocket.send(encode(message).decode() if isinstance(message, Message) else message)

    async def welcome(self) -> None:
        assert isinstance(await self.receive(), Hello)
        await self.send(WELCOME)


Play = Callable[[Script], Any]


@asynccontextmanager
async def connect_to(play: Play, received: list[Any] | None = None) -> AsyncIterator[GatewayConnection]:
    async def handle(websocket: ServerConnection) -> None:
        await play(Script(websocket))

    async with serve(handle, "127.0.0.1", 0, subprotocols=["hawse.v1"], close_timeout=0.2) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        async with await dial(f"ws://127.0.0.1:{port}/", token=None, timeout=5) as websocket:
            yield GatewayConnection(websocket, (received if received is not None else []).append)


async def until(play: Play, received: list[Any] | None = None, **options: Any) -> ConnectionEnd:
    """Greet and run to the end."""
    async with connect_to(play, received) as connection:
        ending = await connection.handshake()
        return ending or await connection.run(**{"ping_interval": 60, "sleep": asyncio.sleep, **options})


async def test_a_connection_begins_with_hello_and_a_ping() -> None:
    received: list[Any] = []

    async def play(script: Script) -> None:
        await script.welcome()
        received.append(await script.receive())
        await script.send(Pong(t=received[0].t))
        await script.websocket.close(1000)

    async with connect_to(play) as connection:
        assert await connection.handshake() is None
        assert connection.welcome == WELCOME
        assert connection.rtt is None
        await connection.run(ping_interval=60, sleep=asyncio.sleep)
        assert isinstance(received[0], Ping)
        assert connection.rtt is not None
        assert 0 <= connection.rtt < 5


async def test_what_arrives_on_channels_is_handed_on() -> None:
    async def play(script: Script) -> None:
        await script.welcome()
        await script.send(Goaway(reason="restart", retry_after=3))
        await script.websocket.close(1012)

    received: list[Any] = []
    ending = await until(play, received)
    assert received == [Goaway(reason="restart", retry_after=3)]
    assert (ending.final, ending.retry_after) == (None, 3)


@pytest.mark.parametrize(("code", "final"), [(1011, False), (1012, False), (4429, False), (4401, True), (1008, True)])
@pytest.mark.parametrize("greeted", [False, True])
async def test_the_close_code_decides_whether_to_reconnect(code: int, final: bool, greeted: bool) -> None:
    async def play(script: Script) -> None:
        if greeted:
            await script.welcome()
        await script.send(Error(code="said_so", message="because", retryable=False, admitted="no"))
        await script.websocket.close(code)

    ending = await until(play)
    assert (ending.final is not None) is final
    if final:
        assert isinstance(ending.final, RefusedError)
        assert (ending.final.code, ending.final.message) == ("said_so", "because")


async def test_a_lost_connection_is_not_final() -> None:
    async def play(script: Script) -> None:
        await script.welcome()
        script.websocket.transport.abort()

    assert (await until(play)).final is None


async def test_a_connection_without_a_sign_of_life_is_dropped() -> None:
    async def play(script: Script) -> None:
        await script.welcome()
        await script.websocket.wait_closed()

    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    ending = await until(play, ping_interval=10, sleep=at_once)
    assert ending == ConnectionEnd("nothing was received within 10 s")


async def test_a_connection_with_pongs_is_kept() -> None:
    """The time between two pings ends when a pong has arrived."""
    ticks: asyncio.Queue[None] = asyncio.Queue()

    async def play(script: Script) -> None:
        await script.welcome()
        for _ in range(5):
            ping = await script.receive()
            # The event after the pong shows that the pong has been read.
            await script.send(Pong(t=ping.t), Goaway(reason="tick", retry_after=0))
        await script.websocket.close(1000)

    class Ticking(list[Any]):
        def append(self, event: Any) -> None:
            ticks.put_nowait(None)

    async def tick(seconds: float) -> None:
        await ticks.get()

    assert (await until(play, Ticking(), ping_interval=10, sleep=tick)).reason.startswith("closed with 1000")


async def test_a_connection_is_kept_by_what_arrives_instead_of_a_pong() -> None:
    """Each ping is answered by a part of one message, as if the pong waited behind it on a slow network."""
    text = encode(Goaway(reason="slow", retry_after=0))

    async def play(script: Script) -> None:
        await script.welcome()
        frame = bytes([0x81, len(text)]) + text
        for part in (frame[:1], frame[1:2], frame[2:9], frame[9:]):
            assert isinstance(await script.receive(), Ping)
            script.websocket.transport.write(part)
        assert isinstance(await script.receive(), Ping)
        await script.websocket.close(1000)

    async with connect_to(play) as connection:
        websocket = connection.websocket
        assert isinstance(websocket, CountingConnection)

        async def arrived(seconds: float) -> None:
            before = websocket.received
            await eventually(lambda: websocket.received > before)  # no event exists for a part of a message

        assert await connection.handshake() is None
        ending = await connection.run(ping_interval=10, sleep=arrived)
    assert ending.reason.startswith("closed with 1000")


@pytest.mark.parametrize(
    ("nonsense", "code"),
    [("{", 1007), (b"\x09", 1007), (Event(ch=5, name="x"), 1008), (WELCOME, 1008)],
    ids=["json", "frame", "channel", "welcome"],
)
async def test_a_server_that_violates_the_protocol_gets_the_close_code(nonsense: Any, code: int) -> None:
    closed: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def play(script: Script) -> None:
        await script.welcome()
        await script.send(nonsense)
        await script.websocket.wait_closed()
        closed.set_result(script.websocket.close_code)

    ending = await until(play)
    assert isinstance(ending.final, RemoteProtocolError)
    assert await closed == code


async def test_a_server_that_begins_with_an_invalid_message_is_final() -> None:
    async def play(script: Script) -> None:
        await script.send(Pong(t=1), "[]")
        await script.websocket.wait_closed()

    assert isinstance((await until(play)).final, RemoteProtocolError)


async def test_a_ping_of_the_server_is_answered() -> None:
    received: list[Any] = []

    async def play(script: Script) -> None:
        await script.welcome()
        await script.send(Ping(t=77))
        received.extend([await script.receive(), await script.receive()])
        await script.websocket.close(1000)

    await until(play)
    assert Pong(t=77) in received
