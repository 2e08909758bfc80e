"""The view of processes, and the pane with a log."""

import pytest
from playwright.async_api import expect

import hawse
from e2e.conftest import Open
from e2e.view import WAIT
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def test_processes_are_listed_with_their_logs_and_stopped(open_page: Open, stack: Stack) -> None:
    view = await open_page(width=1300)
    page = view.page
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        async with (
            box.processes.start("echo rea''dy; exec sleep 1000", id="web"),
            box.processes.start("exit 3", id="broken"),
        ):
            await view.press("Control+Shift+B")
            await page.get_by_role("navigation", name="Views").get_by_role("button", name="Processes").click()
            items = page.get_by_role("list", name="Processes").get_by_role("listitem")
            await expect(items.filter(has_text="broken")).to_contain_text("exit 3")
            await expect(items.filter(has_text="web")).to_contain_text("MiB")
            await page.get_by_role("button", name="Log of web").click()
            await expect(page.locator(".log .xterm-rows")).to_contain_text("ready")
            await page.get_by_role("button", name="Stop web").click()
            await expect(page.locator(".log .xterm-rows")).to_contain_text("[ended]")
            await expect(items.filter(has_text="web")).to_contain_text("SIGTERM")
