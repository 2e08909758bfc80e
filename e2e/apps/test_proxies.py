"""The page, a terminal and previews behind proxies with TLS, with the configurations of docs/reverse-proxy/.

Only what an operator has to replace is replaced: certificate, key and addresses. Chromium resolves the names of the
documentation to the proxy and trusts the tests' own certificate authority.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

import hawse
from e2e.apps.conftest import NODE_MODULES, STEP, Programs
from e2e.apps.proxies import KINDS, NAME, OPTIONS, PREVIEWS, configure, make_certificates
from e2e.apps.servers import server
from e2e.conftest import SWITCHES
from e2e.view import View
from tests.support import site
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
# The gateway pings every 20 s. The proxy closes connections that are silent for longer than this, and the test waits
# for two such periods: this stands for ten minutes of idleness with the documented limits.
SILENCE = 25  # s
# A WebSocket without messages of its own; the page of a terminal sends some.
OPEN_ECHO = """() => new Promise((resolve, reject) => {
  const socket = new WebSocket(new URL("socket", location.href.replace(/^http/, "ws")));
  socket.onopen = () => resolve();
  socket.onerror = reject;
  window.echo = (text) => new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(data);
    socket.onclose = () => resolve("closed");
    if (socket.readyState === WebSocket.OPEN) socket.send(text); else resolve("closed");
  });
})"""


class Proxy:
    """A gateway behind a proxy, and a browser that finds the proxy under the documented names."""

    def __init__(self, stack: Stack, browser: Browser, port: int, authority: Path) -> None:
        self.stack = stack
        self.browser = browser
        self.port = port
        self.authority = authority

    async def open_page(self, exits: AsyncExitStack) -> View:
        context = await self.browser.new_context()
        exits.push_async_callback(context.close)
        view = View(await context.new_page())
        await view.page.goto(f"https://{NAME}/?terminal=main#token={self.stack.token}")
        await view.until_live()
        return view

    async def curl(self, path: str, *options: str) -> str:
        """Request `https://hawse.example.org` + `path` with curl, which verifies the certificate."""
        connect = ["--connect-to", f"{NAME}:443:127.0.0.1:{self.port}", "--cacert", str(self.authority)]
        bearer = ["-H", f"Authorization: Bearer {self.stack.token}"]
        process = await asyncio.create_subprocess_exec(
            "curl", "-sS", "--fail-with-body", *connect, *bearer, *options, f"https://{NAME}{path}",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        printed, _ = await process.communicate()
        assert process.returncode == 0, printed.decode()
        return printed.decode()


@asynccontextmanager
async def proxied(kind: str, folder: Path, chromium_path: str, *, silence: int | None = None) -> AsyncIterator[Proxy]:
    """Start a gateway, a proxy before it, and a browser.

    Args:
        kind: A key of `KINDS`.
        folder: For the files of all three.
        chromium_path: The browser's program.
        silence: Seconds of silence after which the proxy closes a connection; None: as documented.
    """
    port = free_port()
    await make_certificates(folder)
    async with Stack(folder / "state", *OPTIONS) as stack, AsyncExitStack() as exits:
        argv = configure(kind, folder, port, [stack.port], silence=silence)
        await exits.enter_async_context(server(argv, port, log=folder / "log"))
        playwright = await exits.enter_async_context(async_playwright())
        rule = f"--host-resolver-rules=MAP *.example.org:443 127.0.0.1:{port}"
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=[*SWITCHES, rule])
        exits.push_async_callback(browser.close)
        yield Proxy(stack, browser, port, folder / "ca.pem")


@pytest_asyncio.fixture(loop_scope="session", params=list(KINDS))
async def proxy(request: pytest.FixtureRequest, tmp_path: Path, chromium_path: str) -> AsyncIterator[Proxy]:
    async with proxied(request.param, tmp_path, chromium_path) as proxy:
        yield proxy


async def test_the_page_a_terminal_and_a_preview_behind_tls(proxy: Proxy) -> None:
    async with AsyncExitStack() as exits:
        view = await proxy.open_page(exits)
        await view.run("echo behind-$((40 + 2))")
        await view.until_text("behind-42")
        assert await view.page.evaluate("isSecureContext")

        hw = await exits.enter_async_context(hawse.connect(proxy.stack.base, token=proxy.stack.token))
        app = await Programs(proxy.stack, hw.sandbox(), exits).python("web.py", "PORT")
        address = f"https://{app.port}-local-{app.token}.{PREVIEWS}/"
        tab = await view.page.context.new_page()
        await tab.goto(address)
        await expect(tab.locator("#events li")).to_have_text(["connected"], timeout=STEP)  # not buffered
        seen = json.loads(await tab.evaluate("fetch('headers').then((response) => response.text())"))
        assert (seen["x-forwarded-proto"], seen["x-forwarded-for"]) == ("https", "127.0.0.1")
        assert seen["x-forwarded-host"] == address.split("/")[2]

        socketio = NODE_MODULES / "socket.io-client/dist/socket.io.min.js"
        live = await Programs(proxy.stack, hw.sandbox(), exits).python("socketio_app.py", "PORT", socketio)
        await tab.goto(f"https://{live.port}-local-{live.token}.{PREVIEWS}/")
        await expect(tab.locator("#answer")).to_have_text("six times seven is 42", timeout=STEP)
        await expect(tab.locator("#transport")).to_have_text("websocket")


async def test_the_http_api_and_uploads_behind_tls(proxy: Proxy, tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(os.urandom(1 << 20) * 64)
    sent = json.loads(await proxy.curl("/v1/sandboxes/local/files/large", "-T", str(file)))
    assert sent["bytes"] == file.stat().st_size
    await proxy.curl("/v1/sandboxes/local/files/large", "-o", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == file.read_bytes()
    body = ["-d", json.dumps({"command": "echo out"}), "-H", "Content-Type: application/json"]
    events = await proxy.curl("/v1/sandboxes/local/exec", *body, "-H", "Accept: text/event-stream")
    assert "event: result" in events


@pytest.mark.parametrize("kind", list(KINDS))
async def test_pings_keep_idle_connections_open(kind: str, tmp_path: Path, chromium_path: str) -> None:
    async with proxied(kind, tmp_path, chromium_path, silence=SILENCE) as proxy, AsyncExitStack() as exits:
        view = await proxy.open_page(exits)
        opened: list[str] = []
        view.page.on("websocket", lambda socket: opened.append(socket.url))

        hw = await exits.enter_async_context(hawse.connect(proxy.stack.base, token=proxy.stack.token))
        process = await exits.enter_async_context(hw.sandbox().processes.start([sys.executable, site.__file__]))
        port = int((await process.wait_for_log(pattern=r"^\d+\n")).text)
        app = await hw.sandbox().ports.expose(port)
        other = await view.page.context.new_page()
        await other.goto(f"https://{app.port}-local-{app.token}.{PREVIEWS}/page")
        await other.evaluate(OPEN_ECHO)

        await asyncio.sleep(2 * SILENCE)  # the test is about time without data
        assert await other.evaluate("echo('still')") == "still", "the preview's WebSocket was closed"
        await view.run("echo still-$((40 + 2))")
        await view.until_text("still-42")
        assert opened == [], "the page had to connect again"
