"""WebSockets through a preview: a real program with a real gateway, and a program scripted byte by byte."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Cancel, Connection, Credit, Data, HawseError, Kind, Message
from tests.support.gateway import FakeRuntime, Gateway, RawSocket
from tests.support.previewed import Previewed

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_text_and_bytes_are_echoed_unchanged(preview: Previewed) -> None:
    async with preview.socket() as socket:
        for message in ("text ✓", b"\x00\xff bytes", "", b"", os.urandom(900_000)):
            await socket.send(message)
            assert await socket.recv() == message


async def test_a_message_in_fragments_arrives_whole(preview: Previewed) -> None:
    async with preview.socket() as socket:
        await socket.send(["a ", "message ", "in ", "parts"])
        assert await socket.recv() == "a message in parts"


async def test_many_messages_keep_their_order_while_they_are_not_read(preview: Previewed) -> None:
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


async def test_a_refusal_of_the_program_is_passed_on(preview: Previewed) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await preview.socket(subprotocols=["unknown"])
    assert refused.value.response.status_code == 418
    assert refused.value.response.body == b"not you"


async def test_a_program_that_compares_origin_with_host_accepts_its_own_pages(preview: Previewed) -> None:
    by_path = {"Origin": "null"}  # a page by path is in a sandbox
    async with preview.socket("/same-origin", additional_headers=by_path) as socket:
        await socket.send("path")
        assert await socket.recv() == "path"
    url = f"ws://{preview.name}/same-origin"
    by_name = {"Origin": f"http://{preview.name}"}
    place: dict[str, Any] = {"host": "127.0.0.1", "port": preview.stack.port, "proxy": None}
    async with connect(url, additional_headers=by_name, **place) as socket:
        await socket.send("name")
        assert await socket.recv() == "name"
    for origin in ("http://evil.example", "null"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, additional_headers={"Origin": origin}, **place)
        assert refused.value.response.status_code == 403


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


async def test_a_client_that_aborts_leaves_no_resources_behind(preview: Previewed) -> None:
    await preview.http.get("/left")
    before = await preview.held()
    for _ in range(5):
        async with preview.socket() as socket:
            await socket.send("here")
            assert await socket.recv() == "here"
            socket.transport.abort()
    await preview.until_held(before)


async def test_a_preview_by_name_reaches_the_same_program(preview: Previewed) -> None:
    url = f"ws://{preview.name}/socket"
    async with preview.socket(host="127.0.0.1", port=preview.stack.port) as socket:
        await socket.send("path")
        assert await socket.recv() == "path"
    async with connect(url, host="127.0.0.1", port=preview.stack.port, proxy=None) as socket:
        await socket.send("name")
        assert await socket.recv() == "name"


async def test_an_invalid_token_is_refused_before_the_upgrade(preview: Previewed) -> None:
    url = f"ws://127.0.0.1:{preview.stack.port}/p/local/{'a' * 26}{preview.token[-6:]}/socket"
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, proxy=None)
    assert refused.value.response.status_code == 404


# ---- a program that is played

TIMEOUT = 5.0  # s: less than any deadline of the gateway's
CLOSED = Frame(Opcode.CLOSE, Close(4001, "done").serialize()).serialize(mask=False)


def text(data: str) -> bytes:
    return Frame(Opcode.TEXT, data.encode()).serialize(mask=False)


def whole(data: bytes) -> list[bytes]:
    return [data]


def in_bytes(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


class Played(FakeRuntime):
    """Its program answers an upgrade with 101 and `greeting`, in pieces as `cut` makes them, and then the channel ends
    with `last`: `end`, which is the program's own end, `result`, when the connection is closed, or `error`."""

    def __init__(self, path: Path, greeting: bytes, cut: Callable[[bytes], Sequence[bytes]], last: str = "") -> None:
        super().__init__(path)
        self.greeting = greeting
        self.cut = cut
        self.last = last
        self.pieces: deque[bytes] = deque()  # that are due
        self.offset = 0
        self.observed: list[str] = []  # what the program saw
        self.targets: list[str] = []  # of the requests
        self.server = ServerProtocol()

    def _call(self, link: StreamLink, call: Call) -> None:
        link.writer.attach(call.ch, self)
        self.granted[call.ch] = -1  # it has not sent `opened`

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        match event:
            case Data():
                self.take(link, event.ch, len(event.payload))
                if self.server.close_rcvd is not None:
                    self.record("more")
                self.server.receive_data(bytes(event.payload))
                for received in self.server.events_received():
                    self._receive(received)
                link.writer.wake(event.ch)
            case Credit():
                link.writer.wake(event.ch)
            case _:
                if isinstance(event, Cancel):
                    self.record("cancel")
                super().link_received(link, event)

    def take(self, link: StreamLink, ch: int, size: int) -> None:
        link.connection.grant(ch, size)

    def _receive(self, received: object) -> None:
        if isinstance(received, Request):
            self.targets.append(received.path)
            self.server.send_response(self.server.accept(received))
            self.pieces.extend(self.cut(b"".join(self.server.data_to_send()) + self.greeting))
        elif isinstance(received, Frame):
            self.record(received.opcode.name)

    def record(self, what: str) -> None:
        """Note the type of a frame, `more` for data after a close, or `cancel`."""
        self.observed.append(what)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if connection.window(ch) <= 0:
            return False
        if self.granted[ch] < 0:
            self.granted[ch] = 0
            connection.send_event(ch, "opened", {"port": 80, "address": "::1"})
        elif self.pieces:
            piece = self.pieces.popleft()
            part = piece[: min(size, connection.window(ch))]
            if rest := piece[len(part) :]:
                self.pieces.appendleft(rest)
            connection.send_data(ch, Kind.OUTPUT, self.offset, part)
            self.offset += len(part)
        elif self.offset and (last := self.last):
            self.last = ""
            if last in ("end", "result"):
                connection.send_event(ch, "end", {"offset": self.offset})
            if last == "result":
                connection.send_result(ch, {"received": self.offset, "sent": 0})
            elif last == "error":
                connection.send_error(ch, HawseError("interrupted", "reset by the program", admitted="unknown"))
            return False
        return bool(self.pieces or self.last) or not self.offset


