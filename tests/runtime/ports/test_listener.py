"""A port in the sandbox whose connections the caller takes."""

import asyncio
import hashlib
import socket
from typing import Any

import pytest

from hawse_runtime.ports import listener as module
from hawse_runtime.ports.methods import LISTENERS_LIMIT
from tests.support.principals import VIEWER
from tests.support.runtime import Channel, Client
from tests.support.stack import free_port

SOME = bytes(range(251)) * 8000


async def listening(client: Client, port: int = 0, **options: Any) -> tuple[Channel, int]:
    channel = client.call("port.listen", {"port": port}, **options)
    return channel, (await channel.event("listening"))["port"]


async def test_a_program_and_the_caller_exchange_bytes_and_each_end_closes_on_its_own(client: Client) -> None:
    listen, port = await listening(client)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    incoming = await listen.event("connection")
    assert incoming["address"] == "{}:{}".format(*writer.get_extra_info("sockname"))
    writer.write(SOME)
    writer.write_eof()
    channel = client.call("port.accept", {"connection": incoming["connection"]})
    await channel.event("end")
    assert hashlib.sha256(bytes(channel.output)).digest() == hashlib.sha256(SOME).digest()
    await channel.type(SOME)
    channel.end()
    assert await reader.read() == SOME
    writer.close()
    assert await channel.result() == {"received": len(SOME), "sent": len(SOME)}
    again = client.call("port.accept", {"connection": incoming["connection"]})
    assert (await again.refusal()).code == "not_found"


async def test_the_port_is_free_when_the_call_ends_and_what_waited_is_closed(client: Client) -> None:
    listen, port = await listening(client)
    taken_reader, taken = await asyncio.open_connection("127.0.0.1", port)
    channel = client.call("port.accept", {"connection": (await listen.event("connection"))["connection"]})
    await channel.event("opened")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await listen.until(lambda: len(listen.events) >= 3)
    listen.cancel()
    assert await reader.read() == b""
    writer.close()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)
    await channel.type(b"still here")
    assert await taken_reader.readexactly(10) == b"still here"
    taken.close()


async def test_a_port_that_is_taken_or_reserved_is_an_error(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        channel = client.call("port.listen", {"port": server.getsockname()[1]})
        assert (await channel.refusal()).code == "conflict"
    assert (await client.call("port.listen", {"port": 80}).refusal()).code == "invalid_params"
    assert (await client.call("port.listen", {"port": 65_536}).refusal()).code == "invalid_params"


async def test_a_later_call_of_the_same_user_takes_the_place_of_the_earlier(client: Client) -> None:
    first, port = await listening(client, free_port())
    second, again = await listening(client, port)
    assert again == port
    assert (await first.refusal()).code == "conflict"
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    await second.event("connection")
    writer.close()


async def test_only_operators_listen(client: Client) -> None:
    channel = client.call("port.listen", {}, principal=VIEWER)
    assert (await channel.refusal()).code == "forbidden"


async def test_a_connection_waits_for_a_while_only(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ACCEPT_TIMEOUT", 0.01)
    listen, port = await listening(client)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    incoming = await listen.event("connection")
    assert await reader.read() == b""
    writer.close()
    channel = client.call("port.accept", {"connection": incoming["connection"]})
    assert (await channel.refusal()).code == "not_found"


async def test_connections_and_ports_are_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITING", 2)
    listen, port = await listening(client)
    writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(3)]
    await listen.until(lambda: len(listen.events) >= 3)  # `listening`, and two
    await client.info()
    assert len(listen.events) == 3
    first = (await listen.event("connection"))["connection"]
    await client.call("port.accept", {"connection": first}).event("opened")
    await listen.until(lambda: len(listen.events) >= 4)
    for writer in writers:
        writer.close()
    others = [await listening(client) for _ in range(LISTENERS_LIMIT - 1)]
    assert len(others) == LISTENERS_LIMIT - 1
    assert (await client.call("port.listen").refusal()).code == "limit_exceeded"
