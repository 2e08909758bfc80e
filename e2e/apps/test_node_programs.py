"""A Next.js development server through a preview in Chromium. e2e/test_preview.py does the same with Vite."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from e2e.apps.conftest import NODE_MODULES, STEP, Programs

pytestmark = pytest.mark.asyncio(loop_scope="session")
LAYOUT = "export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n"
PAGE = """"use client";
import { useState } from "react";
export default function Page() {
  const [count, setCount] = useState(0);
  return <><h1 data-save="SAVE">TITLE</h1><button onClick={() => setCount(count + 1)}>clicked {count}</button></>;
}
"""


@pytest.fixture
def project() -> Iterator[Path]:
    """A project of Next.js. It is below the packages, because Turbopack follows no links out of its root."""
    with tempfile.TemporaryDirectory(dir=NODE_MODULES.parent, prefix="next-") as name:
        folder = Path(name)
        (folder / "app").mkdir()
        (folder / "app" / "layout.js").write_text(LAYOUT)
        (folder / "app" / "page.js").write_text(PAGE.replace("TITLE", "first"))
        yield folder


async def test_nextjs_replaces_a_changed_component_and_keeps_its_state(
    project: Path, programs: Programs, page: Page
) -> None:
    # The order of the fixtures: the server has ended before its folder is removed.
    next_dev = ["node", str(NODE_MODULES / "next" / "dist" / "bin" / "next"), "dev", "--hostname", "127.0.0.1"]
    site = await programs.start([*next_dev, "--port", "PORT"], cwd=project)
    await page.goto(site.url)
    await expect(page.get_by_role("heading")).to_have_text("first", timeout=STEP)
    button = page.get_by_role("button", name="clicked")
    await button.click()
    await expect(button).to_have_text("clicked 1", timeout=STEP)
    for title in ("second", "third"):
        await save_until_shown(page, project / "app" / "page.js", title)
    await expect(button).to_have_text("clicked 1")


async def save_until_shown(page: Page, file: Path, title: str) -> None:
    """Save the page with a new title, and again if the browser does not get it.

    Next.js loses a change that comes while it begins to follow the files of a page. It notices the next one, which has
    to differ.
    """
    for save in range(5):
        await asyncio.to_thread(file.write_text, PAGE.replace("TITLE", title).replace("SAVE", str(save)))
        with suppress(AssertionError):
            await expect(page.get_by_role("heading")).to_have_text(title, timeout=STEP / 3)
            return
    raise AssertionError(f"the page does not show {title!r}")
