"""Fixtures of the browser tests: a real gateway, a real Chromium, pages on real terminals."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, async_playwright

from e2e.firefox.driver import Firefox
from e2e.view import View
from tests.support.stack import Stack

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def chromium_path() -> str:
    return subprocess.check_output([ROOT / "scripts/find_chromium.sh"], text=True).strip()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium_path: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=SWITCHES)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def firefox_path() -> str:
    return subprocess.check_output([ROOT / "scripts/find_firefox.sh"], text=True).strip()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running_firefox(firefox_path: str) -> AsyncIterator[Firefox]:
    async with Firefox(firefox_path) as firefox:
        yield firefox


@pytest_asyncio.fixture(loop_scope="session")
async def firefox(running_firefox: Firefox) -> AsyncIterator[Firefox]:
    """Firefox. A script of a page that throws an error fails the test."""
    yield running_firefox
    assert await running_firefox.errors() == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """The gateway of all tests of this process, with the isolation that this machine supports."""
    folder = tmp_path_factory.mktemp("g")
    (folder / "templates.toml").write_text('[demo]\ndescription = "an example"\nenv = { TEMPLATE = "demo" }\n')
    (folder / "shared").mkdir()
    (folder / "shared/of-the-host.txt").write_text("shared")
    (folder / "mounts.toml").write_text(f'[directories.shared]\npath = "{folder}/shared"\n')
    options = ["--templates", str(folder / "templates.toml"), "--mounts", str(folder / "mounts.toml")]
    async with Stack(folder / "state", *options, isolation="auto") as stack:
        yield stack


@pytest_asyncio.fixture(loop_scope="session")
async def stack(gateway: Stack) -> Stack:
    """The gateway, with a new sandbox `local` and no other."""
    await gateway.renew()
    return gateway


# A browser without WebGL: xterm.js uses its DOM renderer. Chromium draws WebGL on the CPU here, which costs more.
NO_WEBGL = """() => {
  const { prototype } = HTMLCanvasElement;
  const { getContext } = prototype;
  prototype.getContext = function (kind, ...more) {
    return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...more);
  };
}"""

# A browser that does not tell what draws its WebGL: the page takes it for a GPU.
UNNAMED_GPU = """() => {
  const { prototype } = WebGL2RenderingContext;
  const { getExtension } = prototype;
  prototype.getExtension = function (name) {
    return name === "WEBGL_debug_renderer_info" ? null : getExtension.call(this, name);
  };
}"""


async def hold(page: Page, files: str) -> asyncio.Event:
    """Hold all requests of a page for `files`, however late they come, until the returned event is set."""
    released = asyncio.Event()

    async def wait(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await page.route(files, wait)
    return released


class Open:
    """Opens pages on terminals, each in its own browser context, as if by another user."""

    def __init__(self, browser: Browser, stack: Stack, exits: AsyncExitStack) -> None:
        self._browser = browser
        self._stack = stack
        self._exits = exits

    async def __call__(
        self,
        terminal: str = "main",
        *,
        port: int | None = None,
        width: int = 1024,
        height: int = 768,
        token: str | None = None,
        address: str | None = None,
        touch: bool = False,
        webgl: bool | None = False,
    ) -> View:
        """Open a page and wait until its terminal is live.

        Args:
            terminal: The terminal's id.
            port: The port of a proxy to connect through; default: the gateway's.
            width: Width of the viewport in CSS pixels.
            height: Height of the viewport in CSS pixels.
            token: Default: the owner's token.
            address: The complete URL; overrides `terminal`, `port` and `token`.
            touch: Whether the browser has touch input.
            webgl: Whether the browser has WebGL that the page takes for that of a GPU, and draws the
                terminal with; None: as it is.
        """
        context = await self._browser.new_context(
            viewport={"width": width, "height": height}, has_touch=touch, reduced_motion="reduce"
        )
        self._exits.push_async_callback(context.close)
        if webgl is not None:
            await context.add_init_script(f"({UNNAMED_GPU if webgl else NO_WEBGL})()")
        page = await context.new_page()
        view = View(page)
        base = f"http://127.0.0.1:{port or self._stack.port}"
        await page.goto(address or f"{base}/?terminal={terminal}#token={token or self._stack.token}")
        await view.until_live()
        return view


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, stack: Stack) -> AsyncIterator[Open]:
    async with AsyncExitStack() as exits:
        yield Open(browser, stack, exits)
