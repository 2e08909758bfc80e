"""Requests from pages of other origins, as browsers send them: a preflight request, then the request."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client

ALLOWED = "https://app.example.org"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def http(runtime: FakeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        Gateway(runtime, origins=[ALLOWED]) as gateway,
        http_client(gateway.url) as client,
    ):
        yield client


def preflight(origin: str) -> dict[str, str]:
    return {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }


async def test_a_preflight_request_of_an_allowed_origin_is_answered_without_a_token(http: httpx.AsyncClient) -> None:
    answer = await http.options("/v1/tickets", headers=preflight(ALLOWED))
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == ALLOWED
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert {"authorization", "content-type"} <= set(answer.headers["access-control-allow-headers"].split(", "))
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["vary"] == "Origin"


async def test_a_page_of_an_allowed_origin_can_read_responses_and_errors(http: httpx.AsyncClient) -> None:
    ticket = await http.post("/v1/tickets", headers={**BEARER, "Origin": ALLOWED})
    refused = await http.post("/v1/tickets", headers={"Origin": ALLOWED})
    assert (ticket.status_code, refused.status_code) == (201, 401)
    for answer in (ticket, refused):
        assert answer.headers["access-control-allow-origin"] == ALLOWED
        assert "x-request-id" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", ["https://evil.example.org", "null", f"{ALLOWED}.evil.example", f"{ALLOWED}:444"])
async def test_pages_of_other_origins_get_no_headers(http: httpx.AsyncClient, origin: str) -> None:
    answers = [
        await http.options("/v1/tickets", headers=preflight(origin)),
        await http.post("/v1/tickets", headers={**BEARER, "Origin": origin}),
    ]
    assert answers[0].status_code != 204
    assert answers[1].status_code == 403
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["vary"] == "Origin"


async def test_an_allowed_origin_may_embed_the_pages(http: httpx.AsyncClient) -> None:
    policy = (await http.get("/")).headers["content-security-policy"]
    assert f"frame-ancestors 'self' {ALLOWED}" in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
