"""The view of recordings, and the pane that plays one."""

import re

import pytest
from playwright.async_api import expect

from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def record(view: View, title: str, text: str) -> None:
    """Record a command that prints `text`, from a prompt on, with a marker after it."""
    page = view.page
    await view.until_prompt()
    await page.get_by_role("textbox", name="Title of a new recording").fill(title)
    await page.keyboard.press("Enter")
    stop = page.get_by_role("button", name=f"Stop recording: {title}")
    await expect(stop).to_be_visible()
    await expect(page.locator("#recording")).to_be_visible()
    await page.locator(".xterm-helper-textarea").first.focus()
    await view.run(f"echo {text[:2]}''{text[2:]}")
    await view.until_text(text)
    await view.choose("Mark this moment")
    await expect(page.locator("#toast")).to_have_text("Marker added to the recording.")
    await stop.click()
    await expect(stop).to_have_count(0)


async def test_recordings_are_started_found_played_and_deleted_in_the_rail(open_page: Open) -> None:
    view = await open_page(width=1300)
    page = view.page
    await view.choose("Recordings")
    await expect(page.get_by_text("There are no recordings yet.")).to_be_visible()
    await record(view, "Release of May", "first")
    await record(view, "Tests", "second")
    items = page.get_by_role("list", name="Recordings").get_by_role("listitem")
    await expect(items).to_have_count(2)
    await page.get_by_role("searchbox", name="Find a recording").fill("may")
    await expect(items).to_have_count(1)
    await expect(items).to_contain_text("1 marker")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download: Release of May").click()
    assert (await download.value).suggested_filename.endswith(".cast")

    await page.get_by_role("button", name="Release of May").first.click()
    pane = page.get_by_role("region", name="Release of May")
    play = pane.get_by_role("button", name="Play")
    await expect(play).to_be_focused()
    await expect(pane.locator(".xterm-rows")).to_contain_text("$")
    await page.keyboard.press("End")
    await expect(pane.locator(".xterm-rows")).to_contain_text("first")
    await page.keyboard.press("Home")
    await expect(pane.locator(".xterm-rows")).not_to_contain_text("first")
    await pane.get_by_role("combobox", name="Speed").select_option("16")
    await play.focus()
    await page.keyboard.press("Space")
    await expect(pane.locator(".xterm-rows")).to_contain_text("first")
    await page.keyboard.press("Home")
    await pane.get_by_role("button", name=re.compile("^Marker ")).click()
    await expect(pane.locator(".xterm-rows")).to_contain_text("first")
    assert await serious(page) == []
    await page.wait_for_url("**recording~id~*")

    page.on("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Delete: Release of May").click()
    await expect(page.get_by_text("No recording has this title.")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("alert")).to_have_text("This recording does not exist. It may have been deleted.")


async def test_a_viewer_plays_recordings_and_cannot_change_them(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    await view.choose("Recordings")
    await record(view, "Demo", "shown")
    page = (await open_page(token=stack.viewer_token)).page
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="Recordings").click()
    await expect(page.get_by_role("button", name="Play Demo").or_(page.get_by_title("Play Demo"))).to_be_visible()
    await expect(page.get_by_role("button", name="Delete: Demo")).to_have_count(0)
    await expect(page.get_by_role("textbox", name="Title of a new recording")).to_have_count(0)
    await page.get_by_title("Play Demo").click()
    pane = page.get_by_role("region", name="Demo")
    await expect(pane.get_by_role("button", name="Play")).to_be_focused()
    await page.keyboard.press("End")
    await expect(pane.locator(".xterm-rows")).to_contain_text("shown")
