"""The page in a frame of another page: of the same site, and of another one."""

import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Frame, Page, async_playwright

import hawse
from e2e.conftest import ROOT, SWITCHES
from e2e.firefox.driver import Firefox
from e2e.view import WAIT
from tests.support.other_port import OtherPort
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAMES = ["127.0.0.1", "localhost"]  # of the application; the gateway is at 127.0.0.1
LIVE = "() => window.hawse?.state().terminal === 'live'"
STORED = "() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"
# The values of Chromium's setting for cookies of other sites, and of the one for all cookies.
BLOCK_OTHER_SITES = {"cookie_controls_mode": 1}
BLOCK_ALL = {"default_content_setting_values": {"cookies": 2}}
BLOCKED = """() => { try { return !localStorage } catch { return true } }"""
# Attempts of the application's page to read from the frame. Returns the results or the names of the errors.
PEEK = """() => [
  () => frames[0].location.href, () => frames[0].hawse, () => frames[0].document, () => frames[0].name,
].map(read => { try { return String(read()) } catch (problem) { return problem.name } })"""
# What a script of the application's page can try: its origin is allowed, and it has no credential.
BY_SESSION = """async base => {
  const status = await fetch(base + "/v1/tickets", { method: "POST", credentials: "include" }).then(
    answer => answer.status, () => "refused");
  const role = await new Promise(done => {
    const socket = new WebSocket(base.replace("http", "ws") + "/v1/connect", "hawse.v1");
    socket.onmessage = ({ data }) => JSON.parse(data).role && done(JSON.parse(data).role);
    socket.onclose = ({ code }) => done(code);
  });
  return [status, role];
}"""


class Embedding(NamedTuple):
    """An application whose origin the gateway allows, under both names of this machine."""

    app: OtherPort
    stack: Stack


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def embedding(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Embedding]:
    app = OtherPort()
    origins = [word for name in NAMES for word in ("--allow-origin", f"http://{name}:{app.port}")]
    async with app.running(), Stack(tmp_path_factory.mktemp("g") / "state", *origins) as stack:
        await stack.renew()
        async with hawse.connect(stack.base, token=stack.token) as hw:
            await hw.sandbox().terminals.open("main")  # a link cannot create it
        yield Embedding(app, stack)


async def credential(stack: Stack, kind: str) -> str:
    """Return the address of the page with the owner's token, a link, or a link for one use."""
    if kind == "token":
        return f"{stack.base}/#token={stack.token}"
    async with hawse.connect(stack.base, token=stack.token) as hw:
        uses = 1 if kind == "counted link" else None
        link = await hw.links.create("local", terminal="main", role="writer", max_uses=uses)
    return stack.base + link.path


def frame_of(address: str) -> str:
    return f'<!doctype html><title>app</title><iframe src="{address}" width="900" height="600"></iframe>'


@pytest.fixture(scope="module")
def complete_chromium() -> str:
    """Return the path of a Chromium with an interface. The headless shell has no settings."""
    environment = {name: value for name, value in os.environ.items() if name != "HAWSE_CHROMIUM"}
    find = [str(ROOT / "scripts/find_chromium.sh"), "--with-interface"]
    return subprocess.check_output(find, text=True, env=environment).strip()


@pytest_asyncio.fixture(loop_scope="session")
async def open_chromium(tmp_path: Path, complete_chromium: str) -> AsyncIterator[Any]:
    """Starts Chromium with other settings."""
    async with AsyncExitStack() as exits:

        async def start(settings: dict[str, object]) -> BrowserContext:
            folder = tmp_path / "Default"
            folder.mkdir()
            (folder / "Preferences").write_text(json.dumps({"profile": settings}))
            chromium = (await exits.enter_async_context(async_playwright())).chromium
            context = await chromium.launch_persistent_context(
                tmp_path, executable_path=complete_chromium, args=[*SWITCHES, "--headless=new"]
            )
            exits.push_async_callback(context.close)
            return context

        yield start


async def embedded(page: Page) -> Frame:
    """Return the page's frame, whose terminal is live."""
    frame = page.frames[1]
    await frame.wait_for_function(LIVE, timeout=WAIT)
    return frame


