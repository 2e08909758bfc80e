import httpx
import pytest

from hawse_gateway import VERSION
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.auth.tickets import OUTSTANDING
from tests.support.gateway import TOKEN, VIEWER_TOKEN, Gateway
from tests.support.http_clients import http_client

BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def request(gateway: Gateway, method: str, path: str, **headers: str) -> httpx.Response:
    async with http_client(gateway.url) as http:
        return await http.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )


async def test_health_is_public_and_contains_only_status_and_version(gateway: Gateway) -> None:
    answer = await request(gateway, "GET", "/healthz", Host="probe.internal")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": VERSION})


async def test_a_ticket_is_issued_to_a_client_with_a_token(gateway: Gateway) -> None:
    answer = await request(gateway, "POST", "/v1/tickets", **BEARER)
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json().keys() == {"ticket", "expires_in"}
    assert answer.json()["expires_in"] == 30


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthenticated"),
        ({"Authorization": "Bearer wrong"}, 401, "unauthenticated"),
        (BEARER | {"Origin": "http://evil.example"}, 403, "origin_denied"),
        (BEARER | {"Host": "evil.example"}, 403, "origin_denied"),
    ],
)
async def test_a_ticket_is_refused_without_a_valid_token(
    gateway: Gateway, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await request(gateway, "POST", "/v1/tickets", **headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().keys() == {"code", "message", "retryable", "admitted", "request"}
    assert TOKEN not in answer.text


async def test_tickets_of_a_viewer_do_not_keep_the_owner_out(gateway: Gateway) -> None:
    for _ in range(OUTSTANDING):
        gateway.tickets.issue(gateway.credentials.find(VIEWER_TOKEN))
    answer = await request(gateway, "POST", "/v1/tickets", **BEARER)
    assert answer.status_code == 201
    assert gateway.tickets.take(answer.json()["ticket"]).principal == OWNER


async def test_a_ticket_requires_post(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/v1/tickets", **BEARER)).status_code in (404, 405)


async def test_a_foreign_host_gets_no_page(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/", Host="evil.example")).status_code == 403
    assert (await request(gateway, "GET", "/", Host="gateway.test")).status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/tickets", "/nope"])
async def test_every_response_has_the_security_headers(gateway: Gateway, path: str) -> None:
    answer = await request(gateway, "GET", path)
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "server" not in answer.headers


async def test_foreign_origins_get_no_cors_headers(gateway: Gateway) -> None:
    answer = await request(gateway, "OPTIONS", "/v1/tickets", Origin="http://evil.example")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_connect_without_an_upgrade_is_not_found(gateway: Gateway) -> None:
    assert (await request(gateway, "GET", "/v1/connect", **BEARER)).status_code in (404, 426)


async def test_connect_without_an_upgrade_requires_one(gateway: Gateway) -> None:
    answer = await request(gateway, "GET", "/v1/connect", **BEARER)
    assert (answer.status_code, answer.headers["upgrade"], answer.json()["code"]) == (
        426,
        "websocket",
        "protocol_error",
    )
