import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from hawse_gateway.transport.uvicorn_http import (
    DISCARDED,
    HEADERS_COUNT,
    HEADERS_SIZE,
    PIPELINE,
    UNLIMITED_DURATION,
    HttpProtocol,
)
from tests.support.gateway import TOKEN, FakeRuntime, Gateway, RawSocket, Recorded
from tests.support.waiting import TIMEOUT

CAST = b"GET /v1/sandboxes/local/recordings/r-1.cast HTTP/1.1\r\nHost: localhost\r\n"
DOWNLOAD = CAST + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpProtocol, "headers_timeout", 0.1)


@pytest.fixture
async def raw(gateway: Gateway) -> AsyncIterator[RawSocket]:
    async with RawSocket(gateway, receive_buffer=1 << 16) as opened:
        yield opened


async def test_a_request_in_pieces_is_answered(raw: RawSocket) -> None:
    for byte in GET + b"\r\n":
        await raw.send(bytes([byte]))
    assert (await raw.receive()).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("sent", [b"", b"G", GET, GET + b"X-A: b\r\n"])
async def test_a_client_that_does_not_finish_the_headers_in_time_is_disconnected(raw: RawSocket, sent: bytes) -> None:
    await raw.send(sent)
    assert await raw.receive() == b""


@pytest.mark.usefixtures("hasty")
async def test_sending_headers_slowly_does_not_extend_the_deadline(raw: RawSocket) -> None:
    """Slow loris: the time is for all of the headers, not for the next byte."""

    async def drip() -> None:
        await raw.send(GET)
        while True:
            await raw.send(b"X-A: b\r\n")
            await asyncio.sleep(0.01)  # the client is slow: time itself is tested

    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        async with asyncio.timeout(TIMEOUT):
            await drip()


@pytest.mark.usefixtures("hasty")
async def test_the_second_request_of_a_connection_has_the_same_deadline(raw: RawSocket) -> None:
    await raw.send(GET + b"\r\n")
    assert (await raw.receive()).startswith(b"HTTP/1.1 200 OK")
    await raw.send(GET)
    assert await raw.receive() == b""


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("path", [b"/v1/tickets", b"/v1/sandboxes/local/exec"])
async def test_an_endless_body_is_disconnected(raw: RawSocket, path: bytes) -> None:
    await raw.send(b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n")
    assert (await raw.receive()).startswith(b"HTTP/1.1 401")
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        async with asyncio.timeout(TIMEOUT):
            while True:
                await raw.send(b"x")
                await asyncio.sleep(0.01)  # the client is slow: time itself is tested


@pytest.mark.usefixtures("hasty")
async def test_http_timeouts_do_not_apply_to_a_websocket(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpProtocol, "answer_timeout", 0.05)
    async with gateway.peer() as peer:
        async with RawSocket(gateway) as silent:
            assert await silent.receive() == b""
        assert await peer.ask("answer", {"still": "here"}) == {"still": "here"}


async def test_a_download_whose_client_stops_reading_is_aborted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpProtocol, "answer_timeout", 0.2)
    size = 1 << 27  # bytes: more than any buffers on the way take
    async with Recorded(tmp_path / "s", size) as runtime, Gateway(runtime) as gateway, RawSocket(gateway) as reader:
        await reader.send(DOWNLOAD)
        assert (await reader.receive(15)) == b"HTTP/1.1 200 OK"
        await gateway.until(lambda: not gateway.connections)
        await runtime.until(lambda: len(runtime.cancelled) == 1)  # nothing is read for it any more
        received = 15
        while data := await reader.receive(1 << 20):
            received += len(data)
        assert received < size


async def test_a_download_may_exceed_the_response_timeout_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HttpProtocol, "answer_timeout", 1.0)
    size = 24 << 20
    loop = asyncio.get_running_loop()
    async with Recorded(tmp_path / "s", size) as runtime, Gateway(runtime) as gateway:
        gateway.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)  # what is read is soon made up for
        async with RawSocket(gateway, receive_buffer=1 << 16) as reader:
            await reader.send(DOWNLOAD)
            end = loop.time() + 2.5 * HttpProtocol.answer_timeout
            received = b""
            while loop.time() < end:
                received += await reader.receive(1 << 15)
                await asyncio.sleep(0.01)  # a slow reader: time itself is tested
            assert len(received) < size // 2
            body = received.partition(b"\r\n\r\n")[2]
            left = size - len(body)
            while left:
                data = await reader.receive(1 << 20)
                assert data, f"cut {left} bytes before the end"
                left -= len(data)


