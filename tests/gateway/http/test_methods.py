"""Methods over HTTP with a fake runtime: authorization, validation of requests, and event streams."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hawse.link.stream_link import StreamLink
from hawse.wire import Call, HawseError, Kind
from hawse.wire.messages import from_raw
from hawse_gateway.http import methods as rest
from hawse_gateway.http.openapi import document
from hawse_gateway.upstream.call import WINDOW
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Flood, Gateway, RawSocket
from tests.support.http_clients import http_client

BEARER = {"Authorization": f"Bearer {TOKEN}"}
EVENTS = {"Accept": "text/event-stream"}
HERE = "/v1/sandboxes/local/"
OPERATIONS = [
    (verb.upper(), path.replace("{sandbox}", "local").replace("{path}", "x"))
    for path, item in document()["paths"].items()
    for verb in item
    if verb != "parameters"
] + [("GET", "/v1/openapi.json"), ("GET", "/v1/nothing"), ("POST", "/v1/sandboxes/local/nothing/at/all")]


class Played(FakeRuntime):
    """`terminal.get` answers its params; the id in `process.attach` selects the behaviour."""

    flood: Flood | None = None

    def _call(self, link: StreamLink, call: Call) -> None:
        params: dict[str, Any] = from_raw(call.params)
        match call.method, params.get("id"):
            case "terminal.get", _:
                link.connection.send_result(call.ch, params)
            case "process.attach", "flood":
                self.flood = Flood(50_000_000, stalled=self.notify)
                link.writer.attach(call.ch, self.flood)
            case "process.attach", "late":
                link.writer.attach(call.ch, Late())
            case "process.attach", "hang":
                pass
            case _:
                error = HawseError("conflict", "taken", admitted="yes", details={"path": "/x"})
                link.connection.send_error(call.ch, error)


class Late:
    """Some bytes, then an error."""

    def pull(self, connection: Any, ch: int, size: int) -> bool:
        if connection.window(ch) > 0:
            connection.send_data(ch, Kind.STDERR, 0, b"no\n")
            connection.send_error(ch, HawseError("interrupted", "link lost"))
        return False


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Played]:
    async with Played(tmp_path / "s") as runtime:
        yield runtime


@pytest.fixture
async def http(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(gateway.url) as http:
        yield http


# ---- authorization


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthenticated"),
        ({"Authorization": "Bearer no"}, 401, "unauthenticated"),
        (BEARER | {"Origin": "http://evil.example"}, 403, "origin_denied"),
        (BEARER | {"Host": "evil.example"}, 403, "origin_denied"),
    ],
)
async def test_every_route_requires_a_token(
    http: httpx.AsyncClient, runtime: Played, headers: dict[str, str], status: int, code: str
) -> None:
    for verb, path in OPERATIONS:
        answer = await http.request(verb, path, headers=headers)
        assert (verb, path, answer.status_code) == (verb, path, status)
        assert verb == "HEAD" or answer.json()["code"] == code
    assert runtime.seen == []


async def test_the_runtime_receives_the_principal(http: httpx.AsyncClient, runtime: Played) -> None:
    viewer = {"Authorization": f"Bearer {VIEWER_TOKEN}"}
    await http.post(HERE + "terminal.get", headers=viewer)
    await http.post(HERE + "terminal.get", headers=BEARER)
    assert [call.principal.id for call in runtime.seen if call.principal is not None] == ["viewer", "owner"]
    assert (await http.post("/v1/share.list", headers=viewer)).status_code == 403
    assert (await http.post("/v1/share.list", headers=BEARER)).json() == {"links": []}


# ---- validation of requests


async def test_the_response_is_the_result(http: httpx.AsyncClient, runtime: Played) -> None:
    headers = BEARER | {"Idempotency-Key": "k"}
    answer = await http.post(HERE + "terminal.get?timeout=2.5", headers=headers, json={"id": "caf\u00e9"})
    assert (answer.status_code, answer.json()) == (200, {"id": "caf\u00e9"})
    assert runtime.seen[-1].key == "k"
    assert 2 < (runtime.seen[-1].timeout or 0) <= 2.5  # less what it waited for the runtime


async def test_an_empty_body_means_no_parameters(http: httpx.AsyncClient) -> None:
    assert (await http.post(HERE + "terminal.get", headers=BEARER)).json() == {}


async def test_an_error_has_its_status(http: httpx.AsyncClient) -> None:
    answer = await http.post(HERE + "terminal.kill", headers=BEARER)
    assert (answer.status_code, answer.json()["admitted"], answer.json()["details"]) == (409, "yes", {"path": "/x"})


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("path", "headers", "body", "status", "code"),
    [
        ("terminal.get", JSON, b"{", 400, "invalid_params"),
        ("terminal.get", JSON, b"[]", 400, "invalid_params"),
        ("terminal.get", JSON, b'{"a": "\xff"}', 400, "invalid_params"),
        ("terminal.get", JSON, b"[" * 100_000, 400, "invalid_params"),
        ("terminal.get", {"Content-Type": "text/plain"}, b"{}", 400, "invalid_params"),
        ("terminal.get", {"Content-Type": "application/octet-stream"}, b"{}", 400, "invalid_params"),
        ("terminal.get", JSON, b" " * (rest.BODY_LIMIT + 1), 413, "too_large"),
        ("terminal.get?timeout=x", JSON, b"", 400, "invalid_params"),
        ("terminal.get?timeout=nan", JSON, b"", 400, "invalid_params"),
        ("terminal.get?timeout=0", JSON, b"", 400, "invalid_params"),
        ("terminal.get", {"Idempotency-Key": "k" * 129}, b"", 400, "invalid_params"),
        ("terminal.get", {"Last-Event-ID": "3"}, b"", 400, "invalid_params"),
        ("process.attach", {"Last-Event-ID": "three"}, b"", 400, "invalid_params"),
        ("no.method", JSON, b"", 404, "unknown_method"),
        ("sandbox.list", JSON, b"", 404, "unknown_method"),
    ],
)
async def test_an_invalid_request_is_refused_with_its_reason_and_not_forwarded(
    http: httpx.AsyncClient, runtime: Played, path: str, headers: dict[str, str], body: bytes, status: int, code: str
) -> None:
    answer = await http.post(HERE + path, headers=BEARER | headers, content=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert runtime.seen == []


async def test_an_unknown_path_or_method_is_refused(http: httpx.AsyncClient) -> None:
    for verb, path in [("POST", "/v1/sandboxes/other/terminal.get"), ("GET", HERE + "terminal.get"), ("GET", "/v1/x")]:
        answer = await http.request(verb, path, headers=BEARER)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


# ---- streams of events


async def test_an_error_before_the_first_event_has_its_status(http: httpx.AsyncClient) -> None:
    answer = await http.post(HERE + "exec", headers=BEARER | EVENTS)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_an_error_after_the_first_event_is_the_last_event(http: httpx.AsyncClient) -> None:
    answer = await http.post(HERE + "process.attach", headers=BEARER | EVENTS, json={"id": "late"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    blocks = answer.text.strip().split("\n\n")
    assert [block.partition("event: ")[2].partition("\n")[0] for block in blocks] == ["stderr", "error"]
    assert json.loads(blocks[1].partition("data: ")[2])["code"] == "interrupted"


async def test_a_silent_stream_sends_keep_alives_until_its_reader_disconnects(
    http: httpx.AsyncClient, runtime: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "HEARTBEAT_SECONDS", 0.02)
    options: Any = {"headers": BEARER | EVENTS, "json": {"id": "hang"}}
    async with http.stream("POST", HERE + "process.attach", **options) as answer:
        lines = answer.aiter_lines()
        assert [await anext(lines) for _ in range(3)] == [": still here", "", ": still here"]
        assert runtime.cancelled == []
    await runtime.until(lambda: runtime.cancelled)


async def test_the_call_of_a_client_that_disconnects_is_cancelled(gateway: Gateway, runtime: Played) -> None:
    async with RawSocket(gateway) as raw:
        body = b'{"id": "hang"}'
        head = f"POST {HERE}process.attach HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        await raw.send(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await runtime.until(lambda: runtime.seen)
    await runtime.until(lambda: runtime.cancelled)


async def test_a_reader_that_stalls_costs_at_most_a_window(
    gateway: Gateway, runtime: Played, http: httpx.AsyncClient
) -> None:
    async with RawSocket(gateway) as raw:
        body = b'{"id": "flood"}'
        head = f"POST {HERE}process.attach HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        head += "Accept: text/event-stream\r\nContent-Type: application/json\r\n"
        await raw.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await runtime.until(lambda: runtime.flood and runtime.flood.offset >= WINDOW)
        for _ in range(200):  # the runtime would send 64 KiB with each answer
            await http.post(HERE + "terminal.get", headers=BEARER, json={"id": "t"})
        assert runtime.flood is not None
        assert runtime.flood.offset < 8 * WINDOW  # what kernel and uvicorn hold, and a window
    await runtime.until(lambda: runtime.cancelled)
