"""Search in files, and opening a file by its name."""

import pytest
from playwright.async_api import Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def write_files(stack: Stack) -> None:
    lines = [f"value_{number} = {number}" for number in range(1, 301)]
    files = {
        "src/app.py": "\n".join([*lines, "def Needle(): ...", ""]),
        "src/other.py": "# a needle in a haystack\n",
        "docs/notes.md": "needle (1)\n",
        "node_modules/x/index.js": "needle\n",
    }
    async with hawse.connect(stack.base, token=stack.token) as hw:
        for path, text in files.items():
            await hw.sandbox().files.write(path, text.encode())


async def show_search(view: View) -> Page:
    await view.press("Control+Shift+B")
    await view.page.get_by_role("navigation", name="Views").get_by_role("button", name="Search").click()
    await expect(view.page.get_by_role("searchbox", name="Find in files")).to_be_focused()
    return view.page


async def test_lines_are_found_and_opened_in_the_editor(open_page: Open, stack: Stack) -> None:
    await write_files(stack)
    view = await open_page(width=1300)
    page = await show_search(view)
    await view.type("needle")
    results = page.get_by_role("list", name="Results").get_by_role("listitem")
    await expect(results).to_have_count(3)
    await expect(page.get_by_text("3 lines in 3 files")).to_be_visible()
    assert await serious(page) == []
    await page.get_by_role("button", name="Match case").click()
    await expect(results).to_have_count(2)
    await page.get_by_role("textbox", name="Only in files (globs)").fill("*.md")
    await expect(results).to_have_count(1)
    await page.get_by_role("button", name="Match case").click()
    await page.get_by_role("textbox", name="Only in files (globs)").fill("src/app.py")
    field = page.get_by_role("searchbox", name="Find in files")
    await field.fill("needle(")
    await expect(results).to_contain_text("301")
    await page.get_by_role("button", name="Regular expression").click()
    await expect(page.get_by_role("alert")).to_contain_text("missing )")
    await field.fill(r"needle\(")
    await expect(results).to_contain_text("def Needle()")
    await field.press("ArrowDown")
    await page.keyboard.press("Enter")
    text = page.get_by_role("textbox", name="src/app.py")
    await expect(text).to_be_focused()
    await expect(text.locator(".cm-activeLine")).to_have_text("def Needle(): ...")
    await expect(text.locator(".cm-activeLine")).to_be_in_viewport()
    # Another line of the same file is shown in the same pane.
    await field.fill(r"value_7 ")
    await page.get_by_role("button", name="value_7 = 7").click()
    await expect(text.locator(".cm-activeLine")).to_have_text("value_7 = 7")
    await expect(page.locator(".pane:visible")).to_have_count(2)


async def test_a_file_is_opened_by_a_part_of_its_name(open_page: Open, stack: Stack) -> None:
    await write_files(stack)
    view = await open_page(width=1300)
    page = view.page
    await view.press("Control+Shift+P")
    await expect(page.get_by_role("combobox", name="Open a file")).to_be_focused()
    await expect(page.get_by_role("option", name="node_modules")).to_have_count(0)
    await view.type("not md")
    await expect(page.get_by_role("option").first).to_contain_text("docs/notes.md")
    assert await serious(page) == []
    await view.press("Enter")
    await expect(page.get_by_role("textbox", name="docs/notes.md")).to_be_focused()
    await view.press("Control+Shift+K")
    await expect(page.get_by_role("combobox", name="Find a command")).to_be_focused()
    await view.type("show search")
    await view.press("Enter")
    await expect(page.get_by_role("searchbox", name="Find in files")).to_be_visible()


async def test_a_viewer_cannot_search(open_page: Open, stack: Stack) -> None:
    await open_page()
    view = await open_page(token=stack.viewer_token)
    page = await show_search(view)
    await view.type("needle")
    await expect(page.get_by_role("alert")).to_have_text("You are not allowed to search in this sandbox.")


async def test_a_file_is_found_among_more_than_are_shown(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        many = "mkdir -p many site/src; cd many; seq -f 'mod%.0f' 50000 | xargs touch; touch ../site/src/mod1.ts"
        await box.exec(many, check=True)
    view = await open_page(width=1300)
    page = view.page
    await view.press("Control+Shift+P")
    field = page.get_by_role("combobox", name="Open a file")
    await expect(field).to_be_focused()
    await view.type("mod1")
    await expect(page.get_by_role("option", name="site/src/mod1.ts")).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="The first 1,0")).to_be_visible()
    await field.fill("mod1 SITE")
    await expect(page.get_by_role("option")).to_have_count(1)
    assert await serious(page) == []
    await field.fill("nowhere at all")
    await expect(page.get_by_role("status").filter(has_text="node_modules")).to_be_visible()
    await field.fill("mod49999")
    await expect(page.get_by_role("option").first).to_contain_text("many/mod49999")
    await view.press("Enter")
    await expect(page.get_by_role("textbox", name="many/mod49999")).to_be_focused()
