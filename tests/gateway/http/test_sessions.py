"""`/v1/session`: a token becomes a session with two halves, a session becomes a ticket."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import msgspec
import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.auth.cookies import SESSIONS_IN_BROWSER
from hawse_gateway.auth.credential_rows import Credential
from hawse_gateway.auth.credentials import SESSION_LIFETIME, SESSION_STEP, TABLE, Credentials
from hawse_gateway.store.base import Put
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client
from tests.support.runtime import eventually


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def browser(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    """Keeps cookies and sends the origin of the gateway's page, as a browser does."""
    headers = {"Origin": gateway.url}
    async with http_client(gateway.url, headers=headers) as http:
        yield http


async def sign_in(browser: httpx.AsyncClient, token: str = TOKEN) -> httpx.Response:
    """Sign in as the page does: it presents the keys that it has, and sends the new one with later requests."""
    answer = await browser.post("/v1/session", headers=bearer(token))
    assert answer.status_code == 201, answer.text
    if answer.json()["key"]:
        browser.headers["Hawse-Session"] = "{session}.{key}".format(**answer.json())
    return answer


async def test_a_token_is_exchanged_for_a_cookie_that_scripts_cannot_read_and_a_key(browser: httpx.AsyncClient) -> None:
    answer = await sign_in(browser)
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith(f"hawse-{browser.base_url.port}-{answer.json()['session']}=hwc_")
    assert cookie.endswith("; HttpOnly; SameSite=Strict")
    assert "hwc_" not in answer.text
    assert TOKEN not in answer.text + cookie
    assert len(answer.json()["key"]) == 43
    assert answer.json()["key"] not in cookie
    assert answer.json() | {"session": "", "key": "", "expires_in": 0} == {
        "session": "",
        "key": "",
        "user": "owner",
        "name": "owner",
        "kind": "owner",
        "role": "owner",
        "expires_in": 0,
    }
    assert SESSION_LIFETIME - 60 < answer.json()["expires_in"] <= SESSION_LIFETIME


async def test_both_halves_give_tickets_and_calls(browser: httpx.AsyncClient, gateway: Gateway) -> None:
    await sign_in(browser)
    ticket = (await browser.post("/v1/tickets")).json()["ticket"]
    async with gateway.peer(token=None, query=f"?ticket={ticket}") as client:
        assert await client.ask("token.list", sandbox=None)
    assert (await browser.post("/v1/token.list", json={})).status_code == 200
    assert (await browser.get("/v1/session")).json()["user"] == "owner"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Origin": ""}, 403, "origin_denied"),
        ({"Origin": "null"}, 403, "origin_denied"),
        ({"Origin": "http://evil.example"}, 403, "origin_denied"),
        ({"Hawse-Session": ""}, 401, "unauthenticated"),
        ({"Hawse-Session": "another"}, 401, "unauthenticated"),
        ({"Authorization": "Bearer wrong"}, 401, "unauthenticated"),
    ],
)
async def test_a_session_is_invalid_with_a_foreign_origin_or_another_credential(
    browser: httpx.AsyncClient, headers: dict[str, str], status: int, code: str
) -> None:
    await sign_in(browser)
    for method, path in (("POST", "/v1/tickets"), ("POST", "/v1/token.list"), ("DELETE", "/v1/session")):
        answer = await browser.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_request_that_changes_something_needs_an_origin(browser: httpx.AsyncClient) -> None:
    await sign_in(browser)
    del browser.headers["origin"]
    assert (await browser.post("/v1/tickets")).status_code == 401
    assert (await browser.delete("/v1/session")).status_code == 401
    assert (await browser.get("/v1/session")).status_code == 200


