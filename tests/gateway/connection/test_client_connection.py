"""One client's connection against a fake runtime, through a real uvicorn and a real socket."""

import asyncio
import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from hawse.link import keystrokes
from hawse.wire import HawseError, Kind, Limits
from hawse.wire.frames import encode_frame
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.connection.backlog import BacklogBudget
from hawse_gateway.connection.client_connection import INPUT_HIGH, ClientConnection
from tests.support.gateway import FakeRuntime, Gateway, Peer, RawSocket, eventually, pattern
from tests.support.waiting import TIMEOUT, tasks_ended

HELLO = {"type": "hello", "protocol": 1, "client": "test", "window": 524_288}
ECHO = {"type": "call", "ch": 5, "method": "echo", "sandbox": "local"}


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def take_flood(peer: Peer, ch: int, *, grant: bool = True) -> int:
    """Take a flood to its result, checking every byte; return their number."""
    offset = 0
    while True:
        message = await peer.receive()
        if message.type == "result":
            return offset
        assert (message.ch, message.kind, message.offset) == (ch, Kind.OUTPUT, offset)
        assert message.payload == pattern(offset, len(message.payload))
        offset += len(message.payload)
        if grant:
            peer.connection.grant(ch, len(message.payload))
            await peer.flush()


# ---- forwarding


