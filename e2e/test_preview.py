"""A real Vite server in a sandbox, opened in a real Chromium through a preview."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

import hawse
from e2e.conftest import Open
from hawse.client import Sandbox
from hawse.client.ports import Preview
from tests.support import site as program
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
TIMEOUT = 30.0  # s
VITE = Path(__file__).parent.parent / "web" / "node_modules" / "vite" / "bin" / "vite.js"
INDEX = """<!doctype html><title>site</title><h1 id="out">…</h1>
<script type="module" src="/main.js"></script>
"""
MAIN = """import { word } from "./word.js";
const show = (word) => { document.querySelector("#out").textContent = word; };
show(word);
sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;
import.meta.hot.accept("./word.js", (fresh) => show(fresh.word));
"""


class Site:
    """A project in the sandbox's workspace, served by Vite on a port that is exposed."""

    def __init__(self, sandbox: Sandbox, preview: Preview) -> None:
        self.sandbox = sandbox
        self.preview = preview

    async def write_word(self, word: str) -> None:
        await self.sandbox.files.write("site/word.js", f"export const word = {json.dumps(word)};\n".encode())


@pytest_asyncio.fixture(loop_scope="session")
async def site(tmp_path: Path) -> AsyncIterator[tuple[Stack, Site]]:
    async with (
        Stack(tmp_path / "state") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        sandbox = hw.sandbox()
        await sandbox.files.write("site/index.html", INDEX.encode())
        await sandbox.files.write("site/main.js", MAIN.encode())
        await sandbox.files.write("site/package.json", b'{"type": "module"}')
        await sandbox.files.write("site/word.js", b'export const word = "first";\n')
        async with sandbox.processes.start(["node", str(VITE), "--port", "0"], cwd="site"):
            async with asyncio.timeout(TIMEOUT), sandbox.ports.watch() as watch:
                async for ports in watch:
                    if ports:
                        break
            preview = await sandbox.ports.expose(ports[0].port, name="site")
            yield stack, Site(sandbox, preview)


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def open_site(page: Page, url: str) -> asyncio.Event:
    """Open a page and wait until Vite's client receives a message. Each message sets the returned event."""
    received = asyncio.Event()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.set()))
    await page.goto(url)
    async with asyncio.timeout(TIMEOUT):
        await received.wait()
    return received


async def until_shown(page: Page, word: str) -> None:
    """Wait until the site shows `word`."""
    await page.wait_for_function("word => document.querySelector('#out')?.textContent === word", arg=word)


async def test_a_page_is_served_and_updated_without_a_reload(site: tuple[Stack, Site], page: Page) -> None:
    _, vite = site
    await open_site(page, vite.preview.url)
    await until_shown(page, "first")
    for word in ("second", "third"):
        await vite.write_word(word)
        await until_shown(page, word)
    assert await page.evaluate("sessionStorage.loads") == "1", "the page was reloaded"


async def test_the_address_stays_valid_after_the_gateway_was_killed(site: tuple[Stack, Site], page: Page) -> None:
    stack, vite = site
    received = await open_site(page, vite.preview.url)
    await until_shown(page, "first")
    await stack.kill()
    received.clear()
    await stack.start()
    async with asyncio.timeout(TIMEOUT):
        await received.wait()  # Vite's client reconnects
    await vite.write_word("after")
    await until_shown(page, "after")
    await page.goto(vite.preview.url)
    await until_shown(page, "after")


async def test_a_preview_cannot_read_the_gateways_page(site: tuple[Stack, Site], page: Page) -> None:
    stack, vite = site
    await page.goto(f"{stack.base}/#token={stack.token}")
    await page.evaluate("sessionStorage.setItem('secret', 'x'); localStorage.setItem('secret', 'x')")
    await vite.sandbox.files.write("site/public/plain.html", b"<title>plain</title>")
    await page.goto(f"{vite.preview.path_url}plain.html")
    read_secret = "() => { try { return localStorage.secret } catch (error) { return error.name } }"
    assert (await page.evaluate("self.origin"), await page.evaluate(read_secret)) == ("null", "SecurityError")
    response = await page.evaluate(
        f"fetch('{stack.base}/v1/tickets', {{method: 'POST'}}).then(r => r.status, e => 'refused')"
    )
    assert response == "refused"
    await page.goto(f"{vite.preview.url}plain.html")
    assert await page.evaluate("localStorage.getItem('secret')") is None, "the preview shares the gateway's origin"


@pytest.mark.parametrize("address", ["url", "path_url"])
async def test_a_page_opens_a_websocket_of_a_program_that_compares_origin_with_host(
    site: tuple[Stack, Site], page: Page, address: str
) -> None:
    _, vite = site
    async with vite.sandbox.processes.start([sys.executable, program.__file__]) as process:
        port = await process.wait_for_log(pattern=r"^\d+\n")
        preview = await vite.sandbox.ports.expose(int(port.text))
        await page.goto(f"{getattr(preview, address)}page")
        await expect(page).to_have_title("connected")


