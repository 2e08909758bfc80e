"""Keyboard access, focus, forced colours, target sizes, and the place of the scrollbar."""

import pytest
from playwright.async_api import Browser, expect

from e2e.conftest import Open
from e2e.view import WAIT
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

_IN_TERMINAL = "() => document.activeElement === window.hawse.terminal.textarea"


async def test_ctrl_f6_walks_the_regions_of_the_page_and_returns_to_the_terminal(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.until(_IN_TERMINAL)
    assert "F6" in (await page.evaluate("() => window.hawse.terminal.textarea.ariaLabel"))
    await view.press("Control+F6")
    await expect(page.locator(".status-line button").first).to_be_focused()
    await view.press("Control+F6")
    await expect(page.locator("#sandboxes")).to_be_focused()
    await view.press("Tab")
    assert not await page.evaluate(_IN_TERMINAL)
    await view.press("Control+F6")
    await view.until(_IN_TERMINAL)
    await view.press("Control+Shift+F6")
    await expect(page.locator("#sandboxes")).to_be_focused()
    assert (await view.state())["inputEnd"] == 0, "the keys were sent to the program"


async def test_the_sign_in_dialog_holds_the_focus(browser: Browser, gateway: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(gateway.base)
    await expect(page.locator("#token")).to_be_focused()
    for _ in range(6):
        await page.keyboard.press("Tab")
        assert await page.evaluate(
            "() => document.activeElement === document.body || !!document.activeElement.closest('#sign-in')"
        )
    await context.close()


async def test_forced_colours_keep_the_status_and_the_button_of_this_viewer_is_named_by_its_text(
    open_page: Open,
) -> None:
    page = (await open_page()).page
    colour = "element => getComputedStyle(element).backgroundColor"
    dot = page.locator("#tabs .status")
    before = await dot.evaluate(colour)
    await page.emulate_media(forced_colors="active")
    assert await dot.evaluate(colour) == before
    me = page.locator("#me")
    assert (await me.get_attribute("aria-label") or "").startswith(await me.text_content() or "?")


async def test_on_a_phone_all_keys_are_on_the_screen_and_large_enough(open_page: Open) -> None:
    page = (await open_page(width=390, height=844, touch=True)).page
    shown = page.locator("#keys button:visible")
    for name in ("Up", "Page up"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
        assert await shown.count() == 12
        for key in await shown.all():
            box = await key.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert (box["width"], box["height"]) >= (44, 44)
        await shown.get_by_text("···").click()


async def test_the_scrollbar_is_beside_the_cells(open_page: Open) -> None:
    view = await open_page(webgl=True)
    await view.run("seq 300; echo e''nd")
    await view.until_text("end")
    edges = await view.page.evaluate(
        """() => {
          const rect = selector => document.querySelector(selector).getBoundingClientRect();
          return [rect(".xterm-screen").right, rect(".xterm .scrollbar.vertical").left];
        }"""
    )
    assert edges[0] <= edges[1] + 1, edges  # px
