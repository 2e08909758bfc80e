"""The page in a frame of another page, with the token of its address: of the same site, and of another one."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Frame

import hawse
from e2e.firefox.driver import Firefox
from e2e.view import WAIT
from tests.support.other_port import OtherPort
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAMES = ["127.0.0.1", "localhost"]  # of the application; the gateway is at 127.0.0.1
LIVE = "() => window.hawse?.state().terminal === 'live'"
STORED = "() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"
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
        yield Embedding(app, stack)


async def credential(stack: Stack, kind: str) -> str:
    """Return the address of the page with the owner's token, or with a link's."""
    if kind == "token":
        return f"{stack.base}/#token={stack.token}"
    async with hawse.connect(stack.base, token=stack.token) as hw:
        link = await hw.links.create("local", terminal="main", role="writer")
    return stack.base + link.path


def frame_of(address: str) -> str:
    return f'<!doctype html><title>app</title><iframe src="{address}" width="900" height="600"></iframe>'


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
            frame: Frame = page.frames[1]
            await frame.wait_for_function(LIVE, timeout=WAIT)
            role = "owner" if kind == "token" else "writer"
            assert await frame.evaluate("() => window.hawse.client.welcome.role") == role
            assert stack.token not in await frame.evaluate(STORED)
            assert not await context.cookies()
            await page.reload()
    finally:
        await context.close()


@pytest.mark.parametrize("kind", ["token", "link"])
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
