"""What is dropped on the page: files are uploaded, text is pasted, and the browser never leaves the page for either."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

import hawse
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
# What takes drops is loaded after the first prompt.
_READY = "() => document.querySelector('body > .uploads') !== null"


async def run(stack: Stack, command: str) -> str:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        return (await hw.sandbox().exec(command, check=True)).text


async def drag(view: View, target: Locator, *, drop: bool = True, files: tuple[Path, ...] = (), text: str = "") -> None:
    """Drag with the browser's own events, as the desktop of the user does."""
    box = await target.bounding_box()
    assert box is not None
    items = [{"mimeType": "text/plain", "data": text}] if text else []
    data = {"items": items, "files": [str(file) for file in files], "dragOperationsMask": 1}
    place: dict[str, Any] = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = await view.page.context.new_cdp_session(view.page)
    for kind in ("dragEnter", "dragOver", "drop")[: None if drop else 2]:
        await session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})
    await session.detach()


async def test_a_file_that_is_dropped_on_a_terminal_is_uploaded_into_its_directory(
    open_page: Open, stack: Stack, tmp_path: Path
) -> None:
    (tmp_path / "dropme.txt").write_text("content")
    (tmp_path / "folder/inner").mkdir(parents=True)
    (tmp_path / "folder/inner/deep.txt").write_text("deep")
    await run(stack, "mkdir -p first second /tmp/outside")
    layout = "row(50:terminal~id~main,50:terminal~id~other)"
    view = await open_page(address=f"{stack.base}/?layout={layout}#token={stack.token}", width=1300)
    await view.until(_READY)
    panes = view.page.locator(".pane")
    await expect(panes).to_have_count(2)
    for pane, directory in ((panes.nth(0), "first"), (panes.nth(1), "second")):
        await pane.locator(".xterm-screen").click()
        await view.until(
            "pane => window.hawse.channel.address.id === pane", "main" if directory == "first" else "other"
        )
        await view.run(f"cd {directory}; echo in-{directory[0]}''here")
        await view.until_text(f"in-{directory[0]}here")
    # The pointer decides, not the focus.
    await drag(view, panes.nth(0), drop=False, files=(tmp_path / "dropme.txt",))
    await expect(view.page.get_by_text("Drop to upload into")).to_contain_text("/workspace/first")
    await drag(view, panes.nth(0), files=(tmp_path / "dropme.txt", tmp_path / "folder"))
    toast = view.page.locator("#toast")  # hidden again after 2.5 s, but its text stays
    await expect(toast).to_have_text("2 files uploaded into /workspace/first")
    assert await run(stack, "cat first/dropme.txt first/folder/inner/deep.txt; ls second") == "contentdeep"
    await view.run("cd /tmp/outside; echo in-out''side")
    await view.until_text("in-outside")
    await drag(view, panes.nth(1), files=(tmp_path / "dropme.txt",))
    await expect(toast).to_have_text("1 file uploaded into /tmp/outside")
    assert await run(stack, "cat /tmp/outside/dropme.txt") == "content"
    assert len(view.page.context.pages) == 1


async def test_on_the_tree_a_file_goes_into_the_folder_under_the_pointer(
    open_page: Open, stack: Stack, tmp_path: Path
) -> None:
    (tmp_path / "dropme.txt").write_text("content")
    await run(stack, "mkdir -p one two; touch two/known")
    view = await open_page()
    page = view.page
    await view.until(_READY)
    await view.press("Control+Shift+B")
    await page.get_by_role("navigation", name="Views").get_by_role("button", name="Files").click()
    await page.get_by_role("treeitem", name="one").click()  # selected, which does not matter
    await page.get_by_role("treeitem", name="two").click()
    await page.get_by_role("treeitem", name="one").click()
    await drag(view, page.get_by_role("treeitem", name="known"), files=(tmp_path / "dropme.txt",))
    await expect(page.get_by_role("treeitem", name="dropme.txt")).to_be_visible()
    assert await run(stack, "cat two/dropme.txt; ls") == "contentone\ntwo\n"


async def test_a_drop_never_leaves_the_page(open_page: Open, stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "dropme.txt").write_text("content")
    view = await open_page()
    await view.until(_READY)
    viewer = await open_page(token=stack.viewer_token)
    await viewer.until(_READY)
    home = View(await view.page.context.new_page())
    await home.page.goto(f"{stack.base}/home.html")
    await home.page.get_by_role("link", name="local").first.wait_for()
    pages = {view: "#share", viewer: ".pane", home: "h1"}
    for each, target in pages.items():
        before = each.page.url
        await drag(each, each.page.locator(target).first, text="https://example.org/")
        await drag(each, each.page.locator("body"), files=(tmp_path / "dropme.txt",))
        assert each.page.url == before
    assert [page.url for page in view.page.context.pages] == [view.page.url, home.page.url]
    assert await run(stack, "ls /workspace") == "dropme.txt\n"


async def test_text_that_is_dropped_on_a_terminal_is_pasted(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    await view.until(_READY)
    await view.until_prompt()
    await drag(view, view.page.locator(".xterm-screen"), text="echo 'a b' \x1b[201~\rtouch ran-of-drop\r")
    await view.until_text("touch ran-of-drop")
    await view.settled()
    assert "ran-of-drop" not in await run(stack, "ls")
