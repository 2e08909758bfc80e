"""Pasted text: a person has chosen it, but has not typed it, so that it must not run by itself."""

import pytest
from playwright.async_api import Page, expect

from e2e.conftest import Open
from e2e.view import WAIT, View

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

HOSTILE = "true \x1b[201~\rtouch ran-of-paste\r\x1b[200~"
# Without the control characters, the text of one paste is one line of bash, which takes CR in brackets for a line end.
SHOWN = "touch ran-of-paste"


async def fill_clipboard(view: View, text: str) -> None:
    await view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await view.evaluate("text => navigator.clipboard.writeText(text)", text)


async def expect_nothing_has_run(view: View) -> None:
    """Wait until the prompt has the pasted text, take it back, and look for the file that it would create."""
    await view.until_text(SHOWN)
    await view.settled()
    # Not by Ctrl+C: it also discards keys that bash has not read yet, of the paste or of what is typed next.
    await view.press("Control+e")
    await view.press("Control+u")
    await view.run("clear; ls | grep -c ran-of-pas''te")
    await view.until_pattern(r"(^|\n)0\n")
    await view.run("clear; echo ready-ag''ain")
    await view.until_text("ready-again")


async def fire_paste(view: View, text: str) -> None:
    """Paste as the browser does for the middle button: it fires the event at the field of the terminal."""
    await view.evaluate(
        """text => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true });
          document.querySelector(".xterm-helper-textarea").dispatchEvent(event);
        }""",
        text,
    )


async def choose_action(view: View, label: str) -> None:
    await view.press("Control+Shift+K")
    await expect(view.page.get_by_role("combobox", name="Find a command")).to_be_focused()
    await view.type(label)
    await view.press("Enter")


async def insert(page: Page, text: str) -> None:
    """Insert text as a keyboard of a phone does from its clipboard."""
    session = await page.context.new_cdp_session(page)
    await session.send("Input.insertText", {"text": text})
    await session.detach()


async def test_pasted_text_with_the_end_of_the_bracket_runs_nothing_whichever_way_it_comes(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.until_prompt()
    await fill_clipboard(view, HOSTILE)
    assert await view.evaluate("() => navigator.clipboard.readText()") == HOSTILE
    await view.press("Control+Shift+V")
    await expect_nothing_has_run(view)
    await page.mouse.click(300, 300, button="right")
    await page.get_by_role("menu", name="Terminal").get_by_text("Paste", exact=True).click()
    await expect_nothing_has_run(view)
    await fire_paste(view, HOSTILE)
    await expect_nothing_has_run(view)
    await insert(page, HOSTILE)
    await expect_nothing_has_run(view)
    await view.evaluate("text => window.hawse.terminal.paste(text)", HOSTILE)
    await expect_nothing_has_run(view)
    await view.evaluate("""() => localStorage.setItem("hawse.terminal", '{"rightClick":"paste"}')""")
    await page.reload()
    await view.until_live()
    await expect(page.locator(".stage > .ended")).to_be_attached()  # what handles the mouse is loaded after the prompt
    await page.mouse.click(300, 300, button="right")
    await expect_nothing_has_run(view)


async def test_the_keys_of_a_phone_paste_no_command_even_with_a_sticky_alt(open_page: Open) -> None:
    view = await open_page(width=390, height=844, touch=True)
    page = view.page
    await view.until_prompt()
    await fill_clipboard(view, HOSTILE)
    keys = page.get_by_role("toolbar", name="Keys")
    await keys.get_by_role("button", name="paste").click()
    await expect_nothing_has_run(view)
    await keys.get_by_role("button", name="alt").click()
    await keys.get_by_role("button", name="paste").click()
    await view.until_text(SHOWN)
    await keys.get_by_role("button", name="alt").click()  # it is still pressed
    await expect_nothing_has_run(view)


async def test_several_lines_for_a_program_without_brackets_are_a_question(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.until_prompt()  # which has brackets
    await view.run("clear; cat")
    await view.until("() => !window.hawse.terminal.modes.bracketedPasteMode")
    await fill_clipboard(view, "first line\nsecond line\n")
    dialog = page.get_by_role("alertdialog", name="Paste several lines?")
    await view.press("Control+Shift+V")
    await expect(dialog).to_contain_text("2 lines")
    await expect(dialog).to_contain_text("second line")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await view.press("Enter")
    await expect(dialog).to_have_count(0)
    await view.type("typed")  # the terminal has the keyboard again
    await view.press("Enter")
    await view.until_pattern("typed\ntyped\n")
    assert "first line" not in "\n".join(await view.screen())
    await view.press("Control+Shift+V")
    await dialog.get_by_role("checkbox", name="Do not ask again").check()
    await dialog.get_by_role("button", name="Paste").click()
    await view.until_pattern("second line\n(first line\n)?second line\n")
    await view.press("Control+Shift+V")
    await view.until_pattern("(second line\n[^]*){4}")
    await expect(dialog).to_have_count(0)


async def test_a_command_line_that_the_screen_does_not_show_runs_again_only_after_a_question(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.run("echo once > shown; cat shown")
    await view.until_pattern("(^|\n)once\n")
    await view.until_prompt()
    await choose_action(view, "Run the last command again")
    await view.until_pattern("once\n[^]*once\n")
    await view.until_prompt()
    forged = r"printf '\e]133;A\a\e]633;E;touch ran-of-paste\a\e]133;C\aharmless\n\e]133;D;0\a'"
    await view.run(forged)
    await view.until_pattern("(^|\n)harmless\n")
    await view.until_prompt()
    await choose_action(view, "Run the last command again")
    dialog = page.get_by_role("alertdialog", name="Run this command again?")
    await expect(dialog).to_contain_text(SHOWN)
    await view.press("Escape")
    await view.run("clear; ls | grep -c ran-of-pas''te")
    await view.until_pattern(r"(^|\n)0\n")


async def test_a_paste_while_an_input_method_composes_runs_nothing(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.until_prompt()
    await fill_clipboard(view, HOSTILE)
    session = await page.context.new_cdp_session(page)

    async def compose() -> None:
        await page.locator(".xterm-helper-textarea").focus()
        await session.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
        await expect(page.locator(".composition-view.active")).to_have_text("に")

    await compose()
    await session.send("Input.insertText", {"text": HOSTILE})  # as a keyboard does, which ends the composition by it
    await expect_nothing_has_run(view)
    await compose()
    await session.send("Input.imeSetComposition", {"text": HOSTILE, "selectionStart": 1, "selectionEnd": 1})
    await session.send("Input.insertText", {"text": HOSTILE})
    await expect_nothing_has_run(view)
    await compose()
    await fire_paste(view, HOSTILE)
    await expect_nothing_has_run(view)
    await compose()
    await view.press("Control+Shift+V")
    await expect_nothing_has_run(view)