async def test_a_call_reaches_the_runtime_and_its_result_is_returned(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        assert await peer.ask("answer", {"x": [1, "ü"]}) == {"x": [1, "ü"]}


async def test_key_timeout_and_params_are_forwarded_and_the_sandbox_is_not(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with gateway.peer() as peer:
        await peer.ask("answer", {"a": 1}, key="k1", timeout=12.5)
    (call,) = runtime.seen
    assert (call.method, bytes(call.params), call.key, call.sandbox) == ("answer", b'{"a":1}', "k1", None)
    assert call.timeout == pytest.approx(12.5, abs=1)  # less what it waited for the link


async def test_an_error_of_the_runtime_is_forwarded_with_all_fields(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError) as caught:
            await peer.ask("fail")
    assert (caught.value.code, caught.value.message, caught.value.admitted, caught.value.details) == (
        "conflict",
        "taken",
        "yes",
        {"path": "/x"},
    )


async def test_bytes_pass_both_ways_until_end(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        ch = await peer.call("echo")
        received = b""
        for offset in range(0, 600_000, 60_000):  # more than the input window: it is given back
            await peer.send(ch, offset, pattern(offset, 60_000))
            while len(received) < offset + 60_000:
                message = await peer.receive()
                if message.type == "data":
                    assert message.offset == len(received)
                    received += message.payload
                    peer.connection.grant(ch, len(message.payload))
        peer.connection.end(ch)
        await peer.flush()
        assert await peer.result(ch) == {"bytes": 600_000}
    assert received == b"".join(pattern(offset, 60_000) for offset in range(0, 600_000, 60_000))


async def test_a_flood_arrives_exactly(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        assert await take_flood(peer, await peer.call("flood", {"bytes": 20_000_000})) == 20_000_000


async def test_events_arrive_in_order_and_cost_credit(gateway: Gateway) -> None:
    async with gateway.peer(window=10_000) as peer:
        ch = await peer.call("events", {"count": 500, "size": 1000})
        numbers = []
        while (message := await peer.receive()).type != "result":
            numbers.append(message.seq)
            peer.connection.grant(ch, 1066)
            await peer.flush()
    assert numbers == list(range(500, 0, -1))


async def test_cancel_is_answered_and_reaches_the_runtime(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        ch = await peer.call("hang")
        await runtime.until(lambda: runtime.seen)
        peer.connection.cancel(ch)
        await peer.flush()
        with pytest.raises(HawseError, match="cancelled"):
            await peer.result(ch)
    assert len(runtime.cancelled) == 1


async def test_many_clients_share_one_link(gateway: Gateway, runtime: FakeRuntime) -> None:
    async def one(number: int) -> None:
        async with gateway.peer() as peer:
            for turn in range(10):
                assert await peer.ask("answer", {"n": number, "turn": turn}) == {"n": number, "turn": turn}

    async with asyncio.TaskGroup() as tasks:
        for number in range(20):
            tasks.create_task(one(number))
    assert gateway.sandboxes.starts == 1
    assert len(runtime.links) == 1


async def test_a_thousand_channels_of_one_client_are_kept_apart(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        channels = {await peer.call("echo"): bytearray() for _ in range(1000)}
        for ch in channels:
            peer.connection.send_data(ch, Kind.INPUT, 0, str(ch).encode() * 10)
        await peer.flush()
        missing = set(channels)
        while missing:
            message = await peer.receive()
            if message.type == "data":
                channels[message.ch] += message.payload
                if len(channels[message.ch]) == len(str(message.ch)) * 10:
                    missing.discard(message.ch)
    assert all(bytes(data) == str(ch).encode() * 10 for ch, data in channels.items())


async def test_a_small_answer_does_not_wait_behind_a_flood(gateway: Gateway) -> None:
    async with gateway.peer(window=4 << 20) as peer:
        flood = await peer.call("flood", {"bytes": 8 << 20})
        await peer.receive()
        ch = await peer.call("answer", {})
        received = 0
        while (message := await peer.receive()).ch != ch:
            received += len(message.payload)
            peer.connection.grant(flood, len(message.payload))
            await peer.flush()
        assert received < 1 << 20


# ---- the gateway's own methods


async def test_sandboxes_are_listed(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        listed = await peer.ask("sandbox.list", sandbox=None)
    assert listed == {"sandboxes": [{"id": "local", "state": "running", "isolation": "none"}]}


@pytest.mark.parametrize(
    ("method", "sandbox", "code"),
    [("sandbox.list", "local", "unknown_method"), ("nope", None, "unknown_method"), ("answer", "other", "not_found")],
)
async def test_an_unknown_method_or_sandbox_is_a_typed_error(
    gateway: Gateway, method: str, sandbox: str, code: str
) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError) as caught:
            await peer.ask(method, sandbox=sandbox)
    assert (caught.value.code, caught.value.admitted) == (code, "no")


async def test_ping_is_answered(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        peer.connection.ping(12.5)
        await peer.flush()
        assert (await peer.receive()).t == 12.5


# ---- what breaks the protocol


def text(message: dict[str, Any]) -> str:
    return json.dumps(message)


HOSTILE: dict[str, tuple[list[str | bytes], str, int]] = {
    "no hello first": ([text(ECHO)], "protocol_error", 1008),
    "a frame first": ([encode_frame(0, 1, 0, b"x")], "protocol_error", 1008),
    "two hellos": ([text(HELLO), text(HELLO)], "protocol_error", 1008),
    "another protocol": ([text(HELLO | {"protocol": 2})], "protocol_error", 1008),
    "not JSON": ([text(HELLO), "{"], "invalid_message", 1007),
    "an unknown type": ([text(HELLO), text({"type": "sudo"})], "invalid_message", 1007),
    "a wrong field": ([text(HELLO), text(ECHO | {"ch": "5"})], "invalid_message", 1007),
    "nesting without end": ([text(HELLO), "[" * 100_000], "invalid_message", 1007),
    "a channel used twice": ([text(HELLO), text(ECHO), text(ECHO)], "protocol_error", 1008),
    "a channel number below an earlier one": (
        [text(HELLO), text(ECHO), text(ECHO | {"ch": 4})],
        "protocol_error",
        1008,
    ),
    "a frame on an unknown channel": ([text(HELLO), encode_frame(0, 9, 0, b"x")], "protocol_error", 1008),
    "cancel of an unknown channel": ([text(HELLO), text({"type": "cancel", "ch": 9})], "protocol_error", 1008),
    "credit for an unknown channel": (
        [text(HELLO), text({"type": "credit", "ch": 9, "bytes": 1})],
        "protocol_error",
        1008,
    ),
    "output from a client": ([text(HELLO), text(ECHO), encode_frame(1, 5, 0, b"x")], "protocol_error", 1008),
    "half a header": ([text(HELLO), b"\0\0\0"], "invalid_message", 1007),
    "an unknown kind": ([text(HELLO), text(ECHO), encode_frame(9, 5, 0, b"x")], "invalid_message", 1007),
    "a payload too large": ([text(HELLO), text(ECHO), encode_frame(0, 5, 0, bytes(65_537))], "protocol_error", 1009),
    "an offset without end": ([text(HELLO), text(ECHO), encode_frame(0, 5, 1 << 60, b"x")], "protocol_error", 1008),
    "input after end": (
        [text(HELLO), text(ECHO | {"method": "hang"}), text({"type": "cancel", "ch": 5}), encode_frame(0, 5, 0, b"x")],
        "",  # it may have been on its way: whether the cancel was answered first decides
        0,
    ),
    "more input than granted": (
        [text(HELLO), text(ECHO | {"method": "eat"}), *(encode_frame(0, 5, n << 16, bytes(1 << 16)) for n in range(5))],
        "credit_exceeded",
        1008,
    ),
}


async def test_closing_a_channel_returns_its_share_of_the_budget(gateway: Gateway) -> None:
    async with gateway.peer(window=4 << 20) as peer:
        (client,) = gateway.connect.open
        for _ in range(5):
            await peer.ask("answer")
        assert client.budget.held == 0


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_protocol_violation_is_answered_with_an_error_and_a_close(gateway: Gateway, name: str) -> None:
    messages, code, close_code = HOSTILE[name]
    async with gateway.peer() as bystander, gateway.dial() as ws:
        try:
            for message in messages:
                await ws.send(message)
        except ConnectionClosed:
            pass
        if close_code:
            received = [json.loads(m) async for m in drained(ws) if isinstance(m, str)]
            assert (received[-1]["type"], received[-1]["code"]) == ("error", code)
            assert "ch" not in received[-1]
            assert ws.close_code == close_code
        assert await bystander.ask("answer", {"still": "here"}) == {"still": "here"}


async def drained(ws: Any) -> Any:
    async with asyncio.timeout(TIMEOUT):
        try:
            while True:
                yield await ws.recv()
        except ConnectionClosed:
            return


async def test_connections_that_break_the_protocol_are_cleaned_up(gateway: Gateway) -> None:
    async def misbehave(messages: list[str | bytes]) -> None:
        async with gateway.dial() as ws:
            try:
                for message in messages:
                    await ws.send(message)
            except ConnectionClosed:
                pass

    async with gateway.peer() as peer:
        await peer.ask("answer")
        await misbehave(["{"])
        await gateway.until_clients_closed(1)
        files, tasks = open_files(), asyncio.all_tasks()
        for messages, _, _ in HOSTILE.values():
            await misbehave(messages)
        await gateway.until_clients_closed(1)
        await eventually(lambda: open_files() <= files)  # sockets are closed in a later turn, without an event
        await tasks_ended(tasks)


async def test_late_messages_on_a_closed_channel_are_ignored(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        await ws.send(text(HELLO))
        await ws.send(text(ECHO | {"method": "answer"}))
        await ws.recv()
        assert json.loads(await ws.recv())["type"] == "result"
        await ws.send(encode_frame(0, 5, 0, b"x"))
        for type_ in ("end", "cancel"):
            await ws.send(text({"type": type_, "ch": 5}))
        await ws.send(text({"type": "credit", "ch": 5, "bytes": 1}))
        await ws.send(text({"type": "ping", "t": 1}))
        assert json.loads(await ws.recv()) == {"type": "pong", "t": 1.0}


async def test_a_client_that_sends_no_hello_in_time_is_closed(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, limits=Limits(hello_timeout=0.05)) as gateway, gateway.dial() as ws:
        error = json.loads(await ws.recv())
        assert (error["code"], error["retryable"]) == ("hello_timeout", True)
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert ws.close_code == 4408


async def test_ten_thousand_channels_get_a_typed_error_beyond_the_limit(gateway: Gateway) -> None:
    async with gateway.dial() as ws:
        await ws.send(text(HELLO))
        await ws.recv()
        refused = 0

        async def read() -> None:
            nonlocal refused
            while refused < 10_000 - 1024:
                error = json.loads(await ws.recv())
                assert error["code"] == "limit_exceeded"
                refused += 1

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(read())
            for ch in range(1, 10_001):
                await ws.send(text({"type": "call", "ch": ch, "method": "hang", "sandbox": "local"}))
        await ws.send(text({"type": "call", "ch": 10_001, "method": "hang", "sandbox": "local"}))
        assert json.loads(await ws.recv())["code"] == "limit_exceeded"


# ---- clients that do not read


async def test_a_client_that_stops_reading_costs_its_window_and_does_not_affect_others(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    async with RawSocket(gateway) as stalled, gateway.peer() as peer:
        await stalled.hello(window=4 << 20)
        for ch in range(1, 41):  # 40 × 4 MiB granted
            await stalled.text(
                {"type": "call", "ch": ch, "method": "flood", "sandbox": "local", "params": {"bytes": 1 << 30}}
            )
        await runtime.until(lambda: len(runtime.seen) == 40)
        assert await take_flood(peer, await peer.call("flood", {"bytes": 4 << 20})) == 4 << 20
        granted = [runtime.granted[ch] for ch in range(1, 41)]
        assert sum(granted) <= (8 << 20) + 40 * (16 << 10) + (1 << 20)  # the last is in the kernel's buffers
        assert min(granted) >= 16 << 10  # each channel gets its floor
        for turn in range(100):
            assert await peer.ask("answer", {"turn": turn}) == {"turn": turn}


async def test_memory_is_bounded_when_many_clients_stop_reading(gateway: Gateway, runtime: FakeRuntime) -> None:
    gc.collect()
    before = resident()
    stalled = [RawSocket(gateway) for _ in range(8)]
    try:
        for raw in stalled:
            await raw.__aenter__()
            await raw.hello(window=1 << 20)
            for ch in range(1, 5):  # one byte a frame: what each costs beside its byte is the point
                await raw.text(
                    {
                        "type": "call",
                        "ch": ch,
                        "method": "flood",
                        "sandbox": "local",
                        "params": {"bytes": 10_000, "slice": 1 if ch % 2 else 1000},
                    }
                )
        await runtime.until(lambda: len(runtime.seen) == 32)
        async with gateway.peer() as peer:
            await peer.ask("answer")
        assert resident() - before < 20 << 20
    finally:
        for raw in stalled:
            await raw.__aexit__()


async def ask_without_reading(raw: RawSocket, gateway: Gateway) -> None:
    """Ask for large answers until the gateway has had enough."""
    await raw.hello()
    await gateway.until(lambda: gateway.connect.open)
    (client,) = gateway.connect.open

    async def ask() -> None:
        for ch in range(1, 1000):
            await raw.text(
                {"type": "call", "ch": ch, "method": "answer", "sandbox": "local", "params": {"x": "y" * 60_000}}
            )

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ask())
        await gateway.until(lambda: client.closing)
        asking.cancel()


async def test_results_that_are_not_read_close_only_that_connection(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse_gateway.connection.client_connection.CLOSE_TIMEOUT", 0.05)
    monkeypatch.setattr("hawse_gateway.connection.backlog.STALL_TIMEOUT", 0.05)
    async with Gateway(runtime, limits=Limits(backlog=1 << 20)) as gateway, RawSocket(gateway) as raw:
        await ask_without_reading(raw, gateway)
        async with gateway.peer() as peer:
            assert await peer.ask("answer", {"still": "here"}) == {"still": "here"}
            await gateway.until_clients_closed(1)


async def test_a_client_that_reads_too_late_receives_the_backlog_error(
    runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse_gateway.connection.backlog.STALL_TIMEOUT", 0.05)
    async with Gateway(runtime, limits=Limits(backlog=1 << 20)) as gateway, RawSocket(gateway) as raw:
        await ask_without_reading(raw, gateway)
        received = b""
        while b'"code":"backlog"' not in received[-1000:]:
            data = await raw.receive()
            assert data
            received += data
        while (close := b"\x88\x09" + (4429).to_bytes(2, "big") + b"backlog") not in received[-1000:]:
            received += await raw.receive()
        assert received.endswith(close)


# ---- toward a runtime that does not read


async def test_reading_from_a_client_pauses_while_its_input_waits_for_a_runtime(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    gateway.sandboxes.hold = asyncio.Event()  # the sandbox is being started: all input waits
    async with gateway.peer() as peer:
        channels = [await peer.call("eat") for _ in range(20)]
        (client,) = gateway.connect.open
        sent = 0

        async def send_all() -> None:
            nonlocal sent
            for ch in channels:
                for offset in range(0, 4 << 16, 1 << 16):
                    await peer.send(ch, offset, bytes(1 << 16))
                    sent += 1 << 16

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(send_all())
            await gateway.until(lambda: client.input_waiting > INPUT_HIGH)
            for _ in range(200):
                await asyncio.sleep(0)
            # The messages of the read that exceeded the limit, of at most 256 KiB, are handled as well.
            assert client.input_waiting < INPUT_HIGH + (256 << 10) + 2 * ((1 << 16) + 1024)
            gateway.sandboxes.hold.set()
        await runtime.until(lambda: sum(map(len, runtime.input.values())) == 20 * (4 << 16))
        assert client.input_waiting == 0


async def test_empty_input_frames_are_not_buffered(gateway: Gateway, runtime: FakeRuntime) -> None:
    gateway.sandboxes.hold = asyncio.Event()
    async with gateway.peer() as peer:
        ch = await peer.call("eat")
        for _ in range(1000):
            await peer.send(ch, 0, b"")
        peer.connection.ping(1.0)
        await peer.flush()
        await peer.receive()
        (client,) = gateway.connect.open
        assert client.input_waiting == 0
        gateway.sandboxes.hold.set()


# ---- clients that disconnect


async def test_the_calls_of_a_client_that_disconnects_are_cancelled(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer() as peer:
        for _ in range(10):
            await peer.call("hang")
        await runtime.until(lambda: len(runtime.seen) == 10)
    await runtime.until(lambda: len(runtime.cancelled) == 10)


async def test_output_for_a_disconnected_client_is_dropped(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer(window=1 << 20) as peer:
        await peer.call("deaf")
        await runtime.until(lambda: runtime.seen)
    await runtime.until(lambda: runtime.cancelled)
    link, (ch,) = runtime.links[0], runtime.calls
    for offset in range(0, 1 << 20, 1 << 16):
        link.connection.send_data(ch, Kind.OUTPUT, offset, bytes(1 << 16))
    link.connection.send_result(ch, "late")
    link.flush()
    async with gateway.peer() as peer:
        assert await peer.ask("answer", {"a": 1}) == {"a": 1}


async def test_resources_of_disconnected_clients_are_released(gateway: Gateway, runtime: FakeRuntime) -> None:
    async def visit() -> None:
        async with gateway.peer() as peer:
            await peer.ask("answer")
            await peer.call("hang")
            ch = await peer.call("flood", {"bytes": 1 << 20})
            await take_flood(peer, ch)

    await visit()
    await gateway.until_clients_closed()
    files, tasks = open_files(), asyncio.all_tasks()
    for _ in range(20):
        await visit()
    await gateway.until_clients_closed()
    await eventually(lambda: open_files() <= files)  # sockets are closed in a later turn, without an event
    await tasks_ended(tasks)
    await runtime.until(lambda: not runtime.links[0].connection.channels)


class Narrow:
    """A transport with room for a given number of messages."""

    bytes_in = bytes_out = 0

    def __init__(self, room: int) -> None:
        self.room = room
        self.written: list[Any] = []

    @property
    def has_room(self) -> bool:
        return self.room > 0

    def attach(self, receiver: ClientConnection | None) -> None: ...

    def write(self, message: str | bytes) -> None:
        self.room -= 1
        self.written.append(json.loads(message))

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def drain(self) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


async def test_messages_taken_for_writing_are_sent_before_the_final_messages(gateway: Gateway) -> None:
    transport = Narrow(room=1)
    client = ClientConnection(transport, gateway.links, Limits(), "test", OWNER, BacklogBudget())
    running = asyncio.ensure_future(client.run())

    def ask(ch: int) -> None:
        client.receive(json.dumps({"type": "call", "ch": ch, "method": "preview.host"}))

    client.receive(json.dumps(HELLO))
    ask(1)
    ask(2)
    await eventually(lambda: not client.connection.channels)  # without an event
    transport.room = 1
    client.resume_writing()  # takes both, and has room for one
    ask(3)
    await eventually(lambda: not client.connection.channels)
    client.go_away("test", 0.1)
    await running
    sent = [(message["type"], message.get("ch")) for message in transport.written]
    assert sent == [("welcome", None), ("result", 1), ("result", 2), ("result", 3), ("goaway", None)]


async def test_keys_of_all_clients_are_noted_and_a_flood_beside_them_comes_whole(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keystrokes, "TYPING", 3600.0)
    noted = gateway.links.keystrokes

    async def echoed(peer: Peer, ch: int, end: int) -> None:
        while (message := await peer.receive()).type != "data" or message.offset + len(message.payload) < end:
            pass

    async with gateway.peer() as peer, gateway.peer(window=4 << 20) as other:
        ch = await peer.call("echo")
        await peer.send(ch, 0, bytes(20_000))
        await echoed(peer, ch, 20_000)
        assert not noted.typing  # no person types so much at once
        await peer.send(ch, 20_000, b"k")
        await echoed(peer, ch, 20_001)
        assert noted.typing
        assert await take_flood(other, await other.call("flood", {"bytes": 20_000_000})) == 20_000_000