@asynccontextmanager
async def played(program: Played, **options: Any) -> AsyncIterator[ClientConnection]:
    async with program, Gateway(program) as gateway, asyncio.timeout(TIMEOUT):
        url = f"ws://127.0.0.1:{gateway.port}/p/local/{'a' * 32}/"
        async with connect(url, proxy=None, compression=None, **options) as socket:
            yield socket


@pytest.mark.parametrize("target", ["/x?", "/x", "/x?a"])
async def test_the_program_gets_the_query_also_an_empty_one(tmp_path: Path, target: str) -> None:
    program = Played(tmp_path / "s", b"", whole)
    async with program, Gateway(program) as gateway, asyncio.timeout(TIMEOUT), RawSocket(gateway) as raw:
        await raw.upgrade(f"/p/local/{'a' * 32}{target}")
    assert program.targets == [target]


@pytest.mark.parametrize("last", ["", "end", "result", "error"])
@pytest.mark.parametrize("cut", [whole, in_bytes])
async def test_a_program_may_close_in_the_segment_of_its_101(
    tmp_path: Path, cut: Callable[[bytes], Sequence[bytes]], last: str
) -> None:
    async with played(Played(tmp_path / "s", text("hello") + CLOSED, cut, last)) as socket:
        assert await socket.recv() == "hello"
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd == Close(4001, "done")


@pytest.mark.parametrize("last", ["end", "result", "error"])
async def test_an_invalid_response_to_an_upgrade_is_502_immediately(tmp_path: Path, last: str) -> None:
    program = Played(tmp_path / "s", b"", lambda data: [data.replace(b"Sec-WebSocket-Accept: ", b"X: ")], last)
    with pytest.raises(InvalidStatus) as refused:
        async with played(program):
            pass
    assert refused.value.response.status_code == 502


async def test_a_program_that_was_sending_when_the_browser_closed_still_answers_the_close(tmp_path: Path) -> None:
    class Speaking(Played):
        def record(self, what: str) -> None:
            super().record(what)
            if what == "CLOSE":
                self.pieces += [text("late"), Frame(Opcode.PING, b"").serialize(mask=False)]
            elif what == "more":  # the pong: the text before it was taken
                self.pieces.append(CLOSED)

    program = Speaking(tmp_path / "s", b"", whole)
    async with played(program) as socket:
        await socket.close(4002, "bye")
        await program.until(lambda: "cancel" in program.observed)
    assert program.observed == ["CLOSE", "more", "cancel"]


async def test_messages_to_a_program_that_has_closed_are_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer to the close waits behind a large message that the program does not take, and another behind it."""

    class Slow(Played):
        held = 0  # bytes that it does not take

        def take(self, link: StreamLink, ch: int, size: int) -> None:
            self.held += size

        def link_received(self, link: StreamLink, event: Message | Data) -> None:
            super().link_received(link, event)
            if isinstance(event, Credit) and self.greeting and not self.pieces:  # its close was read
                link.connection.grant(event.ch, self.held)
                self.held = 0

    program = Slow(tmp_path / "s", b"", whole)
    async with played(program) as socket:
        await socket.send(bytes(program.limits.input_window))
        await socket.send("late")
        (link,), (ch,) = program.links, program.calls
        await program.until(lambda: program.held == program.limits.input_window)
        program.greeting = CLOSED
        program.pieces.append(CLOSED)
        link.wake(ch)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd == Close(4001, "done")
    assert "Exception in ASGI application" not in caplog.text