@pytest.mark.usefixtures("hasty")
async def test_a_slow_reader_receives_the_rest_of_a_response(gateway: Gateway) -> None:
    gateway.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 12)
    async with RawSocket(gateway) as reader:
        await reader.send(b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n")
        await reader.send(f"Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        received = await reader.receive(64)
        await asyncio.sleep(
            3 * HttpProtocol.headers_timeout
        )  # time itself is tested: as long as the next request could take
        while data := await reader.receive():
            received += data
        json.loads(received.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize(
    "headers",
    [
        b"X-A: " + b"a" * HEADERS_SIZE,
        b"".join(b"X-%d: a\r\n" % number for number in range(HEADERS_COUNT + 1)),
        b"X-A: " + b"a" * (HEADERS_SIZE // 2) + b"\r\nX-B: " + b"b" * (HEADERS_SIZE // 2),
    ],
)
@pytest.mark.parametrize("upgrade", [b"", b"Connection: Upgrade\r\nUpgrade: websocket\r\n"])
async def test_headers_beyond_the_limits_are_refused(raw: RawSocket, headers: bytes, upgrade: bytes) -> None:
    await raw.send(GET + upgrade + headers + b"\r\n\r\n")
    assert (await raw.receive()).startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize(
    ("host", "deleted"),
    [
        (b"127.0.0.1:8080", True),
        (b"[::1]:8080", True),
        (b"[::1]", True),
        (b"LocalHost", True),
        (b"hawse.example:8080", False),
        (b"", False),
    ],
)
async def test_a_browser_with_too_many_cookies_can_delete_the_cookies_of_an_ip_address(
    raw: RawSocket, host: bytes, deleted: bool
) -> None:
    """Another program at this address can set them, which would lock the user out."""
    await raw.send(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nCookie: " + b"a" * HEADERS_SIZE)
    answer = await raw.receive()
    assert answer.startswith(b"HTTP/1.1 431")
    assert (b'clear-site-data: "cookies"' in answer) is deleted
    await raw.send(b"a" * HEADERS_SIZE + b"\r\n\r\n")  # the rest is read, so that the browser gets the answer
    assert b"delete this host's cookies" in answer


async def test_an_endless_header_is_not_buffered(raw: RawSocket) -> None:
    await raw.send(GET + b"X-A: ")
    await raw.send(b"a" * HEADERS_SIZE)
    assert (await raw.receive()).startswith(b"HTTP/1.1 431")
    with suppress(OSError):
        for _ in range(1 + DISCARDED // HEADERS_SIZE):
            await raw.send(b"a" * HEADERS_SIZE)
        assert not await raw.receive()  # the connection is closed


async def test_an_endless_request_target_is_not_buffered(raw: RawSocket) -> None:
    await raw.send(b"GET /")
    await raw.send(b"a" * (HEADERS_SIZE + 1))
    assert (await raw.receive()).startswith(b"HTTP/1.1 431")


async def test_invalid_http_is_a_bad_request(raw: RawSocket) -> None:
    await raw.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    assert (await raw.receive()).startswith(b"HTTP/1.1 400")


async def test_at_the_limit_the_longest_idle_connection_is_closed(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, max_connections=1) as gateway:
        gateway.server.config.limit_concurrency = 4
        silent = [RawSocket(gateway) for _ in range(3)]
        for raw in silent:
            await raw.__aenter__()
            await gateway.until(lambda: len(gateway.connections) == 1 + silent.index(raw))  # noqa: B023
        async with gateway.peer() as peer:
            assert await silent[0].receive() == b""
            assert await peer.ask("answer", {"a": 1}) == {"a": 1}
        assert len(gateway.connections) >= 2
        for raw in silent:
            await raw.__aexit__()


async def test_idle_connections_do_not_prevent_new_clients(runtime: FakeRuntime) -> None:
    async with Gateway(runtime, max_connections=1) as gateway:
        gateway.server.config.limit_concurrency = 3
        opened = [RawSocket(gateway) for _ in range(20)]
        for raw in opened:
            await raw.__aenter__()
        async with gateway.peer() as peer:
            await peer.ask("answer")
        for raw in opened:
            await raw.__aexit__()


@pytest.mark.parametrize("rest", [b"\r\n", b"Content-Length: 1\r\n\r\nx"])
async def test_pipelined_requests_are_answered_in_order(raw: RawSocket, rest: bytes) -> None:
    await raw.send((GET + rest) * (PIPELINE + 1))
    answers = b""
    while answers.count(b"HTTP/1.1 200 OK") < PIPELINE + 1:
        answers += await raw.receive()


async def test_a_flood_of_pipelined_requests_is_disconnected_and_not_queued(
    raw: RawSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    begin = HttpProtocol.on_message_begin

    def count(self: HttpProtocol) -> None:
        nonlocal made
        begin(self)
        made += 1

    monkeypatch.setattr(HttpProtocol, "on_message_begin", count)
    with suppress(ConnectionError):
        await raw.send((GET + b"\r\n") * 5_000)
        while await raw.receive():
            pass
    assert made <= PIPELINE + 1


class Unlimited:
    """An application that lifts the time limit for /unlimited; its responses are `size` bytes, then silence."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/unlimited":
            scope["extensions"][UNLIMITED_DURATION]["begin"]()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * (self.size + 1), "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        self.ended.set()


async def noting_queries(scope: Scope, receive: Receive, send: Send) -> None:
    found = scope["query_string"] + (b"|empty" if "hawse.empty_query" in scope["extensions"] else b"")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(found))]})
    await send({"type": "http.response.body", "body": found})


@pytest.mark.parametrize(("target", "found"), [(b"/q", b""), (b"/q?", b"|empty"), (b"/q?a", b"a"), (b"/", b"")])
async def test_an_empty_query_is_distinguished_from_none(tmp_path: Path, target: bytes, found: bytes) -> None:
    async with FakeRuntime(tmp_path / "s") as runtime:
        gateway = Gateway(runtime, web=noting_queries)
        async with gateway, RawSocket(gateway) as raw:
            await raw.send(b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % target)
            assert (await raw.receive()).partition(b"\r\n\r\n")[2] == found


async def test_a_response_without_time_limit_may_be_silent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(HttpProtocol, "answer_timeout", 0.1)
    async with FakeRuntime(tmp_path / "s") as runtime:
        gateway = Gateway(runtime, web=Unlimited())
        async with gateway, RawSocket(gateway) as unlimited, RawSocket(gateway) as other:
            await unlimited.send(b"GET /unlimited HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await other.send(b"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while await other.receive():
                pass
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    while await unlimited.receive():
                        pass


async def test_a_response_without_time_limit_that_is_not_read_is_aborted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(HttpProtocol, "answer_timeout", 0.1)
    application = Unlimited(32 << 20)
    async with FakeRuntime(tmp_path / "s") as runtime:
        gateway = Gateway(runtime, web=application)
        async with gateway, RawSocket(gateway) as raw:
            await raw.send(b"GET /unlimited HTTP/1.1\r\nHost: localhost\r\n\r\n")
            async with asyncio.timeout(TIMEOUT):
                await application.ended.wait()


UPGRADE = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"


@pytest.mark.parametrize("verb", [b"GET", b"POST"])
@pytest.mark.parametrize("body", [b"Content-Length: 2\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
async def test_a_request_for_an_upgrade_that_has_a_body_is_refused(raw: RawSocket, verb: bytes, body: bytes) -> None:
    """Nothing would answer it: it is neither a WebSocket nor a request."""
    await raw.send(verb + b" /v1/connect HTTP/1.1\r\nHost: localhost\r\n" + UPGRADE + body)
    assert (await raw.receive()).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("second", [b"localhost", b"other.example"])
async def test_a_request_with_two_hosts_is_refused(raw: RawSocket, second: bytes) -> None:
    await raw.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHOST: " + second + b"\r\n\r\n")
    assert (await raw.receive()).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("sent", [GET + b"\r\n", (GET + b"\r\n") * 2 + b"\0"])
async def test_responses_end_silently_when_the_connection_is_closed(
    gateway: Gateway, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    """uvloop raises on each write to a closed transport: a log entry for each, without a token."""
    released, ended = asyncio.Event(), asyncio.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await released.wait()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"x"})
        finally:
            ended.set()

    gateway.server.config.loaded_app = answer
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(sent)
    writer.write_eof()
    await reader.read()
    released.set()
    await ended.wait()
    writer.close()
    assert [record for record in caplog.records if record.exc_info] == []