async def test_a_script_cannot_set_a_cookie_for_another_preview(site: tuple[Stack, Site], page: Page) -> None:
    _, vite = site
    async with vite.sandbox.processes.start([sys.executable, program.__file__]) as process:
        port = await process.wait_for_log(pattern=r"^\d+\n")
        other = await vite.sandbox.ports.expose(int(port.text))
        await page.goto(f"{other.url}seen")
        await page.evaluate("document.cookie = 'own=1'")
        await page.goto(vite.preview.url)
        await page.evaluate("document.cookie = 'sid=1; Domain=localhost'")
        await page.goto(f"{other.url}seen")
        headers = dict(json.loads(await page.inner_text("body"))["headers"])
        assert headers.get("cookie") == "own=1"


async def test_a_revoked_address_shows_an_error_page(site: tuple[Stack, Site], page: Page) -> None:
    _, vite = site
    await vite.sandbox.ports.unexpose(vite.preview.port)
    response = await page.goto(vite.preview.url)
    assert response is not None
    assert response.status == 404
    assert await page.title() == "No such preview"


async def test_the_page_shows_owners_a_new_port_and_opens_its_preview(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    viewer = await open_page(token=stack.viewer_token)
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1")
    notice = view.page.locator("#port")
    await expect(notice).to_contain_text(f"port {port}", timeout=TIMEOUT * 1000)
    await expect(viewer.page.locator("#port")).to_be_hidden()
    await notice.get_by_role("button", name="Preview").click()
    await expect(view.page.frame_locator("iframe").get_by_role("heading")).to_have_text("Directory listing for /")
    async with view.page.expect_popup() as opened:
        await view.page.get_by_role("link", name="Open in a new tab").click()
    tab = await opened.value
    await tab.wait_for_url(f"http://{port}-local-*")
    await expect(tab).to_have_title("Directory listing for /")
    assert await tab.evaluate("window.opener") is None
    await expect(notice).to_be_hidden()


async def test_the_notice_of_a_port_is_shown_once_and_not_in_each_new_page(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1 &")
    await expect(view.page.locator("#port")).to_contain_text(f"port {port}", timeout=TIMEOUT * 1000)
    other = await view.page.context.new_page()
    await other.goto(f"{stack.base}/?terminal=main")
    await other.get_by_role("button", name=f"{port} ↗").wait_for()
    await expect(other.locator("#port")).to_be_hidden()


async def test_the_terminal_keeps_the_focus_when_a_preview_is_opened(open_page: Open) -> None:
    view = await open_page()
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1 &")
    await view.page.locator("#port").get_by_role("button", name="Preview").click()
    await expect(view.page.frame_locator("iframe").get_by_role("heading")).to_have_text("Directory listing for /")
    await view.run("echo typed-$((1 + 1))")
    await view.until_text("typed-2")


async def test_a_dismissed_port_is_not_shown_again(open_page: Open) -> None:
    view = await open_page()
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1")
    notice = view.page.locator("#port")
    await notice.get_by_role("button", name="Dismiss").click()
    await expect(notice).to_be_hidden()
    await view.press("Control+c")
    await view.run("echo typed")
    await view.until_text("typed")
    assert (await view.page.evaluate("window.hawse.client.call('port.exposed', {}, {sandbox: 'local'})")) == {
        "exposed": []
    }
    # A port that is open again at the next look has not been closed for the page.
    await expect(view.page.get_by_role("button", name=f"{port} ↗")).to_have_count(0)
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1")
    await notice.get_by_role("button", name="Dismiss").click()
    await view.page.reload()
    await view.until_live()
    await expect(view.page.get_by_role("button", name=f"{port} ↗")).to_be_visible()  # the page knows the ports
    await expect(notice).to_be_hidden()


async def test_the_notice_of_a_port_leaves_the_tools_of_panes_and_goes_when_its_preview_is_shown(
    open_page: Open, stack: Stack
) -> None:
    layout = "row(50:terminal~id~main,50:editor~path~.bashrc)"
    view = await open_page(address=f"{stack.base}/?layout={layout}#token={stack.token}", width=1200)
    page = view.page
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1 &")
    for part in ("#port", ".pane .view .bar"):
        await page.locator(part).first.wait_for()
    notice = await page.locator("#port").bounding_box()
    tools = await page.locator(".pane .view .bar").first.bounding_box()
    assert notice is not None
    assert tools is not None
    assert notice["y"] >= tools["y"] + tools["height"]
    assert notice["x"] + notice["width"] / 2 > 800, "it is not in the corner"
    assert notice["y"] > 768 / 2, "it covers the beginning of the file"
    await page.get_by_role("button", name=f"{port} ↗").click()
    await expect(page.frame_locator("iframe").get_by_role("heading")).to_have_text("Directory listing for /")
    await expect(page.locator("#port")).to_be_hidden()
