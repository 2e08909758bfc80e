"""Signs of life of a WebSocket, over loopback."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvloop
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.server import ServerConnection, serve

from hawse.client.connection.dial import dial
from hawse.client.connection.liveness import SILENCE, CountingConnection, Liveness
from tests.support.client import eventually

LARGE = 16 << 20  # bytes: more than the buffers of two sockets


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[ClientConnection, ServerConnection]]:
    accepted: asyncio.Future[ServerConnection] = asyncio.get_running_loop().create_future()

    async def handle(websocket: ServerConnection) -> None:
        accepted.set_result(websocket)
        await websocket.wait_closed()

    async with serve(handle, "127.0.0.1", 0, subprotocols=["hawse.v1"], max_size=None, close_timeout=0.2) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        async with await dial(f"ws://127.0.0.1:{port}/", token=None, timeout=5) as websocket:
            yield websocket, await accepted
            if not websocket.transport.is_closing():
                websocket.transport.abort()


async def test_a_connection_can_be_closed_after_its_transport_has_written_its_last_bytes_and_closed_itself() -> None:
    async with pair() as (websocket, server):
        sending = asyncio.create_task(websocket.send(bytes(LARGE)))
        await asyncio.sleep(0)
        assert websocket.transport.get_write_buffer_size() > 0
        websocket.transport.close()
        assert await server.recv() == bytes(LARGE)
        await asyncio.wait([sending])
        await websocket.wait_closed()
        await websocket.close()
        websocket.transport.abort()


async def test_a_part_of_a_message_is_a_sign_of_life() -> None:
    async with pair() as (websocket, server):
        assert isinstance(websocket, CountingConnection)
        liveness = Liveness(websocket)
        liveness.progressed()
        assert not liveness.progressed()
        before = websocket.received
        server.transport.write(b"\x81\x7e")  # the header of a text message, without its length
        # Polls: websockets has no event for a part of a message.
        await eventually(lambda: websocket.received == before + 2)
        assert liveness.progressed()
        assert not liveness.progressed()


def test_a_connection_that_uvloop_has_closed_shows_no_sign_of_life() -> None:
    async def closed() -> bool:
        async with pair() as (websocket, _):
            liveness = Liveness(websocket)
            liveness.progressed()
            websocket.transport.abort()
            await websocket.wait_closed()
            return liveness.progressed()

    assert not uvloop.run(closed())


async def test_an_acknowledgement_without_pending_data_is_not_a_sign_of_life() -> None:
    async with pair() as (websocket, _):
        liveness = Liveness(websocket)
        liveness.progressed()
        await websocket.send("a ping that is not answered")
        await eventually(lambda: not liveness.progressed())  # polls: the kernel reports acknowledgements by no event


@pytest.mark.skipif(sys.platform != "linux", reason="reads struct tcp_info")
async def test_acknowledged_bytes_are_a_sign_of_life_while_more_are_on_their_way() -> None:
    async with pair() as (websocket, server):
        server.transport.pause_reading()
        liveness = Liveness(websocket)
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(websocket.send(b"x" * LARGE))
            # The send has begun, and the buffers are full. Polls the state of the kernel's socket.
            await eventually(lambda: websocket.transport.get_write_buffer_size() > 0 and not liveness.progressed())
            server.transport.resume_reading()
            await eventually(liveness.progressed)
            await server.recv()
            await sending


@pytest.mark.skipif(sys.platform != "linux", reason="reads struct tcp_info")
async def test_acknowledged_bytes_are_no_sign_of_life_when_nothing_was_received_for_long() -> None:
    now = 0.0
    async with pair() as (websocket, server):
        server.transport.pause_reading()
        liveness = Liveness(websocket, lambda: now)
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(websocket.send(b"x" * LARGE))
            await eventually(lambda: websocket.transport.get_write_buffer_size() > 0 and not liveness.progressed())
            now = SILENCE
            server.transport.resume_reading()
            seen: list[bool] = []

            def ended() -> bool:
                seen.append(liveness.progressed())
                return sending.done()

            await eventually(ended)  # polls the state of the kernel's socket
            assert not any(seen)
            await server.recv()
