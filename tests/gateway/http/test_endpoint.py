"""Shared code of the HTTP endpoints: authorization, internal errors, and calls whose client disconnects."""

import asyncio
import logging
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.open_connections import OpenConnections
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.http.endpoint import (
    ClientDisconnectedError,
    HttpEndpoint,
    RequestAdmission,
    parts,
    unless_disconnected,
)
from tests.support.stores import credentials

TOKEN = "a token that only tests know"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def ask(handler: Any, requests: Shares | None = None, **headers: str) -> httpx.Response:
    access_policy = AccessPolicy(credentials(TOKEN), Tickets(lambda: 0.0))
    endpoint = HttpEndpoint(
        RequestAdmission(access_policy, requests or Shares(8, "requests"), OpenConnections()), handler
    )
    app = Starlette(routes=[Route("/", endpoint)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        return await http.get("/", headers=BEARER | headers)


async def test_an_internal_error_reveals_nothing_to_the_client(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(http: HttpRequest, principal: Principal, send: Send) -> Response:
        raise ValueError("the secret of /etc/shadow")

    with caplog.at_level(logging.CRITICAL):
        answer = await ask(broken)
    assert answer.status_code == 500
    assert answer.json() == {
        "code": "internal",
        "message": "a bug in the gateway",
        "retryable": False,
        "admitted": "unknown",
    }


async def test_an_error_has_its_status_and_its_details() -> None:
    async def refuse(http: HttpRequest, principal: Principal, send: Send) -> Response:
        raise HawseError("conflict", f"not for {principal.id}", details={"path": "/x"})

    answer = await ask(refuse)
    assert (answer.status_code, answer.json()["message"]) == (409, "not for owner")
    assert answer.json()["details"] == {"path": "/x"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer no"}, 401, "unauthenticated"),
        ({"Origin": "http://evil.example"}, 403, "origin_denied"),
    ],
)
async def test_unauthorized_requests_do_not_reach_the_handler(headers: dict[str, Any], status: int, code: str) -> None:
    async def reached(http: HttpRequest, principal: Principal, send: Send) -> Response:
        raise AssertionError

    answer = await ask(reached, **headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_requests_are_limited_until_their_responses_have_been_sent() -> None:
    requests = Shares(1, "requests")
    held = []

    class Observed(Response):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            held.append(requests.held)
            held.append((await ask(handle, requests)).status_code)
            await super().__call__(scope, receive, send)

    async def handle(http: HttpRequest, principal: Principal, send: Send) -> Response:
        return Observed("done")

    assert (await ask(handle, requests)).text == "done"
    assert held == [1, 429]
    assert requests.held == 0


def receiving(*messages: dict[str, Any]) -> HttpRequest:
    """A request with these messages, and none after them."""
    left = list(messages)

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return HttpRequest({"type": "http", "headers": []}, receive)


GONE = {"type": "http.disconnect"}
REST = {"type": "http.request", "body": b"", "more_body": False}


async def test_work_is_cancelled_when_its_client_disconnects() -> None:
    cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(ClientDisconnectedError):
        await unless_disconnected(receiving(REST, GONE), work())
    assert cancelled.is_set()


async def test_completed_work_is_returned_even_if_the_client_disconnects() -> None:
    async def work() -> int:
        return 3

    assert await unless_disconnected(receiving(REST), work()) == 3


@pytest.mark.parametrize("error", [HawseError("conflict"), HawseError("deadline_exceeded")])
async def test_an_error_of_the_work_is_raised_unchanged(error: HawseError) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(HawseError) as caught:
        await unless_disconnected(receiving(REST), work())
    assert caught.value is error


async def test_an_incomplete_body_is_refused() -> None:
    http = receiving({"type": "http.request", "body": b"half", "more_body": True}, GONE)
    got = []
    with pytest.raises(ClientDisconnectedError):
        async for part in parts(http):
            got.append(part)
    assert got == [b"half"]