SAFE_AND_OTHER = [
    ("GET", "/v1/session"),
    ("DELETE", "/v1/session"),
    ("POST", "/v1/tickets"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/metrics"),
    ("POST", "/v1/token.list"),
    ("POST", "/v1/sandboxes/local/exec"),
    ("GET", "/v1/sandboxes/local/files/a"),
    ("HEAD", "/v1/sandboxes/local/files/a"),
    ("PUT", "/v1/sandboxes/local/files/a"),
    ("GET", "/v1/sandboxes/local/recordings/a.cast"),
    ("GET", "/v1/elsewhere"),
]


@pytest.mark.parametrize(("method", "path"), SAFE_AND_OTHER)
async def test_one_half_of_a_session_does_nothing(browser: httpx.AsyncClient, method: str, path: str) -> None:
    """The cookie goes to programs at other ports of the host."""
    answer = await sign_in(browser)
    (cookie,) = answer.cookies.values()
    named = browser.headers.pop("Hawse-Session")
    name, _, key = named.partition(".")
    wrong = ("", name, f"{name}.", f"{name}.{cookie}", f"{name}.{'x' * 43}", f"{'0' * 16}.{key}")
    for header in wrong:
        assert (await browser.request(method, path, headers={"Hawse-Session": header})).status_code == 401
    browser.cookies.clear()
    for cookies in ({}, {"Cookie": f"hawse-{browser.base_url.port}-{name}={key}"}):
        assert (await browser.request(method, path, headers={"Hawse-Session": named, **cookies})).status_code == 401


async def test_a_websocket_is_not_opened_with_a_session(browser: httpx.AsyncClient, gateway: Gateway) -> None:
    await sign_in(browser)
    (cookie,) = browser.cookies.jar
    headers = {"Origin": gateway.url, "Cookie": f"{cookie.name}={cookie.value}"}
    for more in ({}, {"Hawse-Session": browser.headers["Hawse-Session"]}):
        async with gateway.dial(token=None, headers=headers | more) as ws:
            await ws.wait_closed()
            assert (ws.close_code, ws.close_reason) == (4401, "unauthenticated")


async def test_pages_of_allowed_origins_have_no_sessions(runtime: FakeRuntime) -> None:
    app = "http://app.example"
    async with Gateway(runtime, origins=[app]) as gateway, http_client(gateway.url) as browser:
        browser.headers["Origin"] = gateway.url
        await sign_in(browser)
        for path in ("/v1/tickets", "/v1/token.list"):
            assert (await browser.post(path, json={})).status_code in (200, 201)
            assert (await browser.post(path, json={}, headers={"Origin": app})).status_code == 401
            own = {"Origin": app, **bearer(TOKEN)}
            assert (await browser.post(path, json={}, headers=own)).status_code in (200, 201)
        assert (await browser.get("/v1/session", headers={"Origin": app})).status_code == 401


async def test_a_cookie_of_another_program_does_not_change_or_end_the_session(
    browser: httpx.AsyncClient, gateway: Gateway
) -> None:
    """A program at another port can set cookies for this host. One with a longer path is sent first."""
    await sign_in(browser)
    own, key = browser.headers["Hawse-Session"].split(".")
    async with http_client(gateway.url, headers={"Origin": gateway.url}) as attacker:
        foreign = await sign_in(attacker, VIEWER_TOKEN)
    other, port = foreign.json()["session"], browser.base_url.port
    (tossed,) = foreign.cookies.values()
    (cookie,) = browser.cookies.values()
    browser.cookies.clear()
    first = f"hawse-{port}-{own}={tossed}; hawse-{port}-{own}=; hawse-{port}-{other}={tossed}"
    both = {"Cookie": f"{first}; hawse-{port}-{own}={cookie}"}
    assert (await browser.get("/v1/session", headers=both)).json()["role"] == "owner"
    assert (await browser.post("/v1/tickets", headers=both)).status_code == 201
    replaced = {"Cookie": first}
    assert (await browser.get("/v1/session", headers=replaced)).status_code == 401
    answer = await browser.post("/v1/session", headers=replaced | bearer(TOKEN))  # it signs in again
    name, key, cookie = answer.json()["session"], answer.json()["key"], next(iter(answer.cookies.values()))
    again = {"Cookie": f"{first}; hawse-{port}-{name}={cookie}", "Hawse-Session": f"{name}.{key}"}
    assert (await browser.get("/v1/session", headers=again)).json()["role"] == "owner"


async def test_only_a_token_starts_a_session(browser: httpx.AsyncClient) -> None:
    assert (await browser.post("/v1/session")).status_code == 401
    assert (await browser.post("/v1/session", headers=bearer("wrong"))).status_code == 401
    assert (await browser.get("/v1/session")).status_code == 401
    assert (await browser.get("/v1/session", headers=bearer(TOKEN))).status_code == 401
    answer = await sign_in(browser)
    (cookie,) = answer.cookies.values()
    assert cookie.startswith("hwc_")
    browser.cookies.clear()
    del browser.headers["Hawse-Session"]
    for secret in (cookie, f"{cookie}.{answer.json()['key']}"):
        assert (await browser.post("/v1/tickets", headers=bearer(secret))).status_code == 401


async def test_a_browser_has_several_sessions_and_names_one(browser: httpx.AsyncClient) -> None:
    names = []
    for token in (TOKEN, VIEWER_TOKEN):
        await sign_in(browser, token)
        names.append(browser.headers["Hawse-Session"])
    owner, viewer = names
    assert owner != viewer
    users = [(await browser.get("/v1/session", headers={"Hawse-Session": one})).json() for one in names]
    assert [(user["session"], user["role"]) for user in users] == [(owner[:16], "owner"), (viewer[:16], "viewer")]
    both = {"Hawse-Session": f"{owner}, {viewer}"}
    assert (await browser.get("/v1/session", headers=both)).status_code == 401  # which of them?
    await browser.delete("/v1/session", headers={"Hawse-Session": viewer})
    assert (await browser.get("/v1/session", headers=both)).json()["role"] == "owner"


async def test_a_page_that_signs_in_again_keeps_its_session(browser: httpx.AsyncClient, gateway: Gateway) -> None:
    first = await sign_in(browser)
    again = await sign_in(browser)
    assert first.json()["session"] == again.json()["session"]
    assert again.json()["key"] == ""  # the page has it
    assert first.cookies.items() == again.cookies.items()
    assert len(gateway.credentials.all("session")) == 1
    name = browser.headers.pop("Hawse-Session")
    await sign_in(browser)  # another page of this browser, without the key
    assert len(gateway.credentials.all("session")) == 2
    assert (await browser.get("/v1/session", headers={"Hawse-Session": name})).status_code == 200


async def test_signing_out_deletes_the_cookie_and_closes_connections(
    browser: httpx.AsyncClient, gateway: Gateway
) -> None:
    await sign_in(browser)
    ticket = (await browser.post("/v1/tickets")).json()["ticket"]
    unused = (await browser.post("/v1/tickets")).json()["ticket"]
    async with gateway.peer(token=None, query=f"?ticket={ticket}") as client:
        answer = await browser.delete("/v1/session")
        assert answer.status_code == 204
        assert "=; Path=/; Max-Age=0;" in answer.headers["set-cookie"]
        assert not browser.cookies
        assert (await client.receive()).code == "unauthenticated"
    assert gateway.tickets.take(unused) is not None  # it exists, but is not for a session that has ended
    assert not gateway.credentials.all("session")
    assert (await browser.post("/v1/tickets")).status_code == 401


async def test_a_page_in_a_frame_has_a_partitioned_cookie_that_is_renewed_and_deleted(gateway: Gateway) -> None:
    async with http_client(gateway.url, headers={"Origin": gateway.url, "Hawse-Framed": "1"}) as framed:
        answer = await sign_in(framed)
        name, _, secret = answer.headers["set-cookie"].partition(";")[0].partition("=")
        framed.headers["Cookie"] = f"{name}={secret}"  # httpx does not send a secure cookie over HTTP
        renewed, ended = await framed.get("/v1/session"), await framed.delete("/v1/session")
        assert renewed.headers["set-cookie"].startswith(f"{name}={secret};")
        assert ended.headers["set-cookie"].startswith(f"{name}=; Path=/; Max-Age=0;")
        for one in (answer, renewed, ended):
            assert one.headers["set-cookie"].endswith("; HttpOnly; SameSite=None; Secure; Partitioned")


async def test_a_session_ends_with_its_token(browser: httpx.AsyncClient, gateway: Gateway) -> None:
    owner = gateway.credentials.find(TOKEN)
    assert owner is not None
    principal = Principal(id="ada", name="", kind="user", rights=("view",))
    secret, row = await gateway.credentials.create("token", principal, owner)
    await sign_in(browser, secret)
    assert (await browser.get("/v1/session")).json()["user"] == "ada"
    await gateway.credentials.revoke(row.id)
    assert (await browser.get("/v1/session")).status_code == 401


async def test_the_cookies_of_a_browser_are_bounded(browser: httpx.AsyncClient) -> None:
    port = browser.base_url.port
    cookies = "; ".join(f"hawse-{port}-{number:016x}=hwc_x" for number in range(SESSIONS_IN_BROWSER))
    answer = await browser.post("/v1/session", headers={**bearer(TOKEN), "Cookie": cookies})
    deleted, kept = answer.headers.get_list("set-cookie")
    assert deleted.startswith(f"hawse-{port}-{0:016x}=;")
    assert "Max-Age=0" in deleted
    assert "hwc_" in kept
    used = {"Hawse-Session": f"{0:016x}.{'k' * 43}"}
    answer = await browser.post("/v1/session", headers={**bearer(TOKEN), "Cookie": cookies, **used})
    assert answer.headers.get_list("set-cookie")[0].startswith(f"hawse-{port}-{1:016x}=;")


async def test_use_prolongs_the_cookie_and_a_ticket_only_once_in_an_hour(
    browser: httpx.AsyncClient, gateway: Gateway
) -> None:
    await sign_in(browser)
    assert "set-cookie" not in (await browser.post("/v1/tickets")).headers
    (session,) = gateway.credentials.all("session")
    assert session.expires is not None
    stored = gateway.store.tables[TABLE][session.id]
    used = msgspec.json.decode(stored.value, type=Credential)
    used = msgspec.structs.replace(used, expires=session.expires.after(-2 * SESSION_STEP))  # two hours ago
    await gateway.store.write(Put(TABLE, session.id, msgspec.json.encode(used), stored.version))
    await eventually(lambda: gateway.credentials.all("session")[0].expires == used.expires)
    for answer in (await browser.post("/v1/tickets"), await browser.get("/v1/session")):
        (cookie,) = answer.headers.get_list("set-cookie")
        assert int(cookie.partition("Max-Age=")[2].partition(";")[0]) > SESSION_LIFETIME - 60


async def test_a_link_is_opened_by_as_many_browsers_as_it_says(gateway: Gateway, browser: httpx.AsyncClient) -> None:
    async with gateway.peer() as owner:
        made = await owner.ask("share.create", {"max_uses": 1}, sandbox=None)
        await sign_in(browser, made["token"])
        await sign_in(browser, made["token"])  # the page is opened again: this browser keeps its session
        async with http_client(gateway.url) as other:
            answer = await other.post("/v1/session", headers=bearer(made["token"]))
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
            assert "limit of 1 uses" in answer.json()["message"]
            answer = await other.post("/v1/tickets", headers=bearer(made["token"]))  # it is not a bearer token
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert (await browser.post("/v1/tickets")).status_code == 201
        (info,) = (await owner.ask("share.list", {}, sandbox=None))["links"]
        assert (info["uses"], info["max_uses"]) == (1, 1)


async def test_two_gateways_do_not_both_start_the_last_session_of_a_link(gateway: Gateway) -> None:
    first = gateway.credentials
    async with Credentials(TOKEN, gateway.store).running() as second:
        owner = first.find(TOKEN)
        assert owner is not None
        guest = Principal(id="", name="", kind="guest", rights=("view/local",))
        secret, _ = await first.create("link", guest, owner, max_uses=1)
        await eventually(lambda: second.find(secret))
        link = first.find(secret)
        assert link is not None
        begun = await asyncio.gather(first.begin_session(link), second.begin_session(link), return_exceptions=True)
        assert [one.code for one in begun if isinstance(one, HawseError)] == ["forbidden"]
