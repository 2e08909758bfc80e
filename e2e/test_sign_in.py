"""Sessions of browsers: no token stays in the page, several sessions in one browser, signing out."""

import pytest

from e2e.conftest import Open
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
