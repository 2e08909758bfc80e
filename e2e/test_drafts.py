"""Unsaved text of the editor and of notebooks survives whatever happens to its page, and is its author's alone."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest
from playwright.async_api import Browser, Dialog, Page, Playwright, async_playwright, expect

import hawse
from e2e.conftest import SWITCHES, Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
# Whether the browser's database has a text; null: whether it has none.
_KEPT = """async text => {
  const open = indexedDB.open("hawse.drafts");
  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(open);
  if (!database.objectStoreNames.contains("texts")) return database.close();
  const texts = await done(database.transaction("texts").objectStore("texts").getAll());
  database.close();
  return text === null ? texts.length === 0 : texts.some(each => each.includes(text));
}"""


async def write(stack: Stack, path: str, text: str) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write_text(path, text)


async def token_of_another_user(stack: Stack) -> str:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        created = await hw.call(
            "token.create", {"name": "eve", "role": "operator", "sandboxes": ["local"], "user": "eve"}
        )
    return str(created["token"])


def address(stack: Stack, path: str = "notes.txt") -> str:
    return f"{stack.base}/?layout=row(50:terminal~id~main,50:editor~path~{path})#token={stack.token}"


async def edit(view: View, text: str, path: str = "notes.txt") -> None:
    field = view.page.get_by_role("textbox", name=path)
    await expect(field).to_be_visible()
    await field.press("Control+End")
    await view.page.keyboard.type(text)
    await expect(field).to_contain_text(text)


async def expect_restored(page: Page, text: str, path: str = "notes.txt") -> None:
    await expect(page.get_by_role("textbox", name=path)).to_contain_text(text)
    await expect(page.get_by_text("Your unsaved changes from")).to_be_visible()


async def test_unsaved_text_survives_a_reload_a_navigation_and_a_closed_page(open_page: Open, stack: Stack) -> None:
    await write(stack, "notes.txt", "on disk\n")
    view = await open_page(address=address(stack))
    page = view.page
    await edit(view, "first")
    await page.reload()  # at once: nothing asks, and nothing is lost
    await expect_restored(page, "first")
    await edit(view, " second")
    await page.goto(f"{stack.base}/home.html")
    await page.go_back()
    await expect_restored(page, "first second")
    await edit(view, " third")
    await page.close(run_before_unload=True)
    other = View(await page.context.new_page())
    await other.page.goto(stack.base)
    await other.until_live()
    await expect(other.page.get_by_text("This browser has unsaved changes in notes.txt")).to_be_visible()
    await other.page.get_by_role("button", name="Open", exact=True).click()
    await expect_restored(other.page, "first second third")
    await other.page.get_by_role("button", name="Save", exact=True).click()
    await other.until(_KEPT, None)
    await other.page.reload()
    await expect(other.page.get_by_role("textbox", name="notes.txt")).to_contain_text("first second third")
    await expect(other.page.get_by_text("Your unsaved changes")).to_have_count(0)


class Chromium:
    """A browser in its own process group, which can be killed and started again with the same profile."""

    def __init__(self, path: str, profile: Path) -> None:
        self._path = path
        self._profile = profile

    async def start(self, playwright: Playwright) -> Browser:
        port = self._profile / "DevToolsActivePort"
        port.unlink(missing_ok=True)
        switches = [*SWITCHES, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self._profile}"]
        self._process = await asyncio.create_subprocess_exec(
            self._path, *switches, start_new_session=True, stdout=DEVNULL, stderr=DEVNULL
        )
        async with asyncio.timeout(WAIT / 1000):
            while not port.exists() or len(port.read_text().split()) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port.read_text().split()[0]}")

    async def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()


async def test_unsaved_text_survives_the_death_of_the_browser(stack: Stack, chromium_path: str, tmp_path: Path) -> None:
    await write(stack, "notes.txt", "on disk\n")
    chromium = Chromium(chromium_path, tmp_path / "profile")
    async with async_playwright() as playwright:
        try:
            browser = await chromium.start(playwright)
            view = View(await browser.contexts[0].new_page())
            await view.page.goto(address(stack))
            await edit(view, "typed before the end")
            await view.until(_KEPT, "typed before the end")
            await chromium.kill()
            browser = await chromium.start(playwright)
            page = await browser.contexts[0].new_page()
            await page.goto(address(stack))
            await expect_restored(page, "typed before the end")
        finally:
            await chromium.kill()


async def type_in_cell(page: Page, number: int, text: str) -> None:
    cell = page.get_by_role("textbox", name=f"Source of cell {number}", exact=True)
    await cell.click()
    await page.keyboard.insert_text(text)
    await expect(cell).to_contain_text(text)


async def test_a_notebook_survives_the_death_of_the_browser_and_is_its_authors_alone(
    stack: Stack, chromium_path: str, tmp_path: Path
) -> None:
    notebook = f"{stack.base}/?layout=row(50:terminal~id~main,50:notebook~id~nb-draft)#token="
    other = await token_of_another_user(stack)
    chromium = Chromium(chromium_path, tmp_path / "profile")
    async with async_playwright() as playwright:
        try:
            browser = await chromium.start(playwright)
            view = View(await browser.contexts[0].new_page())
            page = view.page
            await page.goto(notebook + stack.token)
            await type_in_cell(page, 1, "answer = input('Go on? ')")
            await page.keyboard.press("Shift+Enter")
            await expect(page.get_by_role("textbox", name="Go on?")).to_be_visible()
            await type_in_cell(page, 2, "print(answer, 'was queued')")
            await page.keyboard.press("Shift+Enter")
            await type_in_cell(page, 3, "typed before the end")
            await view.until(_KEPT, "typed before the end")
            await chromium.kill()
            browser = await chromium.start(playwright)
            page = await browser.contexts[0].new_page()
            await page.goto(notebook + stack.token)
            cells = page.get_by_role("textbox", name=re.compile("^Source of cell"))
            await expect(cells).to_contain_text(["answer = input", "was queued", "typed before the end"])
            await page.goto("about:blank")
            await page.goto(notebook + other)  # runs are the sandbox's, unsaved text is its author's
            await expect(cells.filter(has_text="answer = input")).to_have_count(1)
            await expect(cells.filter(has_text="typed before the end")).to_have_count(0)
            await page.goto("about:blank")
            await page.goto(notebook + stack.token)
            await page.get_by_role("textbox", name="Go on?").fill("yes")
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("group", name="Output of cell 2")).to_contain_text("yes was queued")
            await expect(cells.nth(2)).to_contain_text("typed before the end")
        finally:
            await chromium.kill()


async def test_a_file_that_has_changed_meanwhile_or_is_gone_is_a_conflict(open_page: Open, stack: Stack) -> None:
    await write(stack, "notes.txt", "on disk\n")
    view = await open_page(address=address(stack))
    page = view.page
    await edit(view, "mine")
    await page.goto("about:blank")
    await write(stack, "notes.txt", "theirs\n")
    await page.goto(address(stack))
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("This file has changed in the sandbox.")
    await expect_restored(page, "mine")
    await alert.get_by_role("button", name="Compare").click()
    await expect(page.get_by_role("region", name="Changes")).to_contain_text("theirs")
    await alert.get_by_role("button", name="Discard mine").click()
    await expect(page.get_by_role("textbox", name="notes.txt")).to_contain_text("theirs")
    await view.until(_KEPT, None)
    await edit(view, "again mine")
    await page.goto("about:blank")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.delete("notes.txt")
    await page.goto(address(stack))
    await expect(alert).to_contain_text("This file no longer exists.")
    await alert.get_by_role("button", name="Create it again").click()
    await expect(alert).to_have_count(0)
    async with hawse.connect(stack.base, token=stack.token) as hw:
        assert await hw.sandbox().files.read_text("notes.txt") == "theirs\nagain mine"


async def test_two_tabs_with_one_file_keep_a_draft_each(open_page: Open, stack: Stack) -> None:
    await write(stack, "notes.txt", "on disk\n")
    first = await open_page(address=address(stack))
    second = View(await first.page.context.new_page())
    await second.page.goto(address(stack))
    await second.until_live()
    await edit(first, "of the first")
    await edit(second, "of the second")
    for view in (first, second):
        await view.page.reload()
    await expect_restored(first.page, "of the first")
    await expect_restored(second.page, "of the second")


async def test_another_user_of_the_browser_does_not_find_the_text(open_page: Open, stack: Stack) -> None:
    await write(stack, "notes.txt", "on disk\n")
    other = await token_of_another_user(stack)
    view = await open_page(address=address(stack))
    page = view.page
    await edit(view, "secret")
    guest = address(stack).replace(stack.token, other)
    await page.goto("about:blank")
    await page.goto(guest)
    await expect(page.get_by_role("textbox", name="notes.txt")).to_have_text("on disk")
    await edit(view, "of the guest")
    await page.goto("about:blank")
    await page.goto(address(stack))
    await expect_restored(page, "secret")
    await expect(page.get_by_text("of the guest")).to_have_count(0)
    await view.until_live()
    await view.choose("Sign out")
    question = page.get_by_role("alertdialog", name="Sign out and lose unsaved changes?")
    await question.get_by_role("button", name="Stay").click()
    await view.choose("Sign out")
    await question.get_by_role("button", name="Sign out").click()
    await page.locator("#sign-in").wait_for()
    await expect(page.get_by_text("secret")).to_have_count(0)
    await page.goto("about:blank")
    await page.goto(address(stack))
    await expect(page.get_by_role("textbox", name="notes.txt")).to_contain_text("on disk")
    await view.until_live()
    await expect(page.get_by_text("Your unsaved changes")).to_have_count(0)


async def test_the_browser_asks_only_if_it_cannot_keep_the_text(open_page: Open, stack: Stack) -> None:
    await write(stack, "notes.txt", "on disk\n")
    view = await open_page(address=address(stack))
    page = view.page
    await page.add_init_script("IDBFactory.prototype.open = () => { throw new Error('forbidden'); }")
    await page.reload()
    await edit(view, "mine")
    asked: list[str] = []

    async def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.dismiss()

    page.on("dialog", stay)
    await view.until("() => !document.hidden")
    async with asyncio.timeout(WAIT / 1000):
        while not asked:
            await page.evaluate("() => location.assign('home.html')")
            await asyncio.sleep(0.05)
    assert asked[0] == "beforeunload"
    await expect(page.get_by_role("textbox", name="notes.txt")).to_contain_text("mine")
