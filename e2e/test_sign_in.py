"""Sessions of browsers: no token stays in the page, several sessions in one browser, signing out."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from e2e.conftest import SWITCHES, Open
from e2e.view import View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

STORED = "() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])"


async def test_the_page_keeps_no_token_and_a_reloaded_or_new_tab_stays_signed_in(open_page: Open, stack: Stack) -> None:
    first = await open_page()
    stored = await first.page.evaluate(STORED)
    assert stack.token not in stored
    assert "hwc_" not in stored
    await first.page.reload()
    await first.until_live()
    second = View(await first.page.context.new_page())
    await second.page.goto(stack.base)
    await second.until_live()
    assert await second.page.evaluate("() => window.hawse.client.welcome.role") == "owner"
    (cookie,) = await first.page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


async def test_a_link_and_the_users_own_session_work_in_one_browser(open_page: Open, stack: Stack) -> None:
    own = await open_page()
    link = await own.page.evaluate(
        """() => window.hawse.client.call("share.create", { sandbox: "local", terminal: "main" }).then(r => r.path)"""
    )
    guest = View(await own.page.context.new_page())
    await guest.page.goto(stack.base + link)
    await guest.until_live()
    for view, role in ((guest, "viewer"), (own, "owner")):
        await view.page.reload()
        await view.until_live()
        assert await view.page.evaluate("() => window.hawse.client.welcome.role") == role


async def test_signing_out_ends_the_session_in_all_tabs(open_page: Open, stack: Stack) -> None:
    first = await open_page()
    second = View(await first.page.context.new_page())
    await second.page.goto(stack.base)
    await second.until_live()
    await first.choose("Sign out")
    for view in (first, second):
        await view.page.locator("#sign-in").wait_for()
    await second.page.reload()
    await second.page.locator("#sign-in").wait_for()
    await second.page.locator("#token").fill(stack.token)
    await second.page.keyboard.press("Enter")
    await second.until_live()


async def test_signing_out_needs_no_connection_of_the_page(open_page: Open) -> None:
    view = await open_page()
    await view.page.route_web_socket(re.compile("."), lambda socket: None)  # never answered
    await view.page.reload()
    await view.choose("Sign out")
    await view.page.locator("#sign-in").wait_for()


async def test_a_guest_whose_link_has_ended_reads_that_and_is_asked_for_no_token(open_page: Open, stack: Stack) -> None:
    own = await open_page()
    link = await own.page.evaluate(
        """() => window.hawse.client.call("share.create", { sandbox: "local", terminal: "main" })
          .then(({ path, info }) => ({ path, id: info.id }))"""
    )
    guest = await open_page(address=stack.base + link["path"])
    await own.page.evaluate("id => window.hawse.client.call('share.revoke', { id })", link["id"])
    late = View(await own.page.context.new_page())
    await late.page.goto(stack.base + link["path"])
    for view in (guest, late):
        notice = view.page.get_by_role("alertdialog", name="This link has ended")
        await expect(notice).to_contain_text("It was revoked or has expired. Ask the person who sent it for another")
        await expect(view.page.locator("#token")).to_be_hidden()
    await guest.page.reload()
    await expect(guest.page.locator("#link-ended")).to_be_visible()
    await guest.page.goto(f"{stack.base}/home.html")
    await expect(guest.page.locator("#token")).to_be_visible()  # at another address, the guest may sign in otherwise
    await late.page.reload()
    await late.until_live()  # with the session that this browser has of its own


async def test_a_browser_that_starts_again_is_still_signed_in(
    browser: Browser, chromium_path: str, stack: Stack, tmp_path: Path
) -> None:
    for address in (stack.url, stack.base):
        launch = browser.browser_type.launch_persistent_context
        context = await launch(tmp_path, executable_path=chromium_path, args=SWITCHES)
        view = View(await context.new_page())
        await view.page.goto(address)
        await view.until_live()
        await context.close()
