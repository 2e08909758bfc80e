"""Sign-in through a gateway of users authenticated by a trusted proxy."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pytest

from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sign_on.proxy import ProxySignOn
from tests.support.gateway import FakeRuntime, Gateway
from tests.support.http_clients import http_client
from tests.support.stores import MemoryStore

PROOF = "p" * 43  # of the page
ADA = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": "staff"}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    options = {
        "proxies": ["127.0.0.1"],
        "proxy_user_header": "X-Forwarded-User",
        "proxy_groups_header": "X-Forwarded-Groups",
        "proxy_roles": ["staff=operator"],
    }
    async with FakeRuntime(tmp_path / "runtime.sock") as runtime, Gateway(runtime, **options) as served:
        yield served


@pytest.fixture
async def browser(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(gateway.url, headers={"Origin": gateway.url}) as http:
        yield http


async def test_a_session_through_the_proxy_is_valid_for_its_user_only(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/v1/login/info")).json() == {"provider": "the proxy"}
    answer = await browser.get(f"/v1/login?return=/?sandbox=local&proof={PROOF}", headers=ADA)
    assert answer.status_code == 303
    path, _, fragment = answer.headers["location"].partition("#")
    found = parse_qs(fragment)
    assert (path, found["proof"]) == ("/?sandbox=local", [PROOF])
    browser.headers["Hawse-Session"] = found["session"][0]
    session = await browser.get("/v1/session", headers=ADA)
    assert (session.json()["user"], session.json()["role"]) == ("ada", "operator")
    assert (await browser.post("/v1/tickets", headers=ADA)).status_code == 201
    for headers in ({}, ADA | {"X-Forwarded-User": "eve"}):
        assert (await browser.get("/v1/session", headers=headers)).status_code == 401
        assert (await browser.post("/v1/tickets", headers=headers)).status_code == 401


async def test_a_user_without_a_role_and_a_request_without_a_user_are_refused(browser: httpx.AsyncClient) -> None:
    for headers, status in (({}, 401), ({"X-Forwarded-User": "eve"}, 403)):
        assert (await browser.get("/v1/login", params={"proof": PROOF}, headers=headers)).status_code == status
    for path in ("//evil.example", "https://evil.example", "/\\evil.example"):
        assert (await browser.get("/v1/login", params={"return": path}, headers=ADA)).status_code == 400
    assert not browser.cookies


async def test_a_login_that_no_page_has_started_leads_to_the_page(browser: httpx.AsyncClient) -> None:
    for query in ("", "?proof=short", f"?proof={'x' * 65}"):
        answer = await browser.get(f"/v1/login{query}", headers=ADA)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert not browser.cookies


async def test_the_headers_of_others_do_not_count(tmp_path: Path) -> None:
    options = {"proxies": ["192.0.2.1"], "proxy_user_header": "X-Forwarded-User", "proxy_roles": ["*=owner"]}
    async with (
        FakeRuntime(tmp_path / "runtime.sock") as runtime,
        Gateway(runtime, **options) as gateway,
        http_client(gateway.url) as http,
    ):
        login = f"/v1/login?proof={PROOF}"
        assert (await http.get(login, headers=ADA)).status_code == 401
        forged = ADA | {"X-Forwarded-For": "192.0.2.1"}
        assert (await http.get(login, headers=forged)).status_code == 401


def test_roles_of_another_form_are_refused() -> None:
    with pytest.raises(SettingsError, match="--proxy-role 'staff': expected VALUE=ROLE"):
        ProxySignOn(["staff"], Credentials("t" * 16, MemoryStore()))
