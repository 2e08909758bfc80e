"""Lost connections, a killed gateway, a missing network: no byte is lost or duplicated, and the screen is right."""

import asyncio
import base64
import shutil
import sys
import time
from pathlib import Path

import pytest

from e2e.conftest import Open
from e2e.view import View
from tests.support import flood
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

CUTS = 100
WINDOW = 1 << 20  # bytes that the flood is ahead of the page at most: a quarter of what the journal keeps

# Records all bytes written to xterm.js from now on; `_TYPE` types numbered words with the offset of the output that the
# page has, until `stop` is set.
_RECORD = """() => {
  const { terminal, channel } = window.hawse;
  const write = terminal.write.bind(terminal);
  window.record = { parts: [], resets: 0, typed: "", stop: false };
  terminal.write = (data, done) => {
    window.record.parts.push(typeof data === "string" ? new TextEncoder().encode(data) : data.slice());
    write(data, done);
  };
  const reset = terminal.reset.bind(terminal);
  terminal.reset = () => { window.record.resets++; reset(); };
}"""

_TYPE = """() => {
  const { record, hawse } = window;
  let number = 0;
  const type = text => { record.typed += text; hawse.terminal.input(text, true); };
  const timer = setInterval(() => {
    if (record.stop) { clearInterval(timer); type("!"); record.done = true; return; }
    type(`k${String(number++).padStart(7, "0")}a${hawse.state().offset}.`);
  }, 10);
}"""

_READ = """async () => {
  const blob = new Blob(window.record.parts);
  const url = await new Promise(done => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });
  return url.slice(url.indexOf(",") + 1);
}"""


# Files that the page loads after its first prompt. A request for one cannot be cancelled: on a dead connection it holds
# that connection, and a browser opens at most six to a host.
_LATE = ("/collaboration-", "/ports-", "/unsaved-files-", "inter-latin", "latin-700-normal", "latin-400-italic")
_LOADED = "name => performance.getEntriesByType('resource').some(entry => entry.name.includes(name))"
_FETCH = """() => Promise.all(["mark.svg", "home.html"].map(async name =>
  (await fetch(name, { cache: "no-store" })).text()))"""


def workspace(stack: Stack) -> Path:
    return stack.state / "sandboxes" / "local" / "workspace"


async def start_flood(view: View, stack: Stack, *, burst: int, pause: float) -> None:
    shutil.copy(flood.__file__, workspace(stack) / "flood.py")
    await view.page.evaluate(_RECORD)
    await view.run(f"clear; {sys.executable} flood.py typed {burst} {pause} {WINDOW}")
    await view.until("() => window.record.parts.some(part => new TextDecoder().decode(part).includes('ready'))")


async def finish_flood(view: View, stack: Stack) -> int:
    """Stop typing, wait for the end of the flood, and compare all bytes both ways. Return the number of lines."""
    await view.page.evaluate("() => { window.record.stop = true; }")
    await view.until_text("done ")
    await view.settled()
    output = base64.b64decode(await view.page.evaluate(_READ))
    start = output.index(flood.READY)
    end = output.index(b"\r\n", output.index(b"done ", start)) + 2
    assert await view.page.evaluate("() => window.record.resets") == 0
    typed = await view.page.evaluate("() => window.record.typed")
    assert (workspace(stack) / "typed").read_bytes() == typed.encode()
    return flood.check(output[start:end])


@pytest.mark.timeout(600)  # a loaded machine needs two seconds to reconnect
async def test_100_lost_connections_under_a_flood_and_typing_lose_and_duplicate_nothing(
    open_page: Open, stack: Stack
) -> None:
    async with CuttingProxy(stack.port, seed=11) as proxy:
        view = await open_page(port=proxy.port)
        await start_flood(view, stack, burst=50, pause=0.001)
        await view.page.evaluate(_TYPE)
        proxy.cuts_left = CUTS
        proxy.cut_after = (2_000, 100_000)
        proxy.cut()
        await proxy.spent.wait()
        proxy.cut_after = None
        assert await finish_flood(view, stack) > 10_000
        assert proxy.cuts == CUTS


