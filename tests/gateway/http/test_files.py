"""Files over HTTP with a scripted runtime: ranges, paths as bytes, streams in both directions without buffering."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Connection, Data, End, HawseError, Kind, Message
from hawse.wire.messages import from_raw
from hawse_gateway.upstream.call import WINDOW
from tests.support.gateway import TOKEN, FakeRuntime, Gateway, RawSocket, pattern
from tests.support.http_clients import http_client

SIZE = 3_000_000
BEARER = {"Authorization": f"Bearer {TOKEN}"}
FILES = "/v1/sandboxes/local/files/"
STAT = {"path": "f", "type": "file", "size": SIZE, "mode": 0o644, "mtime": 1.5, "version": "v1"}


class File:
    """Serves `file.read`: `opened`, then the pattern."""

    def __init__(self, start: int, stop: int) -> None:
        self.offset, self.stop, self.opened = start, stop, False

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self.opened:
            self.opened = True
            value = {name: STAT[name] for name in ("size", "mode", "mtime", "version")}
            connection.send_event(ch, "opened", value)
            return True
        size = min(connection.window(ch), size, 65_536, self.stop - self.offset)
        if size > 0:
            connection.send_data(ch, Kind.OUTPUT, self.offset, pattern(self.offset, size))
            self.offset += size
        if self.offset == self.stop:
            connection.send_result(ch, {"bytes": SIZE, "version": "v1"})
            return False
        return connection.window(ch) > 0


class Disk(FakeRuntime):
    """Any path is a file of SIZE bytes but `no` and `dir`. Uploads are granted only while `takes`."""

    takes = True

    def _call(self, link: StreamLink, call: Call) -> None:
        params: dict[str, Any] = from_raw(call.params)
        if params["path"] == "no":
            link.connection.send_error(call.ch, HawseError("not_found", "no"))
        elif call.method == "file.delete":
            link.connection.send_result(call.ch, {"deleted": 3})
        elif call.method == "file.stat":
            link.connection.send_result(call.ch, STAT | {"type": "directory" if params["path"] == "dir" else "file"})
        elif call.method == "file.read":
            start = params.get("offset") or 0
            link.writer.attach(call.ch, File(start, start + (params.get("length") or SIZE)))

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        if isinstance(event, Data) and self.takes:
            link.connection.grant(event.ch, len(event.payload))
        if isinstance(event, End):
            value = {"bytes": len(self.input[event.ch]), "version": "v2"}
            link.connection.send_result(event.ch, value)
            return
        super().link_received(link, event)


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Disk]:
    async with Disk(tmp_path / "s") as disk:
        yield disk


@pytest.fixture
async def served(disk: Disk) -> AsyncIterator[Gateway]:
    async with Gateway(disk) as served:
        yield served


@pytest.fixture
async def http(served: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(served.url, headers=BEARER) as http:
        yield http


def whole(start: int = 0, stop: int = SIZE) -> bytes:
    return b"".join(pattern(at, min(50_200, stop - at)) for at in range(start, stop, 50_200))


async def test_a_file_is_received_completely(http: httpx.AsyncClient) -> None:
    answer = await http.get(FILES + "a.txt")
    assert (answer.status_code, answer.content) == (200, whole())
    assert answer.headers["content-length"] == str(SIZE)
    assert answer.headers["etag"] == '"v1"'
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''a.txt"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_range_is_of_the_version_that_was_requested(http: httpx.AsyncClient, disk: Disk) -> None:
    answer = await http.get(FILES + "a", headers={"Range": "bytes=1000-"})
    assert (answer.status_code, answer.content) == (206, whole(1000))
    assert answer.headers["content-range"] == f"bytes 1000-{SIZE - 1}/{SIZE}"
    assert from_raw(disk.seen[-1].params)["version"] == "v1"
    assert (await http.get(FILES + "a", headers={"Range": f"bytes={SIZE}-"})).status_code == 416
    changed = await http.get(FILES + "a", headers={"Range": "bytes=1000-", "If-Range": '"v0"'})
    assert (changed.status_code, len(changed.content)) == (200, SIZE)


@pytest.mark.parametrize("address", ["a%2Ffiles%2Fb/x", "a%2Ffiles/x", "local%2Ffiles%2Fx"])
async def test_an_escaped_slash_is_part_of_the_name(http: httpx.AsyncClient, disk: Disk, address: str) -> None:
    answer = await http.get(f"/v1/sandboxes/{address}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert disk.seen == []


async def test_a_range_with_a_huge_number_returns_the_whole_file(http: httpx.AsyncClient) -> None:
    answer = await http.get(FILES + "a", headers={"Range": f"bytes={'9' * 5000}-"})
    assert (answer.status_code, len(answer.content)) == (200, SIZE)


async def test_head_returns_headers_without_reading_the_file(http: httpx.AsyncClient, disk: Disk) -> None:
    answer = await http.head(FILES + "a")
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, str(SIZE), b"")
    assert [call.method for call in disk.seen] == ["file.stat"]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("a/b.txt", "a/b.txt"),
        ("/etc/hosts", "/etc/hosts"),
        ("files/x", "files/x"),
        ("a%20b%3F%2Fc", "a b?/c"),
        ("caf%C3%A9", "caf\u00e9"),
        ("caf%E9", "caf\0e9"),
        ("..%2Fx", "../x"),
    ],
)
async def test_a_path_is_forwarded_byte_for_byte(http: httpx.AsyncClient, disk: Disk, address: str, path: str) -> None:
    assert (await http.head(FILES + address)).status_code == 200
    assert from_raw(disk.seen[-1].params)["path"] == path


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "no", 404, "not_found"),
        ("PUT", "no", 404, "not_found"),
        ("GET", "a%00b", 400, "invalid_params"),
        ("GET", "", 400, "invalid_params"),
        ("PUT", "a?mode=9", 400, "invalid_params"),
        ("DELETE", "no", 404, "not_found"),
        ("DELETE", "", 400, "invalid_params"),
    ],
)
async def test_an_error_has_its_status(http: httpx.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    answer = await http.request(method, FILES + path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(("query", "recursive"), [("", False), ("?recursive=true", True), ("?recursive=false", False)])
async def test_a_file_is_deleted(http: httpx.AsyncClient, disk: Disk, query: str, recursive: bool) -> None:
    answer = await http.delete(f"{FILES}caf%E9{query}", headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()) == (200, {"deleted": 3})
    assert (disk.seen[-1].method, disk.seen[-1].key) == ("file.delete", "k")
    assert from_raw(disk.seen[-1].params) == {"path": "caf\0e9", "recursive": recursive}


@pytest.mark.parametrize("name", ["If-Match", "If-None-Match"])
async def test_a_condition_of_a_deletion_is_not_ignored(http: httpx.AsyncClient, disk: Disk, name: str) -> None:
    answer = await http.delete(FILES + "a", headers={name: '"v1"'})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_params")
    assert all(call.method != "file.delete" for call in disk.seen)


async def test_an_upload_is_the_body_with_its_mode_and_key(http: httpx.AsyncClient, disk: Disk) -> None:
    async def body() -> AsyncIterator[bytes]:
        for at in range(0, SIZE, 50_200):
            yield pattern(at, min(50_200, SIZE - at))

    answer = await http.put(FILES + "up?mode=755&parents=false", content=body(), headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()) == (200, {"bytes": SIZE, "version": "v2"})
    params = from_raw(disk.seen[-1].params)
    assert (params["mode"], params["parents"], disk.seen[-1].key) == (0o755, False, "k")
    assert disk.input[disk.seen[-1].ch] == whole()


async def test_an_upload_waits_for_a_slow_disk(served: Gateway, disk: Disk) -> None:
    disk.takes = False
    async with RawSocket(served) as raw:
        await raw.send(f"PUT {FILES}up HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode())
        await raw.send(b"Content-Length: 100000000\r\n\r\n")
        sent = 0
        try:
            async with asyncio.timeout(1):
                while True:
                    await raw.send(bytes(1 << 16))
                    sent += 1 << 16
        except TimeoutError:
            pass
        assert sent < 20_000_000  # what the kernel's buffers hold
        await disk.until(lambda: disk.input)
        taken = sum(map(len, disk.input.values()))
        assert 0 < taken <= 262_144  # one input window, of whole frames
    # The last bytes of the client are not read, so its disconnection is noticed when the disk reads again.
    disk.takes = True
    disk.links[0].connection.grant(disk.seen[-1].ch, taken)
    disk.links[0].flush()
    await disk.until(lambda: disk.cancelled)


async def test_a_reader_that_stalls_costs_at_most_a_window(
    served: Gateway, disk: Disk, http: httpx.AsyncClient
) -> None:
    async with RawSocket(served) as raw:
        await raw.send(f"GET {FILES}a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        await disk.until(lambda: disk.calls)
        for _ in range(100):  # the runtime would send 64 KiB with each answer
            await http.head(FILES + "b")
        (call,) = [call for call in disk.seen if call.method == "file.read"]
        link = disk.links[0]
        source = link.connection.channels[call.ch].source
        assert isinstance(source, File)
        assert source.offset < SIZE - WINDOW
    await disk.until(lambda: disk.cancelled)
