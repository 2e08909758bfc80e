"""Keyboard access, focus, forced colours, target sizes, and the place of the scrollbar."""

from typing import Literal

import pytest
from playwright.async_api import Browser, expect

from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

_IN_TERMINAL = "() => document.activeElement === window.hawse.terminal.textarea"


async def test_f6_walks_the_regions_of_the_page_and_returns_to_the_terminal(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.until(_IN_TERMINAL)
    assert "F6" in (await page.evaluate("() => window.hawse.terminal.textarea.ariaLabel"))
    await view.run("echo re''ady")
    await view.until_text("ready")
    await view.until_prompt()  # before it, the program gets the keys
    typed = (await view.state())["inputEnd"]
    for forward, back in (("F6", "Shift+F6"), ("Control+F6", "Control+Shift+F6")):
        await view.press(forward)
        await expect(page.locator(".status-line button").first).to_be_focused()
        await view.press(forward)
        await expect(page.locator("#sandboxes")).to_be_focused()
        await view.press("Tab")
        assert not await page.evaluate(_IN_TERMINAL)
        await view.press(forward)
        await view.until(_IN_TERMINAL)
        await view.press(back)
        await expect(page.locator("#sandboxes")).to_be_focused()
        await view.press(forward)
        await view.until(_IN_TERMINAL)
    assert (await view.state())["inputEnd"] == typed, "the keys were sent to the program"


async def test_a_program_gets_f6_and_control_f6_leaves_it(open_page: Open) -> None:
    view = await open_page()
    await view.run("echo st''arted; cat -v")  # its echo is no output: until that comes, the shell is at its prompt
    await view.until_pattern("\\nstarted\\n")
    await view.press("F6")
    await view.press("Shift+F6")
    await view.press("Enter")
    await view.until_text("^[[17~^[[17;2~")
    assert await view.evaluate(_IN_TERMINAL)
    await view.press("Control+F6")
    await expect(view.page.locator(".status-line button").first).to_be_focused()
    await view.press("F6")  # outside of the terminal, no program can want it
    await expect(view.page.locator("#sandboxes")).to_be_focused()
    # After a reload, the page still knows that a program runs, and later that none does.
    await view.page.reload()
    await view.until_live()
    await view.until(_IN_TERMINAL)
    for _ in range(3):
        await view.press("F6")
    await view.press("Enter")
    await view.until_text("^[[17~^[[17~^[[17~")
    await view.press("Control+D")  # not Ctrl+C, which makes the terminal forget what is typed next
    await view.run("echo ba''ck")
    await view.until_text("back")
    await view.until_prompt()  # before it, the program gets the keys
    await view.press("F6")
    await expect(view.page.locator(".status-line button").first).to_be_focused()
    await view.page.keyboard.press("Control+Shift+K")
    await expect(view.page.get_by_role("dialog", name="Find a command")).to_be_visible()
    await view.press("F6")
    assert await view.evaluate("() => document.activeElement.closest('dialog') !== null"), "the dialog holds the focus"


async def test_the_sign_in_dialog_holds_the_focus(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(stack.base)
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


@pytest.mark.parametrize("scheme", ["dark", "light"])
async def test_axe_finds_nothing_serious_in_menus_dialogs_and_views(
    browser: Browser, stack: Stack, scheme: Literal["dark", "light"]
) -> None:
    context = await browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = await context.new_page()
    await page.goto(stack.base)
    await expect(page.locator("#token")).to_be_focused()
    assert await serious(page) == []
    await page.locator("#token").fill(stack.token)
    await page.keyboard.press("Enter")
    view = View(page)
    await view.until_live()
    assert await serious(page) == []
    for keys, shown in (
        ("Control+Shift+K", page.get_by_role("dialog", name="Find a command")),
        ("Control+Shift+?", page.get_by_role("dialog", name="Keyboard shortcuts")),
        ("Control+Shift+F", page.get_by_label("Find in the terminal")),
    ):
        await page.keyboard.press(keys)
        await expect(shown).to_be_visible()
        assert await serious(page) == []
        await page.keyboard.press("Escape")
    for button, shown in (
        ("#more", page.get_by_role("menu", name="More")),
        ("#share", page.get_by_role("dialog", name="Share")),
        ("#sandboxes", page.get_by_role("dialog", name="Sandboxes")),
    ):
        await page.locator(button).click()
        await expect(shown).to_be_visible()
        assert await serious(page) == []
        await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Shift+B")
    rail = page.get_by_role("navigation", name="Views")
    await expect(rail).to_be_visible()
    for name in await rail.get_by_role("button").evaluate_all("buttons => buttons.map(button => button.ariaLabel)"):
        await rail.get_by_role("button", name=name).click()
        await expect(page.get_by_role("region", name=name).locator(".view")).to_be_visible()
        assert await serious(page) == []
    await context.close()


async def test_nothing_moves_when_the_user_wants_it(open_page: Open) -> None:
    view = await open_page()  # with reduced motion
    assert await view.evaluate("() => window.hawse.terminal.options.cursorBlink") is False
    await view.choose("Settings")
    await expect(view.page.get_by_role("dialog", name="Settings")).to_be_visible()
    moving = "() => document.getAnimations().filter(each => each.effect.getComputedTiming().duration > 1).length"
    assert await view.evaluate(moving) == 0


async def test_a_word_of_an_input_method_is_sent_once_when_it_is_committed(open_page: Open) -> None:
    view = await open_page()
    await view.run("echo st''arted; cat")  # what comes before cat has started may be read by the shell's line editor
    await view.until_text("started")
    await view.settled()
    before = (await view.state())["inputEnd"]
    session = await view.page.context.new_cdp_session(view.page)
    for text in ("に", "にほ", "にほん"):
        await session.send("Input.imeSetComposition", {"text": text, "selectionStart": 3, "selectionEnd": 3})
    assert (await view.state())["inputEnd"] == before, "nothing is sent before"
    await session.send("Input.insertText", {"text": "日本"})
    await view.press("Enter")
    await view.until_pattern("日本\\n日本\\n")
    await view.settled()
    assert (await view.state())["inputEnd"] == before + len("日本\r".encode())


async def test_forced_colours_keep_the_cursor_and_show_what_is_chosen(open_page: Open) -> None:
    page = (await open_page()).page
    await page.locator(".xterm-helper-textarea").focus()
    cursor = page.locator(".xterm-cursor-block")
    theme = await page.evaluate("() => window.hawse.terminal.options.theme.cursor")
    colour = "rgb({}, {}, {})".format(*bytes.fromhex(theme[1:]))
    await expect(cursor).to_have_css("background-color", colour)  # it blinks
    await page.emulate_media(forced_colors="active")
    await expect(cursor).to_have_css("background-color", colour)
    await page.keyboard.press("Control+Shift+B")
    views = page.get_by_role("navigation", name="Views")
    await views.get_by_role("button", name="Files").click()
    outline = "element => getComputedStyle(element).outlineStyle"
    await expect(page.locator(".rail-view")).to_be_visible()
    assert await views.get_by_role("button", name="Search").evaluate(outline) == "none"
    assert await views.get_by_role("button", name="Files").evaluate(outline) in ("solid", "double")
