"""Browser sign-in, with a provider in a separate process."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from hawse_gateway.http.return_path import valid_return
from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client
from tests.support.oidc_provider import CLIENT, SECRET, RunningProvider

PROOF = "p" * 43  # of the page


@pytest.fixture
async def served(runtime: FakeRuntime, settings: OidcSettings) -> AsyncIterator[Gateway]:
    async with Gateway(runtime, oidc=settings) as gateway:
        await gateway.read_keys()
        yield gateway


@pytest.fixture
async def browser(served: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(served) as http:
        yield http


def browsing(gateway: Gateway) -> httpx.AsyncClient:
    """Keeps cookies, and does not follow redirects."""
    return http_client(gateway.url, headers={"Origin": gateway.url}, timeout=60)


async def begin(browser: httpx.AsyncClient, **query: str) -> str:
    """Return the address that the gateway sends the browser to."""
    answer = await browser.get("/v1/login", params={"proof": PROOF, **query})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def approve(address: str, user: str) -> str:
    """Sign in at the provider; return the address that it sends the browser to."""
    async with http_client(timeout=60) as http:
        form = (await http.get(address)).raise_for_status().text
        path = form.partition('action="')[2].partition('"')[0]
        answer = await http.post(httpx.URL(address).join(path), data={"user": user})
    assert answer.status_code == 303
    return str(answer.headers["location"])


async def sign_in(browser: httpx.AsyncClient, user: str, **query: str) -> httpx.Response:
    answer = await browser.get(await approve(await begin(browser, **query), user))
    fragment = parse_qs(urlsplit(answer.headers.get("location", "")).fragment)
    if "session" in fragment:
        browser.headers["Hawse-Session"] = fragment["session"][0]
    return answer


def one(address: str, name: str) -> str:
    return parse_qs(urlsplit(address).query)[name][0]


async def test_a_login_ends_in_a_session_and_where_it_began(browser: httpx.AsyncClient, served: Gateway) -> None:
    answer = await sign_in(browser, "ada", **{"return": "/?sandbox=local&terminal=main"})
    assert answer.status_code == 303
    path, _, fragment = answer.headers["location"].partition("#")
    assert (path, parse_qs(fragment)["proof"]) == ("/?sandbox=local&terminal=main", [PROOF])
    named = parse_qs(fragment)["session"][0]
    pending, session = sorted(answer.headers.get_list("set-cookie"), key=lambda cookie: "hwc_" in cookie)
    assert pending.startswith(f"hawse-login-{served.port}=; ")
    assert "Max-Age=0" in pending
    assert session.endswith("; HttpOnly; SameSite=Strict")
    described = (await browser.get("/v1/session")).json()
    assert described["session"] == named[:16]
    assert (described["user"], described["name"], described["role"]) == ("248289", "Ada Lovelace", "owner")
    assert 43_000 < described["expires_in"] <= 43_200
    ticket = (await browser.post("/v1/tickets")).json()["ticket"]
    async with served.peer(token=None, query=f"?ticket={ticket}") as client:
        assert await client.ask("answer", 1) == 1


async def test_the_request_to_the_provider_later_proves_the_login(browser: httpx.AsyncClient) -> None:
    first, second = await begin(browser), await begin(browser)
    for name in ("state", "nonce", "code_challenge"):
        assert len(one(first, name).removesuffix(f".{PROOF}")) == 43
        assert one(first, name) != one(second, name)
    assert one(first, "code_challenge_method") == "S256"
    assert one(first, "redirect_uri") == f"{browser.base_url}/v1/login/callback".replace("//v1", "/v1")
    answer = await browser.get("/v1/login", params={"proof": PROOF})
    cookie = answer.headers["set-cookie"]
    assert cookie.endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax")
    for secret in (PROOF, one(answer.headers["location"], "state")[:43]):
        assert secret not in cookie  # which goes to programs at other ports


async def test_a_login_that_another_browser_began_is_refused(browser: httpx.AsyncClient, served: Gateway) -> None:
    """Otherwise a link could sign a victim in as the attacker."""
    foreign = await approve(await begin(browser), "ada")
    async with browsing(served) as victim:
        assert (await victim.get(foreign)).status_code == 401
        await begin(victim)
        answer = await victim.get(foreign)
        assert answer.status_code == 401
        assert "this browser did not start this login" in answer.text
        assert (await victim.get("/v1/session")).status_code == 401


async def test_a_cookie_of_another_program_neither_prevents_a_login_nor_chooses_its_proof(
    browser: httpx.AsyncClient, served: Gateway
) -> None:
    """A program at another port can set the cookie of a login that it has started itself."""
    async with browsing(served) as attacker:
        foreign = await approve(await begin(attacker, proof="a" * 43), "bob")
        (tossed,) = attacker.cookies.jar
    address = await approve(await begin(browser), "ada")
    (own,) = browser.cookies.jar
    browser.cookies.clear()
    both = {"Cookie": f"{tossed.name}={tossed.value}; {own.name}={own.value}"}
    answer = await browser.get(address, headers=both)
    assert parse_qs(urlsplit(answer.headers["location"]).fragment)["proof"] == [PROOF]
    answer = await browser.get(foreign, headers=both)  # the page compares the proof, and does not use this session
    assert parse_qs(urlsplit(answer.headers["location"]).fragment)["proof"] == ["a" * 43]


async def test_a_login_that_no_page_has_started_leads_to_the_page(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/v1/login", params={"return": "/home.html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/home.html")
    assert "set-cookie" not in answer.headers


async def test_a_code_works_once_and_for_its_own_verifier(browser: httpx.AsyncClient) -> None:
    stolen = one(await approve(await begin(browser), "ada"), "code")
    address = await approve(await begin(browser), "bob")
    swapped = address.replace(one(address, "code"), stolen)
    assert (await browser.get(swapped)).status_code == 401
    good = await approve(await begin(browser), "ada")
    state = browser.cookies.jar
    assert len(state) == 1
    kept = {cookie.name: cookie.value for cookie in state}
    assert (await browser.get(good)).status_code == 303
    for name, value in kept.items():
        browser.cookies.set(name, value or "", domain="127.0.0.1", path="/")
    assert (await browser.get(good)).status_code == 401


@pytest.mark.parametrize(
    "change",
    [
        lambda address: address.replace("iss=", "x="),
        lambda address: address.replace("iss=http", "iss=https"),
        lambda address: address.replace("code=", "x="),
        lambda address: address.replace("state=", "x="),
        lambda address: address.replace("code=", "error=access_denied&x="),
        lambda address: address + "x" * 5000,
    ],
)
async def test_an_answer_that_was_changed_is_refused(browser: httpx.AsyncClient, change: Any) -> None:
    answer = await browser.get(change(await approve(await begin(browser), "ada")))
    assert answer.status_code == 401
    assert not [cookie for cookie in answer.headers.get_list("set-cookie") if "hwc_" in cookie]


async def test_refusals_of_the_provider_and_users_without_a_role_are_shown(browser: httpx.AsyncClient) -> None:
    denied = await sign_in(browser, "<mallory>")
    assert (denied.status_code, "access_denied" in denied.text) == (401, True)
    without_role = await sign_in(browser, "eve")
    assert (without_role.status_code, "your account has no role" in without_role.text) == (403, True)
    assert without_role.headers["content-type"].startswith("text/html")
    assert "script-src" not in without_role.text


async def test_a_login_returns_to_this_gateway_only(browser: httpx.AsyncClient) -> None:
    others = ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example"]
    previews = ["/p/box/token/", "/t/shop/", "/hawse/p/box/token/", "/a/../p/box/token/", "/%70/box/token/", "/v1/x"]
    for path in (*others, *previews, "", "/a#b", "evil", "/ü", "/a\n"):
        assert not valid_return(path)
        assert (await browser.get("/v1/login", params={"return": path})).status_code == 400
    for path in ("/", "/home.html", "/hawse/", "/?sandbox=a.b&terminal=x%20y", "/recording.html?id=../x"):
        assert valid_return(path)
    assert not valid_return("/" + "x" * 1024)


async def test_a_session_of_a_login_ends_for_another_role_and_by_revocation(
    browser: httpx.AsyncClient, served: Gateway, runtime: FakeRuntime, settings: OidcSettings
) -> None:
    await sign_in(browser, "bob")
    described = (await browser.get("/v1/session")).json()
    assert (described["user"], described["role"]) == ("oidc|bob", "operator")
    async with browsing(served) as other:
        await sign_in(other, "bob")
        assert (await browser.get("/v1/session")).status_code == 200
    owner = {"Authorization": f"Bearer {TOKEN}"}
    async with http_client(served.url, headers=owner, timeout=60) as http:
        (row,) = (await http.post("/v1/token.list", json={})).json()["tokens"][1:]
        assert (row["id"][:6], row["user"], row["own"]) == ("login-", "oidc|bob", True)
        assert (await http.post("/v1/token.revoke", json={"id": row["id"]})).status_code == 200
    assert (await browser.get("/v1/session")).status_code == 401


async def test_a_login_reports_an_unreachable_provider_and_the_page_knows_its_name(
    runtime: FakeRuntime, settings: OidcSettings, provider: RunningProvider, served: Gateway
) -> None:
    unreachable = replace(settings, issuer="http://127.0.0.1:1")
    async with Gateway(runtime, oidc=unreachable) as gateway, browsing(gateway) as http:
        answer = await http.get("/v1/login", params={"proof": PROOF})
        assert answer.status_code == 503
        assert (await http.get("/v1/login/info")).json() == {"provider": "127.0.0.1:1"}
    async with browsing(served) as http:
        assert (await http.get("/v1/login/info")).json() == {"provider": urlsplit(provider.issuer).netloc}


async def test_a_wrong_secret_of_the_client_ends_the_login(runtime: FakeRuntime, settings: OidcSettings) -> None:
    for secret in (None, "wrong"):
        async with Gateway(runtime, oidc=replace(settings, client_secret=secret)) as gateway, browsing(gateway) as http:
            await gateway.read_keys()
            answer = await sign_in(http, "ada")
            assert answer.status_code == 401
            assert SECRET not in answer.text + CLIENT
