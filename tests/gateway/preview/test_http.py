"""HTTP through a preview, with a real program and a real gateway."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import h11
import httpx
import psutil
import pytest

from hawse_gateway.preview.addresses import PreviewTarget
from hawse_gateway.preview.headers import PublicAddress
from hawse_gateway.preview.http import EVENTS_PER_TURN, INFORMATIONAL, HttpExchange, download
from tests.support.previewed import Previewed, fields

MIB = 1 << 20
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_request_is_forwarded_unchanged(preview: Previewed) -> None:
    answer = await preview.http.request("PATCH", "/a%20b//c/?x=%2F&y", content=b"body", headers={"X-Mine": "1"})
    seen = answer.json()
    assert (seen["method"], seen["target"], seen["body"]) == ("PATCH", "/a%20b//c/?x=%2F&y", "body")
    headers = fields(answer)
    assert headers["host"] == f"localhost:{preview.port}"
    assert headers["x-mine"] == "1"
    assert headers["x-forwarded-host"] == f"127.0.0.1:{preview.stack.port}"
    assert headers["x-forwarded-prefix"] == preview.path


async def test_events_are_streamed_one_by_one(preview: Previewed) -> None:
    async with preview.http.stream("GET", "/events", params={"n": 3}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        for text in ("one", "two", "three"):
            await preview.http.post("/next", content=text)
            assert await anext(lines) == f"data: {text}"
            assert await anext(lines) == ""


async def test_a_client_that_leaves_an_event_stream_leaves_no_resources_behind(preview: Previewed) -> None:
    await preview.http.get("/left")
    before = await preview.held()
    async with asyncio.timeout(20):
        async with preview.http.stream("GET", "/silent") as answer:
            assert answer.status_code == 200
        await preview.until_left("silent")
    await preview.until_held(before)


async def test_a_reader_that_stops_blocks_the_program_and_costs_no_memory(preview: Previewed) -> None:
    size = 100 * MIB
    gateway = psutil.Process(preview.stack.pid)
    runtime = await preview.sandbox.call("runtime.info")
    before = gateway.memory_info().rss
    most, received = before, 0
    async with preview.http.stream("GET", "/bytes", params={"n": size}) as answer:
        async for chunk in answer.aiter_raw():
            received += len(chunk)
            if received % (8 * MIB) < len(chunk):
                await preview.sandbox.call("runtime.info")  # takes time, in which tasks would accumulate
                most = max(most, gateway.memory_info().rss)
    assert received == size
    assert most - before < 16 * MIB
    assert (await preview.sandbox.call("runtime.info"))["memory"] - runtime["memory"] < 16 * MIB


async def test_a_body_of_unknown_length_is_forwarded(preview: Previewed) -> None:
    block = bytes(range(251)) * 1000

    async def body() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield block

    count, digest = (await preview.http.post("/size", content=body())).json()
    assert (count, digest) == (40 * len(block), hashlib.sha256(block * 40).hexdigest())


async def test_a_response_can_start_before_the_request_has_ended(preview: Previewed) -> None:
    """10 MiB come back while they are sent: more than all windows and buffers on the way hold."""
    block, count = bytes(range(256)) * 256, 160
    reader, writer = await asyncio.open_connection("127.0.0.1", preview.stack.port)
    head = f"POST {preview.path}/duplex HTTP/1.1\r\nHost: localhost\r\nContent-Length: {count * len(block)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode())

    async def send() -> None:
        for _ in range(count):
            writer.write(block)
            await writer.drain()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(send())
        answer = await reader.read()
    writer.close()
    assert answer.partition(b"\r\n\r\n")[2] == block * count


async def test_a_response_that_breaks_off_is_incomplete_for_the_browser(preview: Previewed) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="without sending"):
        await preview.http.get("/broken")


async def test_responses_without_a_body(preview: Previewed) -> None:
    assert (await preview.http.post("/next", content="unread")).status_code == 204
    head = await preview.http.head("/bytes", params={"n": 5})
    assert (head.status_code, head.content) == (200, b"")


async def test_redirects_and_cookies_lead_back_into_the_preview(preview: Previewed) -> None:
    answer = await preview.http.get("/redirect", params={"to": f"http://localhost:{preview.port}/seen"})
    assert answer.headers["location"] == f"{preview.path}/seen"
    by_name = {"Host": preview.name}
    base = preview.stack.base
    answer = await preview.http.get(f"{base}/redirect", params={"to": "/seen"}, headers=by_name)
    assert answer.headers["location"] == "/seen"
    first = await preview.http.get("/cookie")
    assert "example.org" not in first.headers["set-cookie"]
    assert (await preview.http.get("/cookie")).text == "sid=1"
    assert (await preview.http.get("/seen")).json()["headers"].count(["cookie", "sid=1"]) == 0, "not below its path"


async def test_a_program_that_does_not_speak_http_is_a_bad_gateway(preview: Previewed) -> None:
    async with preview.sandbox.processes.start(["python3", "-c", NOISE]) as process:
        async for line in process.stdout:
            port = int(line)
            break
        token = (await preview.sandbox.call("port.expose", {"port": port}))["token"]
        answer = await preview.http.get(f"{preview.stack.base}/p/local/{token}/")
        assert (answer.status_code, answer.json()["code"]) == (502, "interrupted")


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            200,
            "hello",
        ),
        ("HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\nok", 502, None),
        ("HTTP/1.1 700 Huh\r\nContent-Length: 2\r\n\r\nok", 502, None),
    ],
)
async def test_unusual_responses_are_forwarded_or_refused(
    preview: Previewed, answer: str, status: int, body: str | None
) -> None:
    before = len(preview.stack.printed)
    async with preview.sandbox.processes.start(["python3", "-c", ONE_ANSWER, answer]) as process:
        async for line in process.stdout:
            port = int(line)
            break
        token = (await preview.sandbox.call("port.expose", {"port": port}))["token"]
        got = await preview.http.get(f"{preview.stack.base}/p/local/{token}/")
    assert got.status_code == status
    assert body is None or got.text == body
    assert preview.stack.printed[before:] == []


ONE_ANSWER = r"""
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
peer.recv(65536)
peer.sendall(sys.argv[1].encode("latin-1"))
peer.shutdown(socket.SHUT_WR)
peer.recv(65536)
"""

NOISE = r"""
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    peer, _ = listener.accept()
    peer.sendall(b"SSH-2.0-noise\r\n" * 10)
    peer.recv(65536)
    peer.close()
