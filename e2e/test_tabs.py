"""The tabs of a sandbox's terminals: new, switch, names, close, and what a reload restores."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


def tabs(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Terminals").get_by_role("link")


def tab_of(page: Page, terminal: str) -> Locator:
    return page.locator(f"#tab-of-{terminal}")


async def call(view: View, method: str, params: dict[str, Any]) -> Any:
    """Call a method of the page's sandbox, as another client would."""
    return await view.page.evaluate(
        "([method, params]) => window.hawse.client.call(method, params, { sandbox: 'local' })",
        [method, params],
    )


async def until_shown(view: View, terminal: str) -> None:
    """Wait until the page shows the terminal and its address leads there."""
    await view.page.wait_for_url(f"**/?sandbox=local&terminal={terminal}")
    await view.until("id => window.hawse?.channel.address.id === id", terminal)
    await view.until_live()
    await expect(tab_of(view.page, terminal)).to_have_attribute("aria-current", "page")


async def test_terminals_are_opened_switched_and_closed_in_tabs(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await expect(tabs(page)).to_have_count(1)
    await view.run("cd /tmp && echo in ma''in")
    await view.until_text("in main")
    await page.locator("#terminal-new").click()
    await until_shown(view, "shell-2")
    await view.run("pwd; echo in sec''ond")
    await view.until_text("in second")
    assert "/tmp" in await view.screen()
    await expect(tabs(page)).to_have_count(2)
    await tab_of(page, "main").click()
    await until_shown(view, "main")
    await view.until_text("in main")
    await page.go_back()
    await until_shown(view, "shell-2")
    await view.until_text("in second")
    await page.reload()
    await until_shown(view, "shell-2")
    await view.until_text("in second")
    await expect(tabs(page)).to_have_count(2)  # the last tab would stay, with the end of its shell
    await page.locator("#close-of-shell-2").click()
    await until_shown(view, "main")
    await expect(tabs(page)).to_have_count(1)


async def test_a_tab_is_named_by_the_title_of_its_program(open_page: Open) -> None:
    view = await open_page()
    await call(view, "terminal.create", {"id": "other"})
    await view.run("PROMPT_COMMAND=; printf '\\033]0;building\\007'")
    await expect(tab_of(view.page, "main")).to_have_text("building")
    await expect(view.page.get_by_role("button", name="Close building")).to_be_visible()
    await view.run("printf '\\033]0;<b>fdp.\\342\\200\\256exe\\007'")
    await expect(tab_of(view.page, "main")).to_have_text("<b>fdp.\ufffdexe")
    await expect(view.page).to_have_title("<b>fdp.\ufffdexe · hawse")


async def test_a_terminal_with_a_running_command_is_closed_only_after_a_question(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await page.locator("#terminal-new").click()
    await until_shown(view, "shell-2")
    await view.run("sleep 1000")
    await view.until(
        """async () => {
          const request = [{ id: "shell-2" }, { sandbox: "local" }];
          const { commands } = await window.hawse.client.call("terminal.history", ...request);
          return commands.length > 0;
        }"""
    )
    await page.locator("#close-of-shell-2").click()
    dialog = page.get_by_role("alertdialog", name="Close ")
    await expect(dialog).to_contain_text("This command is running in it: sleep 1000")
    await expect(page.get_by_role("button", name="Keep")).to_be_focused()
    await view.press("Escape")
    await expect(dialog).to_be_hidden()
    assert (await call(view, "terminal.get", {"id": "shell-2"}))["state"] == "running"
    await page.locator("#close-of-shell-2").click()
    await page.get_by_role("button", name="End it and close").click()
    await until_shown(view, "main")
    assert (await call(view, "terminal.get", {"id": "shell-2"}))["state"] == "exited"


async def test_a_terminal_is_opened_although_the_directory_of_this_one_was_removed(open_page: Open) -> None:
    view = await open_page()
    await view.run("mkdir gone && cd gone && rmdir ../gone && echo do''ne")
    await view.until_text("done")
    await view.page.locator("#terminal-new").click()
    await until_shown(view, "shell-2")


async def test_tabs_of_others_appear_and_a_viewer_cannot_close_them(open_page: Open, stack: Stack) -> None:
    owner = await open_page()
    viewer = await open_page(token=stack.viewer_token)
    await call(owner, "terminal.create", {"id": "other"})
    await expect(tabs(viewer.page)).to_have_count(2)
    await expect(viewer.page.locator("#tabs button:visible")).to_have_count(0)
    await expect(viewer.page.locator("#terminal-new")).to_be_hidden()


async def test_on_a_phone_tabs_are_large_enough(open_page: Open) -> None:
    view = await open_page(width=390, height=844, touch=True)
    for number in range(4):
        await call(view, "terminal.create", {"id": f"t{number}"})
    await expect(tabs(view.page)).to_have_count(5)
    for target in await view.page.locator("#tabs :is(a, button):visible").all():
        box = await target.bounding_box()
        assert box is not None
        assert box["height"] >= 43  # px: the strip has 44, one of which is its border
        assert box["width"] >= 44


async def test_a_tab_is_marked_while_its_program_asks_for_a_line_or_a_password(open_page: Open) -> None:
    view = await open_page()
    mark = tab_of(view.page, "main").locator(".status.attention")
    await view.run("read -s -p 'Pass''word: ' x; less -P pro''mpt /etc/passwd")
    await view.until_text("Password:")
    await expect(mark).to_be_visible()
    await view.run("secret")
    await view.until_text("prompt")
    await expect(mark).to_have_count(0)
    await view.type("q")
    await expect(mark).to_have_count(0)


# The user works in another window. The browser of the tests has no place for notifications.
_ELSEWHERE = """() => {
  document.hasFocus = () => false;
  window.shown = [];
  window.Notification = class {
    static permission = "granted";
    constructor(title, { body }) { this.text = `${title}: ${body}`; window.shown.push(this.text); }
    close() { window.shown = window.shown.filter(text => text !== this.text); }
  };
}"""


async def test_a_question_in_another_terminal_is_shown_outside_the_page_and_reached_by_a_shortcut(
    open_page: Open,
) -> None:
    view = await open_page()
    page = view.page
    icon = page.locator("link[rel=icon]")
    await call(view, "terminal.create", {"id": "quiet", "argv": ["sleep", "600"]})
    await page.evaluate(_ELSEWHERE)
    await call(view, "terminal.create", {"id": "asking", "argv": ["bash", "-c", "read -p 'Continue? ' x; read -s y"]})
    await view.until("() => window.shown.length === 1")
    assert await page.evaluate("() => window.shown") == ["asking is waiting for input: Continue?"]
    assert (await page.title()).startswith("(waiting) ")
    await expect(icon).to_have_attribute("href", "./mark-waiting.svg")
    await view.press("Control+Shift+L")
    await until_shown(view, "asking")
    await view.run("yes")
    await view.until("() => window.shown[0] === 'asking is waiting for input: A program asks for a password'")
    await view.press("Enter")
    await view.until("() => window.shown.length === 0")
    await expect(icon).to_have_attribute("href", "./mark.svg")
    assert "waiting" not in await page.title()


async def test_among_many_tabs_the_current_one_is_visible_and_the_strip_is_one_tab_stop(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    texts = [f"editor~path~file-{number}" for number in range(34)] + ["terminal~id~main"]
    await page.evaluate("texts => sessionStorage.setItem('hawse.tabs.local', JSON.stringify(texts))", texts)
    await page.reload()
    await view.until_live()
    await expect(tabs(page)).to_have_count(35)
    for width in (1440, 1024, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        await expect(page.locator("#tabs-all")).to_be_visible()
        await page.wait_for_function("""() => {
          const [list, tab] = ["#tab-list", "#tab-list li.current"].map(name =>
            document.querySelector(name).getBoundingClientRect());
          return tab.left >= list.left - 1 && tab.right <= list.right + 1;
        }""")
    focused = "() => document.querySelectorAll('#tab-list [tabindex=\"0\"]').length"
    assert await page.evaluate(focused) == 1
    await tab_of(page, "main").focus()
    index = "() => [...document.querySelectorAll('#tab-list a')].indexOf(document.activeElement)"
    for key, position in {"ArrowLeft": 33, "Home": 0, "ArrowRight": 1, "End": 34}.items():
        await page.keyboard.press(key)
        assert await page.evaluate(index) == position
    await page.locator("#tabs-all").click()
    items = page.get_by_role("menu", name="Tabs").get_by_role("menuitemcheckbox")
    await expect(items).to_have_count(35)
    await expect(items.nth(3)).to_have_text("file-3")
    await items.nth(3).click()
    await page.wait_for_function("() => document.querySelectorAll('#tab-list li')[3].classList.contains('current')")
