"""Sign-in with an OpenID provider: from the page to the provider and back, without a token in the browser."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from e2e.view import View
from tests.support.oidc_provider import CLIENT, SECRET, provider_process
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def signing_on(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """A gateway with a provider."""
    with provider_process() as provider:
        options = ["--oidc-issuer", provider.issuer, "--oidc-client-id", CLIENT, "--oidc-client-secret", SECRET]
        state = tmp_path_factory.mktemp("g") / "state"
        async with Stack(state, *options, "--oidc-role", "admins=owner") as stack:
            yield stack


async def test_a_user_signs_in_with_the_provider_and_stays_signed_in(browser: Browser, signing_on: Stack) -> None:
    context = await browser.new_context()
    try:
        view = View(await context.new_page())
        page = view.page
        await page.goto(f"{signing_on.base}/?terminal=by-ada")
        await page.get_by_role("link", name="Sign in with 127.0.0.1:").click()
        await page.get_by_label("User").fill("ada")
        await page.get_by_role("button", name="Continue").click()
        await view.until_live()
        assert page.url == f"{signing_on.base}/?terminal=by-ada"
        assert await page.evaluate("() => window.hawse.client.welcome.identity") == "248289"
        await page.reload()
        await view.until_live()
        kept = "() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"
        assert "hwc_" not in await page.evaluate(kept)
        cookies = {cookie["name"]: cookie for cookie in await context.cookies(signing_on.base)}
        assert len(cookies) == 1  # that of the login is deleted
        (session,) = cookies.values()
        assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
    finally:
        await context.close()


async def test_a_user_without_a_role_is_refused_and_may_try_again(browser: Browser, signing_on: Stack) -> None:
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(signing_on.base)
        await page.get_by_role("link", name="Sign in with 127.0.0.1:").click()
        await page.get_by_label("User").fill("bob")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_text("your account has no role at this gateway").wait_for()
        await page.get_by_role("link", name="Try again").click()
        await page.get_by_role("link", name="Sign in with 127.0.0.1:").wait_for()
    finally:
        await context.close()
