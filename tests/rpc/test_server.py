"""Links are accepted, authenticated and bounded in number; a protocol error closes the link."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hawse.api.runtime import RuntimeInfo
from hawse.api.terminals import TerminalList
from hawse.link import keystrokes, stream_link as links
from hawse.rpc import handles
from hawse.rpc.server import PINGS
from hawse.rpc.server_limits import ServerLimits
from hawse.wire import Limits, Principal
from hawse.wire.limits import LINK_CHANNELS
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served, eventually
from tests.support.waiting import TIMEOUT, tasks_ended

Message = dict[str, Any]
HELLO = {"type": "hello", "protocol": 1, "client": "raw", "window": 1 << 20}


class RawLink:
    """A socket for arbitrary bytes."""

    def __init__(self, served: Served) -> None:
        self._path = str(served.socket)

    async def __aenter__(self) -> "RawLink":
        self._reader, self._writer = await asyncio.open_unix_connection(self._path)
        return self

    def use(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take another connection than the one to the runtime's socket."""
        self._reader, self._writer = reader, writer

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    def send(self, *messages: Message | bytes) -> None:
        for message in messages:
            body = message if isinstance(message, bytes) else msgspec.json.encode(message)
            self._writer.write(len(body).to_bytes(4, "big") + body)

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def receive(self) -> Message:
        async with asyncio.timeout(TIMEOUT):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            message: Message = msgspec.json.decode(await self._reader.readexactly(size))
            return message

    async def closed(self) -> bool:
        async with asyncio.timeout(TIMEOUT):
            try:
                return await self._reader.read(1) == b""
            except ConnectionError:
                return True


async def test_a_hello_is_answered_with_the_limits(served: Served) -> None:
    async with RawLink(served) as link:
        link.send(HELLO)
        welcome = await link.receive()
        assert welcome["type"] == "welcome"
        assert welcome["limits"]["channels"] == LINK_CHANNELS
        link.send({"type": "ping", "t": 7})
        assert await link.receive() == {"type": "pong", "t": 7}


def hello_timeout(seconds: float) -> RuntimeLimits:
    return RuntimeLimits(links=ServerLimits(wire=Limits(channels=LINK_CHANNELS, hello_timeout=seconds)))


@pytest.mark.parametrize("limits", [hello_timeout(0.02)])
async def test_a_link_without_hello_is_closed_with_hello_timeout(served: Served) -> None:
    async with RawLink(served) as link:
        error = await link.receive()
        assert (error["type"], error["code"], error["retryable"]) == ("error", "hello_timeout", True)
        assert await link.closed()


@pytest.mark.parametrize("limits", [hello_timeout(0.05)])
async def test_a_link_with_hello_stays_open_after_the_timeout(served: Served) -> None:
    async with served.client() as client:
        waits = client.execute("sleep 0.15")
        await waits.result()
        assert not client.lost


@pytest.mark.parametrize("token", ["wrong", "", None, "ÿ", "s3cret "])
async def test_a_wrong_token_is_refused_with_unauthenticated(tmp_path: Path, token: str | None) -> None:
    async with Served(tmp_path, token="s3cret") as served:
        client = await served.client(token=token)
        await client.until(lambda: client.lost)
        assert client.final_error is not None
        assert client.final_error.code == "unauthenticated"
        assert client.welcome is None


async def test_the_right_token_is_accepted(tmp_path: Path) -> None:
    async with Served(tmp_path, token="s3cret") as served, served.client(token="s3cret") as client:
        assert (await client.info())["runtime"] == served.runtime.id


@pytest.mark.parametrize("limits", [RuntimeLimits(links=ServerLimits(links=2))])
async def test_a_link_beyond_the_limit_is_refused_and_the_others_remain(served: Served) -> None:
    async with served.client() as first, served.client() as second:
        third = await served.client()
        await third.until(lambda: third.lost)
        assert third.final_error is not None
        assert third.final_error.code == "limit_exceeded"
        await first.info()
        await second.cut()
        await served.until(lambda: len(served.runtime.server.links) == 1)
        async with served.client() as fourth:
            await fourth.info()


def call(ch: int, method: str = "runtime.info", **more: Any) -> Message:
    return {"type": "call", "ch": ch, "method": method, **more}


