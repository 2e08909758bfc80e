"""The pane with a desktop: it is started, used, shared, and shown again after a reload and a restart of the gateway."""

import asyncio

import pytest
from playwright.async_api import Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from hawse.client import Sandbox
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
XTERM = ["xterm", "-maximized", "-bg", "white", "-e", "sh", "-c", "while read line; do echo $line >> typed.txt; done"]


async def open_desktop(view: View) -> Page:
    await view.press("Control+Shift+K")
    await expect(view.page.get_by_role("combobox", name="Find a command")).to_be_focused()
    await view.type("open the desktop")
    await expect(view.page.get_by_role("option").first).to_contain_text("Open the desktop")
    await view.press("Enter")
    return view.page


async def until_typed(box: Sandbox, text: str) -> None:
    async with asyncio.timeout(WAIT / 1000):
        while (await box.exec("cat typed.txt 2>/dev/null")).stdout.decode() != text:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def until_window(box: Sandbox) -> None:
    async with asyncio.timeout(WAIT / 1000):
        while not any(window.active for window in await box.desktop.windows()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_desktop_is_started_used_and_shown_again_after_a_reload(open_page: Open, stack: Stack) -> None:
    view = await open_page(width=1300)
    page = await open_desktop(view)
    await page.get_by_role("button", name="Start a desktop").click()
    canvas = page.locator(".view.desktop canvas")
    await expect(canvas).to_be_visible()
    assert await serious(page) == []
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.desktop.launch(XTERM)
        await until_window(box)
        await canvas.click()
        await page.keyboard.type("Hello")
        await page.keyboard.press("Enter")
        await until_typed(box, "Hello\n")
        await page.reload()
        await canvas.click()
        await page.keyboard.type("again")
        await page.keyboard.press("Enter")
        await until_typed(box, "Hello\nagain\n")
        await page.get_by_role("button", name="Fit the pane").click()
        async with asyncio.timeout(WAIT / 1000):
            while (await box.desktop.list())[0].width == 1280:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await page.get_by_role("button", name="Stop the desktop").click()
        await expect(page.get_by_text("There is no desktop.")).to_be_visible()
    assert view.errors == []


async def test_the_desktop_is_in_the_menu_of_what_can_be_opened(open_page: Open) -> None:
    view = await open_page(width=1300)
    item = view.page.get_by_role("menuitem", name="Open the desktop")
    await view.page.get_by_role("button", name="New…").click()
    await expect(view.page.get_by_role("menuitem", name="New terminal")).to_be_focused()
    await expect(item).to_be_visible()
    await view.press("End")
    await expect(item).to_be_focused()
    await view.press("Enter")
    await expect(view.page.get_by_role("button", name="Start a desktop")).to_be_visible()
    await view.page.get_by_role("button", name="New…").click()
    await expect(item).to_have_count(1)
    assert view.errors == []


async def test_the_pane_connects_again_after_a_restart_of_the_gateway(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().desktop.start()
    view = await open_page(width=1300)
    page = await open_desktop(view)
    canvas = page.locator(".view.desktop canvas")
    await expect(canvas).to_be_visible()
    await stack.kill()
    await expect(canvas).to_be_hidden()
    await stack.start()
    await expect(canvas).to_be_visible()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().desktop.stop()


async def test_one_viewer_takes_control_and_who_may_only_view_has_no_tools(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().desktop.start()
        token = (await hw.tokens.create("viewer", role="viewer")).token
    first = await open_desktop(await open_page(width=1300))
    second = await open_desktop(await open_page(width=1300))
    await first.get_by_role("button", name="Take control").click()
    await expect(second.get_by_text("Someone else has control")).to_be_visible()
    await first.get_by_role("button", name="Let everyone type").click()
    await expect(second.get_by_text("Someone else has control")).to_have_count(0)
    watcher = await open_desktop(await open_page(width=1300, token=token))
    await expect(watcher.get_by_text("View only", exact=True)).to_be_visible()
    await expect(watcher.locator(".view.desktop canvas")).to_be_visible()
    await expect(watcher.get_by_role("button", name="Stop the desktop")).to_have_count(0)
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().desktop.stop()


async def test_a_desktop_is_recorded_and_played_in_the_page(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.desktop.start(width=640, height=400)
        view = await open_page(width=1300)
        page = await open_desktop(view)
        await page.get_by_role("button", name="Record the desktop").click()
        await expect(page.get_by_text("Being recorded")).to_be_visible()
        await box.desktop.launch(["xterm", "-geometry", "20x5+0+0", "-bg", "#ff0000"])
        await until_window(box)
        [info] = await box.recordings.list()
        # Another change, after which the first one is recorded: nothing is written while nothing changes.
        await box.desktop.launch(["xterm", "-geometry", "20x5+300+200", "-bg", "#ff0000"])
        async with asyncio.timeout(WAIT / 1000):
            while (now := await box.recordings.get(info.id)).size == info.size:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert now.desktop == "main"
        await page.get_by_role("button", name="Stop recording").click()
        await expect(page.get_by_text("Being recorded")).to_have_count(0)
        await box.desktop.stop()
    await page.keyboard.press("Control+Shift+B")
    await page.get_by_role("navigation", name="Views").get_by_role("button", name="Recordings").click()
    await page.get_by_title("Play Desktop main").click()
    screen = page.get_by_role("img", name="Screen of the recording")
    await expect(screen).to_have_attribute("width", "640")
    await page.get_by_role("slider", name="Position").press("End")
    red = """canvas => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let at = 0; at < data.length; at += 4) found += data[at] === 255 && data[at + 1] === 0;
      return found;
    }"""
    async with asyncio.timeout(WAIT / 1000):
        while await screen.evaluate(red) < 1000:  # noqa: ASYNC110  # a canvas reports nothing
            await asyncio.sleep(0.05)
    assert await serious(page) == []
    await page.get_by_role("link", name="Open as a page: Desktop main").click()
    await expect(page.get_by_text("Desktop main @ local")).to_be_visible()
    await expect(screen).to_have_attribute("width", "640")
    await page.evaluate("() => window.playback.player.seek(window.playback.player.duration)")
    async with asyncio.timeout(WAIT / 1000):
        while await screen.evaluate(red) < 1000:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert await serious(page) == []
    assert view.errors == []
