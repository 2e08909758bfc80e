"""The page's theme: from the first paint on, when the system's changes, and after the user has chosen one."""

from typing import Literal

import pytest
from playwright.async_api import Browser, BrowserContext

from e2e.conftest import Open
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

DARK, LIGHT = "rgb(11, 15, 20)", "rgb(236, 239, 243)"
_BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"
_BACKGROUND_IS = "colour => getComputedStyle(document.body).backgroundColor === colour"
_IS_LIGHT = "() => window.hawse.terminal.options.theme.background === '#fbfcfd'"
_IS_DARK = "() => window.hawse.terminal.options.theme.background === '#0e131a'"


async def background_without_modules(context: BrowserContext, address: str) -> str:
    """Return the page's background colour while none of its modules has run."""
    page = await context.new_page()
    await page.route("**/assets/*.js", lambda route: route.abort())
    await page.goto(address)
    return await page.evaluate(_BACKGROUND)


@pytest.mark.parametrize(("system", "expected"), [("light", LIGHT), ("dark", DARK)])
@pytest.mark.parametrize("query", ["", "?recording=none"])
async def test_the_page_has_the_systems_theme_before_its_modules_run(
    browser: Browser, stack: Stack, system: Literal["dark", "light"], expected: str, query: str
) -> None:
    context = await browser.new_context(color_scheme=system)
    assert await background_without_modules(context, f"{stack.base}/{query}") == expected
    await context.close()


async def test_the_page_has_the_chosen_theme_before_its_modules_run(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context(color_scheme="dark")
    await context.add_init_script("""localStorage.setItem("hawse.settings", '{"theme":"light"}')""")
    assert await background_without_modules(context, f"{stack.base}/") == LIGHT
    await context.close()


async def test_the_theme_follows_the_system_until_the_user_chooses_one(open_page: Open) -> None:
    view = await open_page()
    await view.page.emulate_media(color_scheme="dark")
    await view.until(_IS_DARK)
    await view.until(_BACKGROUND_IS, DARK)
    await view.choose("Larger text")  # storing another setting must not store the theme
    await view.page.emulate_media(color_scheme="light")
    await view.until(_IS_LIGHT)
    await view.until(_BACKGROUND_IS, LIGHT)
    await view.choose("Light theme")
    await view.until(_IS_DARK)
    await view.page.reload()
    await view.until_live()
    assert await view.page.evaluate(_BACKGROUND) == DARK
