"""Keyboard only: every control is reached with Tab, shows the focus, and dialogs return it."""

import pytest
from playwright.async_api import Locator, Page, expect

import hawse
from e2e.conftest import Open
from e2e.view import WAIT
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
STEPS = 150  # more than the controls of a page

# The controls that are shown, and their looks without the focus. Of a group with arrow keys (a menu, a tree, radio
# buttons), Tab reaches one.
_CONTROLS = """() => {
  const group = "[role=tree], [role=menu], [role=listbox], [role=radiogroup], [role=tablist]";
  const look = element => [undefined, "::before", "::after"].map(part => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor } =
      getComputedStyle(element, part);
    return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, boxShadow, borderColor, backgroundColor].join();
  }).join();
  window.look = look;
  document.activeElement?.blur();
  const root = document.querySelector("dialog[open]") ?? document.body;
  const all = [...root.querySelectorAll("button, a[href], input, select, textarea, [tabindex='0'], [role=separator]")];
  const shown = all.filter(element => element.checkVisibility({ visibilityProperty: true }) && !element.disabled
    && !element.closest(".xterm, .cm-editor, [inert]") && element.tabIndex !== -1
    && !(element.closest(group) && element.tabIndex < 0) && element.type !== "radio");
  shown.forEach((element, number) => {
    element.dataset.control = number;
    element.dataset.look = look(element);
  });
  return shown.map(element => [element.dataset.control, element.outerHTML.slice(0, 160)]);
}"""
_FOCUSED = """() => {
  const { activeElement } = document;
  return [activeElement.dataset.control ?? "", window.look(activeElement) !== activeElement.dataset.look];
}"""


async def unreached(page: Page) -> list[str]:
    """Return the controls that Tab does not reach or does not mark, in each of three walks: one may be drawn anew."""
    for _ in range(3):
        if not (found := await _walk(page)):
            return []
    return found


async def _walk(page: Page) -> list[str]:
    """Press Tab until the focus has been everywhere; return the controls that it does not reach or does not mark."""
    controls = dict(await page.evaluate(_CONTROLS))
    assert controls
    marked: dict[str, bool] = {}
    for key in ("Tab", "Shift+Tab"):  # a terminal takes Tab: what is before it is reached backwards
        for _ in range(STEPS):
            await page.keyboard.press(key)
            number, shows = await page.evaluate(_FOCUSED)
            if await page.evaluate("() => document.activeElement.closest('.xterm, .cm-editor') !== null"):
                await page.keyboard.press(key.replace("Tab", "Control+F6"))  # Tab is typed there
                number, shows = await page.evaluate(_FOCUSED)
            if number:
                marked[number] = marked.get(number, False) or shows
            if len(marked) == len(controls):
                break
    return [html for number, html in controls.items() if number not in marked] + [
        f"no focus is shown: {controls[number]}" for number, shows in marked.items() if not shows
    ]


def dialog(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name)


@pytest.mark.parametrize("width", [1300, 390])
async def test_every_control_of_the_page_is_reached_and_shows_the_focus(open_page: Open, width: int) -> None:
    view = await open_page(width=width, height=844)
    page = view.page
    assert await unreached(page) == []
    await page.keyboard.press("Control+Shift+B")
    for name in ("Files", "Search", "Processes", "Ports", "Recordings", "People"):
        await page.get_by_role("navigation", name="Views").get_by_role("button", name=name).click()
        await page.get_by_role("heading", name=name).wait_for()
        assert await unreached(page) == [], name


async def test_the_buttons_of_a_pane_that_is_not_active_are_reached(open_page: Open, stack: Stack) -> None:
    view = await open_page(width=1300)
    page = view.page
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write_text("notes.txt", "some text\n")
    await page.goto(f"{stack.base}/?sandbox=local&layout=row(50:terminal~id~main,50:editor~path~notes.txt)")
    await expect(page.locator(".cm-content")).to_contain_text("some text")
    await view.until_live()  # then the page gives the active pane the focus
    first = page.locator(".pane-close").first
    await page.locator(".cm-content").focus()
    await page.locator("#more").focus()
    await page.keyboard.press("Tab")
    await expect(first).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.locator(".xterm-helper-textarea")).to_be_focused()
    for name in ("Changes", "Edit"):
        await page.locator(".xterm-helper-textarea").focus()
        button = page.get_by_role("button", name=name, exact=True)
        await button.focus()
        await expect(button).to_be_focused()


async def test_a_dialog_returns_the_focus_to_where_the_keyboard_was(open_page: Open) -> None:
    page = (await open_page()).page
    terminal = page.locator(".xterm-helper-textarea").first
    share = page.get_by_role("button", name="Share", exact=True)
    shortcuts = (
        ("Control+,", "Settings"),
        ("Control+Shift+K", "Find a command"),
        ("Control+Shift+?", "Keyboard shortcuts"),
    )
    for before in (terminal, share):
        for keys, name in shortcuts:
            await before.focus()
            await page.keyboard.press(keys)
            await expect(dialog(page, name)).to_be_visible()
            if name != "Find a command":  # there, Tab stays in the field, and the arrow keys choose
                assert await unreached(page) == [], name
            await page.keyboard.press("Escape")
            await expect(before).to_be_focused()
    for button, name in ((share, "Share"), (page.locator("#sandboxes"), "Sandboxes")):
        await button.focus()
        await page.keyboard.press("Enter")
        await expect(dialog(page, name)).to_be_visible()
        assert await unreached(page) == [], name
        await dialog(page, name).get_by_role("button", name="Close").first.focus()
        await page.keyboard.press("Escape")
        await expect(button).to_be_focused()
    await share.click()  # with the mouse: the user goes on in the terminal
    await expect(dialog(page, "Share")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(terminal).to_be_focused()


async def test_every_control_of_home_is_reached_and_shows_the_focus(open_page: Open, stack: Stack) -> None:
    page = (await open_page()).page
    await page.goto(f"{stack.base}/home.html")
    await page.get_by_role("link", name="local").wait_for()
    assert await unreached(page) == []
    new = page.get_by_role("button", name="New sandbox")
    await new.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    assert await unreached(page) == []
    await page.get_by_label("Name", exact=True).focus()
    await page.keyboard.press("Escape")
    await expect(new).to_be_focused()


async def test_a_press_on_the_tab_or_between_the_buttons_leaves_the_focus_in_the_terminal(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.run("cd /tmp")
    await expect(page.locator("#status-line .directory")).to_have_text("/tmp")
    await page.get_by_role("navigation", name="Terminals").get_by_role("link", name="main").click()
    await view.run("echo a''b")
    await view.until_text("ab")
    await view.until("() => document.querySelector('.command-bar') !== null")
    await page.locator("#status-line .directory").click()
    await view.run("echo c''d")
    await view.until_text("cd")


async def test_a_text_field_of_the_rail_keeps_the_focus_when_the_page_has_reconnected(
    open_page: Open, stack: Stack
) -> None:
    view = await open_page()
    page = view.page
    await view.press("Control+Shift+B")
    await page.get_by_role("navigation", name="Views").get_by_role("button", name="Search").click()
    field = page.get_by_role("searchbox", name="Find in files")
    await expect(field).to_be_focused()
    await stack.kill()
    await view.until("() => window.hawse.state().connection !== 'live'")
    await stack.start()
    await view.until_live()
    await page.keyboard.type("text")
    await expect(field).to_have_value("text")
