"""WebSockets through a preview: a real program, a real gateway."""

import asyncio
import os

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.previewed import Previewed

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_text_and_bytes_come_back_as_they_were_sent(preview: Previewed) -> None:
    async with preview.socket() as socket:
        for message in ("text ✓", b"\x00\xff bytes", "", b"", os.urandom(900_000)):
            await socket.send(message)
            assert await socket.recv() == message


async def test_a_message_in_fragments_arrives_whole(preview: Previewed) -> None:
    async with preview.socket() as socket:
        await socket.send(["a ", "message ", "in ", "parts"])
        assert await socket.recv() == "a message in parts"


async def test_many_messages_keep_their_order_while_nobody_reads(preview: Previewed) -> None:
    async with preview.socket() as socket:

        async def send() -> None:
            for number in range(300):
                await socket.send(number.to_bytes(4, "big") * 10_000)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(send())
            for number in range(300):
                assert (await socket.recv())[:4] == number.to_bytes(4, "big")


async def test_the_program_chooses_the_subprotocol(preview: Previewed) -> None:
    async with preview.socket(subprotocols=["chat.1", "chat.2"]) as socket:
        assert socket.subprotocol == "chat.2"
    async with preview.socket(subprotocols=["chat.1"]) as socket:
        assert socket.subprotocol is None


async def test_a_refusal_is_the_programs_own(preview: Previewed) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await preview.socket(subprotocols=["nobody"])
    assert refused.value.response.status_code == 418
    assert refused.value.response.body == b"not you"


async def test_close_codes_pass_both_ways(preview: Previewed) -> None:
    async with preview.socket() as socket:
        await socket.send("close 4007 enough of it")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4007, "enough of it")
    async with preview.socket() as socket:
        await socket.close(4001, "bye")
    await preview.until_left("socket 4001 bye")


async def test_who_vanishes_leaves_nothing_behind(preview: Previewed) -> None:
    await preview.http.get("/left")
    before = await preview.held()
    for _ in range(5):
        async with preview.socket() as socket:
            await socket.send("here")
            assert await socket.recv() == "here"
            socket.transport.abort()
    await preview.until_held(before)


async def test_by_name_it_is_the_same(preview: Previewed) -> None:
    url = f"ws://{preview.name}/socket"
    async with preview.socket(host="127.0.0.1", port=preview.stack.port) as socket:
        await socket.send("path")
        assert await socket.recv() == "path"
    async with connect(url, host="127.0.0.1", port=preview.stack.port, proxy=None) as socket:
        await socket.send("name")
        assert await socket.recv() == "name"


async def test_a_token_that_does_not_hold_is_refused_before_the_upgrade(preview: Previewed) -> None:
    url = f"ws://127.0.0.1:{preview.stack.port}/p/local/{'a' * 26}{preview.token[-6:]}/socket"
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, proxy=None)
    assert refused.value.response.status_code == 404
