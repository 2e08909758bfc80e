"""The ids of HTTP requests."""

import pytest

from hawse.wire import HawseError
from hawse.wire.trace import Trace
from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client


async def test_each_response_has_the_id_of_its_request(gateway: Gateway) -> None:
    async with http_client(gateway.url) as http:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        paths = ("/healthz", "/", "/v1/openapi.json", "/v1/nowhere")
        ids = {(await http.get(path, headers=headers)).headers["x-request-id"] for path in paths}
    assert len(ids) == len(paths)


async def test_a_request_continues_the_trace_of_its_header_to_the_runtime(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    parent = Trace.below(None)
    headers = {"Authorization": f"Bearer {TOKEN}", "traceparent": str(parent)}
    async with http_client(gateway.url, headers=headers) as http:
        response = await http.post("/v1/sandboxes/local/fail", json={})
        assert response.status_code == 404  # no method of this name is known
        response = await http.post("/v1/sandboxes/local/terminal.list", json={})
    answered, sent = Trace.parse(response.headers["traceparent"]), Trace.parse(runtime.seen[-1].trace)
    assert answered == sent
    assert answered is not None
    assert (answered.id, answered.span) == (parent.id, response.headers["x-request-id"])
    assert response.json()["request"] == answered.span


async def test_a_call_continues_the_trace_of_its_client_and_its_error_names_it(
    gateway: Gateway, runtime: FakeRuntime
) -> None:
    parent = Trace.below(None)
    async with gateway.peer() as peer:
        with pytest.raises(HawseError) as caught:
            await peer.ask("fail", trace=str(parent))
        sent = Trace.parse(runtime.seen[-1].trace)
        assert sent is not None
        assert (sent.id, sent.span) == (parent.id, caught.value.request)
        await peer.ask("answer", trace="not a traceparent")
        other = Trace.parse(runtime.seen[-1].trace)
    assert other is not None
    assert other.id != parent.id
