"""Limits that uvicorn's WebSocket lacks and ours enforces."""

import asyncio
import json
import logging
import socket

import pytest
from uvicorn.protocols.utils import ClientDisconnected
from websockets.exceptions import ConnectionClosed

from hawse.wire import Limits
from hawse_gateway.transport.uvicorn_websocket import FRAGMENTS, WRITE_BUFFER, WebSocketProtocol
from tests.support.gateway import FakeRuntime, Gateway, RawSocket, frame
from tests.support.observed import ObservedWebSocket
from tests.support.waiting import TIMEOUT

CLOSE = 0x88
WINDOW = 4 << 20  # bytes that a channel sends without further credit


def close_frame(code: int) -> bytes:
    return code.to_bytes(2, "big")


def protocols(gateway: Gateway) -> list[WebSocketProtocol]:
    return [c for c in gateway.connections if isinstance(c, WebSocketProtocol)]


class Impatient(ObservedWebSocket):
    """Waits for peers that do not read or do not close for a short time only."""

    linger = 0.05


class Patient(ObservedWebSocket):
    """Takes acknowledgements for a sign of life for long, as with pings of 20 s."""

    silent_pings = 1000


class Unaligned(ObservedWebSocket):
    """As if bytes had come before the client was served: the parser reads everything, and the room is still known."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.messages.aligned = False


async def read_to_end(raw: RawSocket) -> bytes:
    received = b""
    while data := await raw.receive():
        received += data
    return received


async def test_ten_megabytes_of_text_are_closed_with_1009_and_the_client_can_see_it(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        with pytest.raises(ConnectionClosed):
            await ws.send("x" * 10_000_000)
            await ws.recv()
        assert ws.close_code == 1009


async def test_a_refused_client_may_finish_sending_and_is_not_reset(gateway: Gateway) -> None:
    """A reset may overtake the close frame on its way to a client that is still sending (RFC 6455 section 7.1.1)."""
    async with RawSocket(gateway) as raw:
        await raw.upgrade()
        await raw.frame(1, b"x" * 10_000_000)
        loop = asyncio.get_running_loop()
        received = b""
        while data := await loop.sock_recv(raw.socket, 65_536):
            received += data
        assert close_frame(1009) in received


async def test_nothing_is_sent_after_the_close_frame(gateway: Gateway) -> None:
    async with gateway.peer():
        (protocol,) = protocols(gateway)
        protocol.close_sent = True
        with pytest.raises(ClientDisconnected):
            await protocol.send({"type": "websocket.send", "text": "late"})
        protocol.close_sent = False


async def test_ten_megabytes_in_fragments_are_closed_with_1009(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        with pytest.raises(ConnectionClosed):
            await ws.send(["x" * 100_000] * 100)
            await ws.recv()
        assert ws.close_code == 1009


async def test_a_message_of_the_largest_size_passes(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        value = {"x": "y" * (Limits().text - 200)}
        assert await peer.ask("answer", value) == value


async def test_text_that_is_not_utf8_is_closed_with_1007_without_a_traceback(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    async with RawSocket(gateway) as raw:
        await raw.upgrade()
        with caplog.at_level(logging.DEBUG):
            await raw.frame(1, b'{"type": "\xff"}')
            assert close_frame(1007) in await read_to_end(raw)
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        frame(3, b""),  # a reserved opcode
        frame(0, b"", fin=True),  # a continuation of nothing
        frame(9, b"x" * 126),  # a ping too long
        b"\x81\x01x",  # without a mask
        b"\xf1\x80\0\0\0\0",  # reserved bits
    ],
)
async def test_violations_of_rfc_6455_are_closed_with_1002(gateway: Gateway, sent: bytes) -> None:
    async with RawSocket(gateway) as raw:
        await raw.upgrade()
        await raw.send(sent)
        assert close_frame(1002) in await read_to_end(raw)
    await gateway.until_clients_closed()


async def test_endless_empty_fragments_are_not_buffered(gateway: Gateway) -> None:
    async with RawSocket(gateway) as raw:
        await raw.upgrade()
        await raw.frame(2, b"", fin=False)
        await raw.send(frame(0, b"", fin=False) * FRAGMENTS * 2)
        assert close_frame(1009) in await read_to_end(raw)


async def test_a_client_that_pings_and_does_not_read_is_disconnected(gateway: Gateway) -> None:
    async with RawSocket(gateway) as raw:
        await raw.upgrade()
        pings = frame(9, b"x" * 125) * 1000
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(200):
                await raw.send(pings)
        await gateway.until_clients_closed()


@pytest.mark.parametrize("websocket", [ObservedWebSocket, Unaligned])
async def test_the_transport_buffers_little_for_a_client_that_does_not_read(
    runtime: FakeRuntime, websocket: type[ObservedWebSocket]
) -> None:
    async with Gateway(runtime, websocket=websocket) as gateway, RawSocket(gateway) as raw:
        await raw.hello(window=4 << 20)
        await raw.text({"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": {"bytes": 1 << 30}})
        (protocol,) = protocols(gateway)
        assert protocol.transport.get_write_buffer_limits()[1] == WRITE_BUFFER
        await gateway.until(lambda: not protocol.writable.is_set())
        assert protocol.transport.get_write_buffer_size() <= WRITE_BUFFER + 65_536 + 1024


async def test_waiting_for_a_close_that_is_not_read_is_bounded(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse_gateway.connection.client_connection.CLOSE_TIMEOUT", 0.05)
    async with Gateway(runtime, websocket=Impatient) as gateway, RawSocket(gateway) as raw:
        await raw.hello(window=4 << 20)
        await raw.text({"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": {"bytes": 1 << 30}})
        (protocol,) = protocols(gateway)
        await gateway.until(lambda: not protocol.writable.is_set())
        gateway.connect.go_away("restart", 1.0)
        await gateway.until(lambda: not protocols(gateway))


async def test_waiting_for_a_peer_that_never_closes_is_bounded(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, websocket=Impatient) as gateway, RawSocket(gateway) as raw:
        await raw.upgrade()
        await raw.frame(3, b"")
        await gateway.until(lambda: not protocols(gateway))


async def test_a_client_that_answers_no_ping_is_disconnected(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, websocket=Impatient) as gateway:
        gateway.server.config.ws_ping_interval = gateway.server.config.ws_ping_timeout = 0.05
        async with RawSocket(gateway) as raw:
            await raw.hello()
            assert b"keepalive" in await read_to_end(raw)
            await gateway.until_clients_closed()


async def test_a_client_that_neither_reads_nor_answers_is_disconnected(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, websocket=Impatient) as gateway:
        gateway.server.config.ws_ping_interval = gateway.server.config.ws_ping_timeout = 0.2
        async with RawSocket(gateway) as raw:
            await raw.hello(window=4 << 20)
            params = {"bytes": 1 << 30}
            await raw.text({"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": params})
            (protocol,) = protocols(gateway)
            await gateway.until(lambda: not protocol.writable.is_set())
            await gateway.until(lambda: not protocols(gateway))
            await gateway.until_clients_closed()


async def test_a_close_is_answered_with_the_same_code(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        await ws.close(1000, "done")
        assert ws.close_code == 1000
    await gateway.until(lambda: not protocols(gateway))


async def test_an_upgrade_without_a_key_is_a_bad_request(gateway: Gateway) -> None:
    async with RawSocket(gateway) as raw:
        await raw.send(
            b"GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        )
        assert (await read_to_end(raw)).startswith(b"HTTP/1.1 4")


async def test_messages_sent_after_the_close_are_dropped(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        await ws.send("{")
        await ws.send(json.dumps({"type": "ping", "t": 1}))
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(TIMEOUT):
                while True:
                    await ws.recv()
        assert ws.close_code == 1007


# ---- keepalive: no peer below answers a ping


@pytest.fixture
def quick_pings(gateway: Gateway) -> float:
    """The interval and timeout of pings, in seconds."""
    gateway.server.config.ws_ping_interval = gateway.server.config.ws_ping_timeout = 0.1
    return 0.1


async def test_a_peer_that_neither_answers_nor_reads_nor_sends_is_closed(gateway: Gateway, quick_pings: float) -> None:
    async with RawSocket(gateway) as raw:
        await raw.hello()
        await gateway.until(lambda: not protocols(gateway))


async def test_a_peer_that_sends_is_alive_although_it_answers_no_ping(gateway: Gateway, quick_pings: float) -> None:
    async with RawSocket(gateway) as raw:
        await raw.hello()
        end = asyncio.get_running_loop().time() + 6 * quick_pings
        while asyncio.get_running_loop().time() < end:
            await raw.text({"type": "ping", "t": 1})
            await asyncio.sleep(quick_pings / 4)  # time itself is tested
        assert len(protocols(gateway)) == 1


async def flooded(gateway: Gateway, raw: RawSocket) -> None:
    await raw.hello()
    flood = {"type": "call", "ch": 1, "method": "flood", "sandbox": "local", "params": {"bytes": 1 << 30}}
    await raw.text(flood)


async def test_a_peer_that_reads_slowly_is_alive_although_its_pong_waits_behind_data(
    runtime: FakeRuntime,
) -> None:
    async with Gateway(runtime, websocket=Patient) as gateway, RawSocket(gateway) as raw:
        quick = gateway.server.config.ws_ping_interval = gateway.server.config.ws_ping_timeout = 0.1
        gateway.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
        await flooded(gateway, raw)
        end = asyncio.get_running_loop().time() + 6 * quick
        while asyncio.get_running_loop().time() < end:
            assert await raw.receive(4096)
            await asyncio.sleep(quick / 20)  # time itself is tested
        assert len(protocols(gateway)) == 1


async def test_a_peer_whose_proxy_reads_is_closed_when_it_sends_nothing_for_long(
    gateway: Gateway, quick_pings: float
) -> None:
    gateway.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
    async with RawSocket(gateway) as raw:
        await flooded(gateway, raw)
        received = 0
        while data := await raw.receive(4096):
            received += len(data)
            await asyncio.sleep(quick_pings / 20)  # a proxy that reads as slowly as its own peer
        assert received < WINDOW, "it was closed while output was flowing"
        await gateway.until(lambda: not protocols(gateway))