@pytest.mark.parametrize(
    ("send", "code"),
    [
        (lambda link: link.send(call(1)), "protocol_error"),  # before `hello`
        (lambda link: link.send(HELLO, HELLO), "protocol_error"),
        (lambda link: link.send(HELLO, {"type": "nonsense"}), "invalid_message"),
        (lambda link: link.send(HELLO, b"{not json"), "invalid_message"),
        (lambda link: link.send(HELLO, b'{"type":"ping","t":"\xff"}'), "invalid_message"),
        (lambda link: link.send(HELLO, call(0)), "invalid_message"),
        (lambda link: link.send(HELLO, call(5), call(5)), "protocol_error"),
        (lambda link: link.send(HELLO, {"type": "cancel", "ch": 9}), "protocol_error"),
        (lambda link: link.send(HELLO, b"\x01" + bytes(12)), "protocol_error"),  # output from a client
        (lambda link: link.send(HELLO, b"\x09" + bytes(12)), "invalid_message"),  # an unknown kind
        (lambda link: link.send(HELLO, b"\x00"), "invalid_message"),  # shorter than its header
        (lambda link: link.write(bytes(4)), "protocol_error"),  # a length of 0
        (lambda link: link.write(b"\xff\xff\xff\xff"), "protocol_error"),  # 4 GiB are announced
    ],
)
async def test_a_protocol_error_closes_the_link(served: Served, send: Callable[[RawLink], None], code: str) -> None:
    async with RawLink(served) as link:
        send(link)
        while (message := await _receive(link)) is not None and message["type"] != "error":
            pass
        assert message is None or message["code"] == code
        assert message is not None or code == "protocol_error"
        assert await link.closed()
    async with served.client() as other:
        await other.info()


async def _receive(link: RawLink) -> Message | None:
    try:
        return await link.receive()
    except asyncio.IncompleteReadError:
        return None


async def test_input_beyond_the_window_breaks_the_link(served: Served) -> None:
    async with RawLink(served) as link:
        link.send(HELLO, call(1, "exec", params={"command": "sleep 60", "stdin": True, "input": "i"}))
        window = (await link.receive())["limits"]["input_window"]
        for offset in range(0, 2 * window, 65536):
            link.send(b"\x00" + (1).to_bytes(4, "big") + offset.to_bytes(8, "big") + bytes(65536))
        while (message := await link.receive())["type"] != "error":
            pass
        assert message["code"] == "credit_exceeded"


