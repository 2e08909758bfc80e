"""What the terminal page loads: compressed sizes of the built files, and how they arrive in a browser."""

import gzip
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect

from e2e.conftest import ROOT, Open, hold
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
BUNDLE = ROOT / "gateway" / "hawse_gateway" / "_web"
ROUTE = 150_000  # bytes of scripts and styles before the first prompt, compressed with gzip
CHUNK = 60_000  # bytes of each other script, compressed with gzip
EXEMPT = ("editor-",)  # the editor of files, which loads when the first file is opened


def compressed(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


def route(document: str) -> set[Path]:
    """Return the scripts and styles that `document` loads at once, with everything that they import statically."""
    html = (BUNDLE / document).read_text("utf-8")
    found: set[Path] = set()
    waiting = [BUNDLE / path for path in re.findall(r'(?:src|href)="\./([^"]+\.(?:js|css))"', html)]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix == ".js":
            text = file.read_text("utf-8")
            waiting += [
                file.parent / name for name in re.findall(r'(?:from|^import|[;}]import)"\./([\w.-]+\.js)"', text)
            ]
    return found


async def test_the_terminal_page_loads_at_most_150_kb_before_the_first_prompt() -> None:
    sizes = {file.name: compressed(file) for file in route("index.html")}
    assert any(name.endswith(".css") for name in sizes)
    assert sum(sizes.values()) <= ROUTE, sizes


async def test_each_other_script_has_at_most_60_kb() -> None:
    first = route("index.html")
    later = {file.name: compressed(file) for file in (BUNDLE / "assets").glob("*.js") if file not in first}
    assert any("webgl" in name for name in later), "the renderer is loaded when the page has been painted"
    assert {name: size for name, size in later.items() if size > CHUNK and not name.startswith(EXEMPT)} == {}


async def test_files_arrive_compressed_and_the_font_is_preloaded_once(open_page: Open) -> None:
    view = await open_page(webgl=True)
    page = view.page
    entries = await page.evaluate(
        """() => performance.getEntriesByType("resource").map(e => ({
          name: e.name.split("/").pop(), by: e.initiatorType, sent: e.encodedBodySize, size: e.decodedBodySize }))"""
    )
    scripts = [entry for entry in entries if re.search(r"-[\w-]+\.(js|css)$", entry["name"])]
    assert len(scripts) >= 3
    assert [entry for entry in scripts if entry["size"] > 1_000 and entry["sent"] >= entry["size"] / 2] == []
    fonts = [entry for entry in entries if "latin-400-normal" in entry["name"]]
    assert [font["by"] for font in fonts] == ["link"]


async def test_fonts_that_the_prompt_does_not_need_come_after_it(open_page: Open) -> None:
    view = await open_page()
    entries = "name => performance.getEntriesByType('resource').filter(entry => entry.name.includes(name))"
    for name in ("inter-latin", "latin-700-normal", "latin-400-italic"):
        await view.until(f"name => ({entries})(name).length > 0", name)
        start = f"name => ({entries})(name)[0].startTime"
        assert await view.page.evaluate(start, "/tickets") < await view.page.evaluate(start, name)


async def test_the_page_connects_while_the_emulator_is_being_loaded(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    released = await hold(page, "**/xterm-*.js")
    async with page.expect_websocket(), page.expect_request("**/xterm-*.js"):
        await page.goto(f"{stack.base}/#token={stack.token}", wait_until="commit")
    released.set()
    await page.wait_for_function("() => window.hawse?.state().terminal === 'live'")
    await context.close()


async def fail_first(page: Page, files: str, count: int) -> list[str]:
    """Let the first requests for files fail, `count` of them; return the list of all requests, which grows."""
    requests: list[str] = []

    async def handle(route: Route) -> None:
        requests.append(route.request.url)
        await (route.abort("failed") if len(requests) <= count else route.continue_())

    await page.route(files, handle)
    return requests


async def test_the_emulator_is_requested_again_after_the_network_has_changed(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    requests = await fail_first(page, "**/xterm-*.js", 3)
    await page.goto(f"{stack.base}/#token={stack.token}")
    await page.wait_for_function("() => window.hawse?.state().terminal === 'live'")
    assert len(requests) > 3
    await context.close()


async def test_what_comes_after_the_prompt_is_requested_again_after_the_network_has_changed(
    browser: Browser, stack: Stack
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await fail_first(page, "**/terminal-extras-*.js", 2)
    await page.goto(f"{stack.base}/#token={stack.token}")
    await page.wait_for_function("() => window.hawse?.state().terminal === 'live'")
    await page.keyboard.type("exit 3\n")
    await expect(page.get_by_label("The shell has ended")).to_contain_text("exited with code 3")
    await context.close()


async def test_a_menu_that_could_not_be_loaded_says_so_and_opens_later(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    down = True

    async def cut(route: Route) -> None:
        await (route.abort("failed") if down else route.continue_())

    for part in ("page-dialogs", "menu", "sandboxes"):
        await page.route(re.compile(rf"/assets/{part}[^/]*$"), cut)
    await page.goto(f"{stack.base}/#token={stack.token}")
    await page.wait_for_function("() => window.hawse?.state().terminal === 'live'")
    more, switcher = page.locator("#more"), page.locator("#sandboxes")
    for button in (more, switcher):
        await button.click()
        await expect(page.get_by_text("This part of the page could not be loaded. Reload the page.")).to_be_visible()
        await page.evaluate("() => { document.querySelector('#toast').hidden = true; }")
    down = False
    await more.click()
    menu = page.get_by_role("menu", name="More")
    await expect(menu).to_be_visible()
    await expect(menu).to_have_css("min-width", "200px")  # its style is there as well
    await page.keyboard.press("Escape")
    await switcher.click()
    await expect(page.get_by_role("dialog", name="Sandboxes")).to_be_visible()
    await context.close()


async def test_a_flood_is_drawn_at_most_20_times_a_second_and_to_its_end(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await page.keyboard.type("seq 200000; echo the-$((1 + 1))-end")
    await page.evaluate("""() => {
      window.drawn = [performance.now()];
      window.hawse.terminal.onRender(() => window.drawn.push(performance.now()));
    }""")
    await page.keyboard.press("Enter")
    await expect(page.locator(".xterm-rows")).to_contain_text("the-2-end")
    drawn = await page.evaluate("() => window.drawn")
    most = (drawn[-1] - drawn[0]) / 50 + 8  # single lines before and after it are drawn at once
    assert 2 < len(drawn) <= most
