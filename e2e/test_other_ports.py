"""Programs at other ports of the gateway's host, which get its cookies and can set them: they gain and end nothing."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from e2e.firefox.driver import Firefox, FirefoxView
from e2e.view import View
from tests.support.certificates import Authority
from tests.support.http_clients import http_client
from tests.support.other_port import OtherPort
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOORS = [
    ("GET", "/v1/session"),
    ("DELETE", "/v1/session"),
    ("POST", "/v1/session"),
    ("POST", "/v1/tickets"),
    ("POST", "/v1/token.create"),
    ("POST", "/v1/sandboxes/local/exec"),
    ("GET", "/v1/sandboxes/local/files/.profile"),
    ("PUT", "/v1/sandboxes/local/files/hostile"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/metrics"),
]

# What a page of the program can try in the browser, whose cookie goes with it. Returns what it has gained.
SCRIPT = """async base => {
  const gained = [];
  const ask = (path, init) => fetch(base + path, { credentials: "include", ...init }).then(
    answer => answer.ok && gained.push(path), () => {});
  await ask("/v1/session");
  await ask("/v1/tickets", { method: "POST" });
  await ask("/v1/sandboxes/local/exec", { method: "POST", body: "{}" });
  await new Promise(done => {
    const socket = new WebSocket(base.replace("http", "ws") + "/v1/connect", "hawse.v1");
    socket.onopen = () => gained.push("socket");
    socket.onclose = done;
  });
  return gained;
}"""

Page = View | FirefoxView
OpenBrowser = Callable[[], Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=["http", "https"])
async def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    folder = tmp_path_factory.mktemp("g")
    certificate = Authority(folder).issue("gateway") if request.param == "https" else None
    async with Stack(folder / "state", certificate=certificate) as stack:
        await stack.renew()
        yield stack


@pytest_asyncio.fixture(loop_scope="session")
async def program() -> AsyncIterator[OtherPort]:
    async with OtherPort().running() as program:
        yield program


@pytest_asyncio.fixture(loop_scope="session")
async def chromium(browser: Browser) -> AsyncIterator[OpenBrowser]:
    context = await browser.new_context(ignore_https_errors=True)

    async def open_page() -> Page:
        return View(await context.new_page())

    yield open_page
    await context.close()


async def goto(view: Page, url: str) -> None:
    await (view.page.goto(url) if isinstance(view, View) else view.goto(url))


async def replay(stack: Stack, base: str, cookie: str) -> None:
    """Use the cookie as the program can, with any header."""
    (session,) = {pair.split("=")[0][-16:] for pair in cookie.split("; ") if "hwc_" in pair}
    secret = cookie.partition("=")[2]
    named = ["", session, f"{session}.", f"{session}.{secret[-43:]}", f"{session}.{'x' * 43}"]
    for origin in (base, None):
        for header in named:
            headers = {"Cookie": cookie, "Hawse-Session": header} | ({} if origin is None else {"Origin": origin})
            async with http_client(base, headers=headers, timeout=60) as http:
                for method, path in DOORS:
                    answer = await http.request(method, path)
                    assert answer.status_code == 401, (method, path, header, answer.text)
                for bearer in (secret, f"{secret}.{header}"):
                    own = {"Authorization": f"Bearer {bearer}"}
                    assert (await http.post("/v1/tickets", headers=own)).status_code == 401
            for path in ("/v1/connect", f"/v1/connect?ticket={secret}"):
                assert await refused(base + path, headers, "hawse.v1")
            assert await refused(f"{base}/v1/join", headers, "hawse.join.v1")


async def refused(url: str, headers: dict[str, str], protocol: str) -> bool:
    tls: Any = {}
    if url.startswith("https"):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        tls = {"ssl": context}
    address = url.replace("http", "ws", 1)
    options: Any = {"subprotocols": [protocol], "additional_headers": headers, "proxy": None, **tls}
    async with connect(address, **options) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                await socket.recv()
        return closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def check_program_gains_nothing(view: Page, stack: Stack, program: OtherPort, name: str) -> None:
    base = stack.base.replace("127.0.0.1", name)
    await goto(view, f"{base}/#token={stack.token}")
    await view.until_live()
    await goto(view, f"http://{name}:{program.port}/")
    received = [cookie for cookie in program.cookies if "hwc_" in cookie]
    if base.startswith("http:"):
        assert received, "browsers separate cookies by port: the rest of this test has nothing to try"
    for cookie in received:
        await replay(stack, base, cookie)
    assert await view.evaluate(SCRIPT, base) == []
    await goto(view, base)
    await view.until_live()


async def check_cookies_of_the_program_change_nothing(view: Page, stack: Stack, program: OtherPort) -> None:
    await goto(view, f"{stack.base}/#token={stack.token}")
    await view.until_live()
    async with http_client(stack.base, headers={"Origin": stack.base}, timeout=60) as attacker:
        answer = await attacker.post("/v1/session", headers={"Authorization": f"Bearer {stack.viewer_token}"})
    foreign = answer.headers["set-cookie"].partition(";")[0]
    tossed = foreign.partition("=")[2]
    own = await view.evaluate("() => JSON.parse(localStorage.getItem('hawse.session')).session.slice(0, 16)")
    name = f"hawse-{stack.port}-"
    many = [f"{name}{number:016x}=hwc_x; Path=/" for number in range(20)]
    program.answers = [f"{name}{own}={tossed}; Path=/v1/", f"{foreign}; Path=/", f"{foreign}; Path=/v1", *many]
    await goto(view, f"http://127.0.0.1:{program.port}/")
    await goto(view, stack.base)
    await view.until_live()
    assert await view.evaluate("() => window.hawse.client.welcome.role") == "owner"
    if stack.base.startswith("https"):
        return  # a page without TLS cannot replace a cookie with the prefix `__Host-`
    program.answers = [f"{name}{own}={tossed}; Path=/"]  # replaces the cookie of the session
    await goto(view, f"http://127.0.0.1:{program.port}/")
    await goto(view, stack.base)
    await view.wait_for("() => document.querySelector('#sign-in')?.checkVisibility()")
    await view.type(stack.token)
    await view.press("Enter")
    await view.until_live()
    assert await view.evaluate("() => window.hawse.client.welcome.role") == "owner"
    await goto(view, stack.base)
    await view.until_live()
    program.answers = [f"large{number}={'x' * 4000}; Path=/" for number in range(60)]  # more than a request may have
    await goto(view, f"http://127.0.0.1:{program.port}/")
    await goto(view, stack.base)  # which the gateway refuses, and lets the browser delete the cookies
    await goto(view, stack.base)
    await view.wait_for("() => document.querySelector('#sign-in')?.checkVisibility()")
    await view.type(stack.token)
    await view.press("Enter")
    await view.until_live()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_the_cookie_that_a_program_gets_from_chromium_opens_nothing(
    chromium: OpenBrowser, stack: Stack, program: OtherPort, name: str
) -> None:
    await check_program_gains_nothing(await chromium(), stack, program, name)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_the_cookie_that_a_program_gets_from_firefox_opens_nothing(
    running_firefox: Firefox, stack: Stack, program: OtherPort, name: str
) -> None:
    await check_program_gains_nothing(await running_firefox.open("about:blank"), stack, program, name)
    assert all("/v1/" in error for error in await running_firefox.errors())  # that the program's page is refused


async def test_cookies_that_a_program_sets_in_chromium_neither_change_nor_lock_out_the_user(
    chromium: OpenBrowser, stack: Stack, program: OtherPort
) -> None:
    await check_cookies_of_the_program_change_nothing(await chromium(), stack, program)


async def test_cookies_that_a_program_sets_in_firefox_neither_change_nor_lock_out_the_user(
    running_firefox: Firefox, stack: Stack, program: OtherPort
) -> None:
    await check_cookies_of_the_program_change_nothing(await running_firefox.open("about:blank"), stack, program)
    assert all("Cookie" in error for error in await running_firefox.errors())  # which Firefox refuses to set
