"""The settings of the terminals: colours, font, size, and what is kept for the next page."""

import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

_BACKGROUND_IS = "colour => window.hawse.terminal.options.theme.background === colour"
THEME = {
    "colors": {
        "editor.background": "#101820",
        "terminal.foreground": "#e0e8f0",
        "terminal.ansiRed": "#ff4050",
        "terminal.ansiGreen": "#40d080",
        "terminal.ansiBlue": "#5090ff",
    }
}


async def open_settings(view: View) -> None:
    await view.press("Control+,")
    await view.page.get_by_role("dialog", name="Settings").wait_for()


async def test_a_scheme_is_chosen_imported_and_kept(open_page: Open, tmp_path: Path) -> None:
    view = await open_page(width=1280)
    page = view.page
    await page.emulate_media(color_scheme="dark")
    await open_settings(view)
    await page.get_by_role("button", name="Nord", exact=True).click()
    await view.until(_BACKGROUND_IS, "#2e3440")
    await page.emulate_media(color_scheme="light")  # the scheme has a variant for the light page
    await view.until(_BACKGROUND_IS, "#e5e9f0")
    await page.emulate_media(color_scheme="dark")
    file = tmp_path / "Deep Sea.json"
    file.write_text("// a theme of VS Code\n" + json.dumps(THEME))
    await page.locator("input[type=file]").set_input_files(file)
    await view.until(_BACKGROUND_IS, "#101820")
    await expect(page.get_by_text("Deep Sea is used while the page is dark.")).to_be_visible()
    file.write_text("no theme")
    await page.locator("input[type=file]").set_input_files(file)
    await expect(page.get_by_text("neither an iTerm2 scheme")).to_be_visible()
    await page.reload()
    await view.until_live()
    await view.until(_BACKGROUND_IS, "#101820")
    await open_settings(view)
    await page.get_by_role("button", name="Remove Deep Sea").click()
    await view.until(_BACKGROUND_IS, "#0e131a")


async def test_font_and_size_change_at_once_and_the_keyboard_returns(open_page: Open) -> None:
    view = await open_page(width=1280)
    page = view.page
    cols = (await view.state())["cols"]
    await open_settings(view)
    await page.get_by_role("button", name="Larger").click()
    await page.get_by_role("button", name="Larger").click()
    await view.until("cols => window.hawse.state().cols < cols", cols)
    await page.get_by_label("Font").fill("No Such Font")
    await page.get_by_label("Font").press("Enter")
    await expect(page.get_by_text("This system has no font No Such Font")).to_be_visible()
    await page.get_by_label("Font").fill("DejaVu Sans Mono")
    await page.get_by_label("Font").press("Enter")
    await view.until("() => window.hawse.terminal.options.fontFamily.startsWith('\"DejaVu Sans Mono\"')")
    await page.get_by_role("button", name="Dark", exact=True).click()
    await view.until(_BACKGROUND_IS, "#0e131a")
    await view.press("Escape")
    await view.run("echo typed a''gain")
    await view.until_text("typed again")
    await page.reload()
    await view.until_live()
    # Smaller for a moment, until the terminal has the size that fits.
    await view.until("() => window.hawse.terminal.options.fontSize === 16")
    assert view.errors == []


@pytest.mark.parametrize(("width", "height", "touch"), [(1440, 900, False), (390, 844, True)])
async def test_the_settings_have_nothing_that_axe_finds(open_page: Open, width: int, height: int, touch: bool) -> None:
    view = await open_page(width=width, height=height, touch=touch)
    await view.choose("Settings")
    await view.page.get_by_role("dialog", name="Settings").wait_for()
    assert await serious(view.page) == []
