"""The gateway's own methods over both interfaces: the WebSocket and the HTTP API."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from hawse.api import GATEWAY
from hawse.api.rights import VIEW
from hawse.api.spec import Nothing, Params, Spec
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from tests.support.gateway import TOKEN, VIEWER_TOKEN, Gateway
from tests.support.http_clients import http_client


class TestCount(Params[Nothing], kw_only=True):
    """Send the numbers from 0 to `to` as events."""

    __test__ = False  # not a test class

    to: int


COUNT = Spec("test.count", TestCount, Nothing, events={"number": int}, requires=VIEW)


class Numbers:
    """The stream of `test.count`. At its end it waits until it is detached, if `to` is 0."""

    def __init__(self, call: ServerCall, params: TestCount, detached: asyncio.Event) -> None:
        self._call = call
        self._to = params.to
        self._next = 0
        self._detached = detached

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        while self._next < self._to and connection.window(ch) > 0:
            connection.send_event(ch, "number", self._next)
            self._next += 1
        if self._to and self._next == self._to:
            self._call.result({})
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "test.count takes no input")

    def receive_end(self) -> None: ...

    def detach(self) -> None:
        self._detached.set()


@pytest.fixture
async def detached(gateway: Gateway) -> asyncio.Event:
    """`test.count` is a method of the gateway; set when its stream was detached."""
    detached = asyncio.Event()
    gateway.links.dispatcher.register(COUNT, lambda call, p: call.serve(Numbers(call, p, detached)))
    return detached


@pytest.fixture
async def http(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with http_client(gateway.url, headers=headers) as client:
        yield client


async def test_every_declared_method_has_a_handler(gateway: Gateway) -> None:
    assert gateway.links.dispatcher.methods == GATEWAY


async def test_both_interfaces_give_the_same_results(gateway: Gateway, http: httpx.AsyncClient) -> None:
    expected: dict[str, Any] = {
        "sandbox.list": {"sandboxes": [{"id": "local", "state": "running", "isolation": "none"}]},
        "share.list": {"links": []},
        "preview.host": {"host": None},
    }
    async with gateway.peer() as peer:
        for method, value in expected.items():
            assert await peer.ask(method, sandbox=None) == value
            assert (await http.post(f"/v1/{method}")).json() == value


async def test_both_interfaces_refuse_unknown_parameters_with_their_path(
    gateway: Gateway, http: httpx.AsyncClient
) -> None:
    async with gateway.peer() as peer:
        with pytest.raises(HawseError) as caught:
            await peer.ask("sandbox.list", {"all": True}, sandbox=None)
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.all"})
    answer = await http.post("/v1/sandbox.list", json={"all": True})
    assert (answer.status_code, answer.json()["details"]) == (400, {"path": "$.all"})


async def test_both_interfaces_refuse_a_viewer_methods_that_require_more_rights(
    gateway: Gateway, http: httpx.AsyncClient
) -> None:
    async with gateway.peer(token=VIEWER_TOKEN) as peer:
        assert await peer.ask("sandbox.list", sandbox=None)
        with pytest.raises(HawseError, match="forbidden"):
            await peer.ask("share.list", sandbox=None)
    answer = await http.post("/v1/share.list", headers={"Authorization": f"Bearer {VIEWER_TOKEN}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_a_keyed_call_runs_once(gateway: Gateway, http: httpx.AsyncClient) -> None:
    async with gateway.peer() as peer:
        first = await peer.ask("sandbox.list", sandbox=None, key="k")
        assert await peer.ask("sandbox.list", sandbox=None, key="k") == first
    answer = await http.post("/v1/share.list", headers={"Idempotency-Key": "k"})
    assert answer.json()["code"] == "key_conflict"


async def test_a_call_ends_at_its_deadline(gateway: Gateway, detached: asyncio.Event) -> None:
    async with gateway.peer() as peer:
        while not detached.is_set():  # a busy gateway may refuse the call at its deadline before it starts the stream
            with pytest.raises(HawseError, match="deadline_exceeded"):
                await peer.ask("test.count", {"to": 0}, sandbox=None, timeout=0.01)


async def test_a_method_may_be_a_stream_over_the_websocket(gateway: Gateway, detached: asyncio.Event) -> None:
    async with gateway.peer() as peer:
        ch = await peer.call("test.count", {"to": 3}, sandbox=None)
        messages = [await peer.receive() for _ in range(4)]
        assert [message.type for message in messages] == ["event", "event", "event", "result"]
        assert {message.ch for message in messages} == {ch}


async def test_a_stream_of_the_gateway_is_cancelled_with_its_client(gateway: Gateway, detached: asyncio.Event) -> None:
    async with gateway.peer() as peer:
        await peer.call("test.count", {"to": 0}, sandbox=None)
        await peer.ask("sandbox.list", sandbox=None)
        assert not detached.is_set()
    await detached.wait()


async def test_a_method_may_be_a_stream_over_http(http: httpx.AsyncClient, detached: asyncio.Event) -> None:
    answer = await http.post("/v1/test.count", json={"to": 2}, headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text == "event: number\ndata: 0\n\nevent: number\ndata: 1\n\nevent: result\ndata: {}\n\n"
    collected = (await http.post("/v1/test.count", json={"to": 2})).json()
    assert [event["data"] for event in collected["events"]] == [0, 1]


async def test_the_error_for_an_unknown_method_names_it(gateway: Gateway, http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/file.read")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_method")
    async with gateway.peer() as peer:
        with pytest.raises(HawseError, match=r"unknown_method: file\.read"):
            await peer.ask("file.read", sandbox=None)