class Large:
    """Methods with results of 100,000 bytes: one answers at once, the other later."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = asyncio.Event()

    @handles(RuntimeInfo)
    def _now(self, params: RuntimeInfo) -> str:
        self.calls += 1
        return "x" * 100_000

    @handles(TerminalList)
    async def _later(self, params: TerminalList) -> str:
        await self.go.wait()
        return "y" * 100_000


async def test_a_client_that_calls_faster_than_it_reads_waits_and_gets_every_result(served: Served) -> None:
    """W1: 50 results of 0.43 MB, more than the backlog of 8 MiB, ended the link and the calls of all clients."""
    large = Large()
    served.runtime.server.dispatcher.add(large)
    async with served.client() as client:
        calls = [client.call("runtime.info") for _ in range(300)]
        later = [client.call("terminal.list") for _ in range(300)]
        quick = client.call("port.exposed")
        await calls[0].result()
        large.go.set()
        for number, call in enumerate((*calls, *later)):
            assert await call.result() == ("x" if number < 300 else "y") * 100_000
        assert await quick.result() == {"exposed": []}
        assert not client.lost
        client.mistakes.clear()  # these results do not have the types of their methods


async def test_a_client_that_reads_nothing_gets_no_more_and_others_are_served(served: Served) -> None:
    large = Large()
    served.runtime.server.dispatcher.add(large)
    async with served.client() as other:
        deaf = socket.socket(socket.AF_UNIX)
        deaf.connect(str(served.socket))
        deaf.setblocking(False)
        out = b"".join(
            len(body).to_bytes(4, "big") + body
            for body in map(msgspec.json.encode, [HELLO, *(call(n + 1, "runtime.info") for n in range(500))])
        )
        await asyncio.get_running_loop().sock_sendall(deaf, out)
        await served.until(lambda: large.calls > 0)
        handled = large.calls
        assert await other.ask("port.exposed") == {"exposed": []}
        assert large.calls == handled < 30, "more calls than answers that may wait"
        assert len(served.runtime.server.links) == 2
        deaf.close()
        await served.until(lambda: len(served.runtime.server.links) == 1)


async def test_a_held_result_can_be_cancelled(served: Served) -> None:
    large = Large()
    served.runtime.server.dispatcher.add(large)
    async with RawLink(served) as link:
        link.send(HELLO, *(call(n + 1, "terminal.list") for n in range(100)))
        assert (await link.receive())["type"] == "welcome"
        large.go.set()
        ended = {(await link.receive())["ch"] for _ in range(3)}
        link.send(*({"type": "cancel", "ch": n + 1} for n in range(100) if n + 1 not in ended))
        ended |= {(await link.receive())["ch"] for _ in range(97)}
        assert ended == set(range(1, 101))
        (served_link,) = served.runtime.server.links
        assert served_link.held == 0


async def test_a_probe_that_connects_and_closes_is_not_logged(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    for messages in ((), (HELLO,)):
        async with RawLink(served) as link:
            link.send(*messages)
            await eventually(lambda: served.runtime.server.links)
            if messages:
                await link.receive()
        await eventually(lambda: not served.runtime.server.links)
    assert caplog.text.count("link lost") == 1


async def test_a_lost_link_leaves_its_terminals_and_nothing_else(served: Served) -> None:
    async with served.client() as other:
        await other.info()
        before = asyncio.all_tasks()
        client = await served.client()
        shell = await client.terminal("exec sleep 60")
        client.execute("sleep 0.01")
        client.call("file.write", {"path": "x", "input": "i"}).send(b"half")
        assert not shell.closed
        await client.cut()
        await served.until(lambda: len(served.runtime.server.links) == 1)
        assert (await other.ask("terminal.get", id="t"))["viewers"] == 0
        await other.ask("terminal.kill", id="t", grace=0)
        await tasks_ended(before)
        await eventually(lambda: not served.started_children())  # processes are reaped without an event


async def test_a_bug_in_a_stream_ends_its_call_and_not_the_link(client: Client, served: Served) -> None:
    call = client.execute("cat", stdin=True, input="i")
    await call.event("opened")
    (process,) = served.runtime.execs.registry.running
    process.inputs = None  # type: ignore[assignment]
    call.send(b"x")
    assert (await call.refusal()).code == "internal"
    await client.info()


async def test_close_closes_every_link(served: Served) -> None:
    async with served.client() as client:
        served.runtime.server.close()
        await client.until(lambda: client.lost)
    assert links.CLOSE_TIMEOUT > 0


@pytest.mark.parametrize("limits", [RuntimeLimits(links=ServerLimits(calls=8))])
async def test_guests_leave_calls_to_the_owner_on_all_links(served: Served) -> None:
    guest = Principal(id="guest", name="guest", kind="guest", rights=("view",))
    waiting = {"id": "t", "exit": True}
    async with served.client() as first, served.client() as second:
        await first.ask("terminal.create", id="t", argv=["cat"])
        waits = [client.call("terminal.wait", waiting, principal=guest) for client in (first, second) for _ in range(3)]
        for wait in waits:
            await wait.event("opened")
        refused = await first.call("terminal.wait", waiting, principal=guest).refusal()
        assert (refused.code, refused.message) == (
            "limit_exceeded",
            "'guest' has 6 calls open, which is the limit per guest",
        )
        assert (await first.info())["terminals"] == 1
        await second.cut()
        await eventually(lambda: len(served.runtime.server.links) == 1)
        await first.call("terminal.wait", waiting, principal=guest).event("opened")


async def test_a_flood_comes_in_small_portions_while_somebody_types_on_another_link(
    served: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keystrokes, "TYPING", 3600.0)
    async with served.client() as other:
        flood = await client.terminal("exec yes", "flood")
        await flood.until(lambda: len(flood.output) > 1 << 20)
        shell = await other.terminal("stty raw -echo; echo ready; exec cat", "shell")
        await shell.seen(b"ready")
        shell.send(b"k")
        await shell.seen(b"k")
        # Bytes before the key are limited to the buffers of the socket and the transport.
        sent_before = len(flood.output) + links.WRITE_BUFFER + links.BATCH + (512 << 10)
        await flood.until(lambda: len(flood.output) > sent_before)
        first = len(flood.frames)
        await flood.until(lambda: len(flood.output) > sent_before + (1 << 20))
        assert max(size for _, _, size in flood.frames[first:]) <= keystrokes.SMALL
        assert not flood.lost


@pytest.mark.parametrize("limits", [RuntimeLimits(links=ServerLimits(silence=0.2))])
@pytest.mark.parametrize("answers", [True, False])
async def test_a_gateway_on_another_machine_that_sends_nothing_is_pinged_and_then_dropped(
    served: Served, answers: bool
) -> None:
    server = await asyncio.get_running_loop().create_server(served.runtime.server.accept, "127.0.0.1", 0)
    link = RawLink(served)
    async with server, asyncio.timeout(TIMEOUT):
        link.use(*await asyncio.open_connection(*server.sockets[0].getsockname()))
        link.send(HELLO)
        assert (await link.receive())["type"] == "welcome"
        for _ in range(PINGS if not answers else 3 * PINGS):
            assert (await link.receive())["type"] == "ping"
            if answers:
                link.send({"type": "pong", "t": 0})
        if not answers:
            assert await link.closed()
        await link.__aexit__()