@pytest.mark.parametrize("name", NAMES)
async def test_a_frame_signs_in_without_cookies_of_other_sites_and_keeps_its_session(
    open_chromium: Any, embedding: Embedding, name: str
) -> None:
    app, stack = embedding
    page = await (await open_chromium(BLOCK_OTHER_SITES)).new_page()
    for kind in ["token", "link", "counted link"]:
        app.page = frame_of(await credential(stack, kind))
        await page.goto(f"http://{name}:{app.port}/")
        frame = await embedded(page)
        assert await frame.evaluate(BLOCKED) == (name == "localhost")
        assert "token" not in await frame.evaluate("() => location.href")
        async with page.expect_event("framenavigated"):
            await frame.evaluate("() => location.reload()")
        frame = await embedded(page)
        assert await page.evaluate(PEEK) == ["SecurityError"] * 4
        assert await page.evaluate(BY_SESSION, stack.base) in ([401, 4401], ["refused", 4401])
        if kind != "token":
            continue
        await frame.click("#more")
        await frame.click("text=All sandboxes")
        await frame.click("text=local")
        await embedded(page)


@pytest.mark.parametrize("name", NAMES)
async def test_a_link_for_one_use_works_in_a_frame_and_after_a_reload_in_chromium(
    browser: Browser, embedding: Embedding, name: str
) -> None:
    app, stack = embedding
    app.page = frame_of(await credential(stack, "counted link"))
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"http://{name}:{app.port}/")
        await embedded(page)
        await page.reload()
        await embedded(page)
    finally:
        await context.close()


async def test_a_frame_that_can_have_no_cookie_keeps_its_token_or_says_why_its_link_is_refused(
    open_chromium: Any, embedding: Embedding
) -> None:
    app, stack = embedding
    page = await (await open_chromium(BLOCK_ALL)).new_page()
    app.page = frame_of(await credential(stack, "link"))
    await page.goto(f"http://localhost:{app.port}/")
    await embedded(page)
    app.page = frame_of(await credential(stack, "counted link"))
    await page.goto(f"http://localhost:{app.port}/")
    failure = page.frame_locator("iframe").locator("#failure")
    await failure.get_by_text("your browser refuses cookies in this frame").wait_for(timeout=WAIT)
    assert await failure.locator("#failure-code").text_content() == "cookie_refused"


@pytest.mark.parametrize("kind", ["token", "link"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_page_embeds_the_gateway_with_a_token_or_link_in_chromium(
    browser: Browser, embedding: Embedding, name: str, kind: str
) -> None:
    app, stack = embedding
    app.page = frame_of(await credential(stack, kind))
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"http://{name}:{app.port}/")
        for _ in range(2):
            frame = await embedded(page)
            role = "owner" if kind == "token" else "writer"
            assert await frame.evaluate("() => window.hawse.client.welcome.role") == role
            assert stack.token not in await frame.evaluate(STORED)
            await page.reload()
    finally:
        await context.close()


@pytest.mark.parametrize("kind", ["token", "link", "counted link"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_page_embeds_the_gateway_with_a_token_or_link_in_firefox(
    firefox: Firefox, embedding: Embedding, name: str, kind: str
) -> None:
    app, stack = embedding
    app.page = frame_of(await credential(stack, kind))
    view = await firefox.open(f"http://{name}:{app.port}/")
    for _ in range(2):
        await view.wait_in_frame(1, LIVE)
        await view.reload()


@pytest.mark.parametrize("name", NAMES)
async def test_a_page_of_an_allowed_origin_does_not_act_with_the_session_of_the_browser(
    browser: Browser, embedding: Embedding, name: str
) -> None:
    app, stack = embedding
    app.page = "<!doctype html><title>app</title>"
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"{stack.base}/#token={stack.token}")
        await page.wait_for_function(LIVE, timeout=WAIT)
        await page.goto(f"http://{name}:{app.port}/")
        status, role = await page.evaluate(BY_SESSION, stack.base)
        assert status in (401, "refused")
        assert role == 4401
    finally:
        await context.close()