"""


class EndlessProgram:
    """A tunnel to a program that sends the same bytes for ever. After `limit` reads it fails the test."""

    def __init__(self, data: bytes, *, head: bytes = b"", limit: int = 1000) -> None:
        self._data = data
        self._head = head
        self._reads_left = limit

    async def write(self, *parts: bytes) -> None: ...

    async def read(self) -> bytes:
        self._reads_left -= 1
        assert self._reads_left, "the gateway reads on"
        head, self._head = self._head, b""
        return head or self._data


async def test_a_program_that_sends_informational_responses_without_end_is_an_error() -> None:
    tunnel: Any = EndlessProgram(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    exchange = HttpExchange(tunnel)
    await exchange.send(h11.Request(method="GET", target="/", headers=[("host", "localhost")]))

    async def send(message: object) -> None:
        raise AssertionError(f"sent {message}")

    target = PreviewTarget("box", "token", b"/", "", 80, "localhost")
    with pytest.raises(h11.RemoteProtocolError, match=f"more than {INFORMATIONAL} 1xx responses"):
        await download(send, exchange, target, PublicAddress(80, "http", ""))


async def test_a_response_in_many_small_parts_lets_other_connections_have_their_turn() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    tunnel: Any = EndlessProgram(b"1\r\nx\r\n" * 100, head=head)
    exchange = HttpExchange(tunnel)
    await exchange.send(h11.Request(method="GET", target="/", headers=[("host", "localhost")]))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(other())
        for _ in range(10 * EVENTS_PER_TURN):
            await exchange.receive()
        running.cancel()
    assert turns >= 10