@pytest.mark.timeout(120)
async def test_a_gateway_killed_under_a_flood_and_typing_loses_nothing(open_page: Open, stack: Stack) -> None:
    view = await open_page(webgl=True)
    before = await view.state()
    await start_flood(view, stack, burst=100, pause=0.002)
    await view.page.evaluate(_TYPE)
    offset = (await view.state())["offset"]
    await view.until("offset => window.hawse.state().offset > offset + 1000000", offset)
    await stack.kill()
    await view.until("() => window.hawse.state().connection !== 'live'")
    await stack.start()
    await view.until_live()
    await view.until("offset => window.hawse.state().offset > offset + 3000000", offset)
    assert await finish_flood(view, stack) > 10_000
    after = await view.state()
    assert (after["pid"], after["instance"]) == (before["pid"], before["instance"])
    shell = await view.page.evaluate(
        """() => window.hawse.client.call("terminal.get", { id: "main" }, { sandbox: "local" })"""
    )
    assert shell["pid"] == before["pid"]


@pytest.mark.timeout(120)
async def test_after_10_s_offline_under_a_flood_the_screen_equals_that_of_a_connected_browser(
    open_page: Open, stack: Stack
) -> None:
    async with CuttingProxy(stack.port) as proxy:
        connected = await open_page()
        disconnected = await open_page(port=proxy.port)
        # About 2 MB each second: enough to leave the journal in the interruption, and little enough for a slow machine.
        await connected.run("clear; sh -c 'while seq 10000 | sed \"s/$/ \u6f22 flood/\"; do sleep 0.1; done'")
        await disconnected.until_text("flood")
        proxy.refuse()
        offset = (await connected.state())["offset"]
        await disconnected.page.get_by_text("Reconnecting").first.wait_for()
        await asyncio.get_running_loop().run_in_executor(None, _ten_seconds)
        await connected.until("offset => window.hawse.state().offset > offset + 9000000", offset)  # beyond the journal
        proxy.resume()
        await disconnected.until_live()
        # Not by Ctrl-C, which discards pending output.
        await connected.page.evaluate(
            """() => window.hawse.client.call(
              "terminal.signal", { id: "main", signal: "TERM" }, { sandbox: "local" })"""
        )
        await connected.run("echo the en''d; exec sleep 1000")  # prints no prompt, which only one might show yet
        for view in (connected, disconnected):
            await view.until_text("the end")
            await view.settled()
        one, other = await connected.cells(), await disconnected.cells()
        assert one == other


async def test_a_page_that_is_reloaded_while_the_gateway_is_away_says_so_and_comes_back(
    open_page: Open, stack: Stack
) -> None:
    view = await open_page()
    page = view.page
    await view.run("kept=of-this-sh''ell; echo se''t")
    await view.until_text("set")  # keys that have not arrived are lost with the page
    await view.until("async () => (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated'")
    await stack.kill()
    await page.reload()
    await page.get_by_role("heading", name="The gateway does not answer").wait_for()
    await page.get_by_text("No answer since").wait_for()
    await stack.start()
    await view.until_live()  # it reloads by itself
    await view.run("echo $kept")
    await view.until_text("of-this-shell")


@pytest.mark.timeout(120)
async def test_a_page_whose_idle_connections_are_dead_reconnects_in_one_attempt(open_page: Open, stack: Stack) -> None:
    """After a request, the browser keeps its connection idle to send the next one on."""
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        for name in _LATE:
            await view.until(_LOADED, name)
        await view.page.evaluate(_FETCH)  # the gateway closes connections after 5 s without a request
        lost = proxy.lose()
        assert lost > 1, "the browser has no idle connection, so this tests nothing"
        await view.page.evaluate(
            """() => {
              window.phases = [];
              window.hawse.client.onState(() => window.phases.push(window.hawse.state().connection));
            }"""
        )
        await view.page.evaluate("window.dispatchEvent(new Event('online'))")  # the page probes its connection
        await view.until("() => window.hawse.state().connection !== 'live'")
        await view.until_live()
        assert (await view.page.evaluate("window.phases")).count("connecting") == 1
        await view.run("echo aga''in")
        await view.until_text("again")


def _ten_seconds() -> None:
    """The duration of the interruption is what the test is about."""
    time.sleep(10)
