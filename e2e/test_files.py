"""The view of files, and the pane with one file."""

import base64
import re
from typing import Literal

import pytest
from playwright.async_api import Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def run(stack: Stack, command: str) -> str:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        return (await hw.sandbox().exec(command, check=True)).text


async def show_files(view: View) -> Page:
    await view.press("Control+Shift+B")
    await view.page.get_by_role("navigation", name="Views").get_by_role("button", name="Files").click()
    await expect(view.page.get_by_role("tree", name="Files")).to_be_visible()
    return view.page


async def drop(page: Page, *files: tuple[str, str]) -> None:
    """Drop files with their texts on the page."""
    await page.evaluate(
        """files => {
          const data = new DataTransfer();
          for (const [name, text] of files) data.items.add(new File([text], name));
          for (const type of ["dragover", "drop"])
            document.querySelector("#app").dispatchEvent(
              new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        list(files),
    )


async def test_the_tree_follows_changes_and_shows_the_marks_of_git(open_page: Open, stack: Stack) -> None:
    await run(
        stack,
        "git init -q; git config user.email a@example.org; git config user.name a; mkdir -p src; echo 1 > src/a.py;"
        " git add .; git commit -qm first; echo 2 > src/a.py",
    )
    page = await show_files(await open_page())
    await page.get_by_role("treeitem", name="src").click()
    await expect(page.get_by_role("treeitem", name="a.py")).to_have_attribute("data-mark", "changed")
    await run(stack, "echo 1 > src/new.py")
    await expect(page.get_by_role("treeitem", name="new.py")).to_have_attribute("data-mark", "new")
    await run(stack, "rm src/new.py")
    await expect(page.get_by_role("treeitem", name="new.py")).to_have_count(0)


async def test_a_mount_is_marked_in_the_tree(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        mount = await hw.sandbox().mounts.create("shared", "data", read_only=True)
        page = await show_files(await open_page())
        row = page.get_by_role("treeitem", name="data")
        await expect(row).to_have_attribute("data-mount", "mounted")
        await expect(row).to_contain_text("read-only")
        await expect(row).to_contain_text("Mount of shared, read-only")
        assert await serious(page) == []
        await row.click()
        await expect(page.get_by_role("treeitem", name="of-the-host.txt")).to_be_visible()
        await hw.sandbox().mounts.delete(mount.id)
        await expect(row).not_to_have_attribute("data-mount", "mounted")


async def test_the_tree_is_used_with_the_keyboard_and_holds_many_files(open_page: Open, stack: Stack) -> None:
    await run(stack, "mkdir many; cd many; seq -f 'file %g' 1 5000 | tr '\\n' '\\0' | xargs -0 touch")
    page = await show_files(await open_page())
    await expect(page.get_by_role("treeitem", name="many")).to_be_visible()
    await page.get_by_role("tree").focus()
    for key in ("Home", "ArrowRight"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("treeitem", name="file 1", exact=True)).to_be_visible()
    await page.keyboard.press("End")
    last = page.get_by_role("treeitem", name="file 5000", exact=True)
    await expect(last).to_have_attribute("aria-selected", "true")
    await expect(last).to_be_in_viewport()
    assert await page.get_by_role("treeitem").count() < 100


async def test_dropped_files_are_uploaded_and_an_existing_one_is_a_question(open_page: Open, stack: Stack) -> None:
    await run(stack, "echo old > a.txt")
    page = await show_files(await open_page())
    await expect(page.get_by_role("treeitem", name="a.txt")).to_be_visible()
    await drop(page, ("a.txt", "new"), ("b.txt", "second"))
    question = page.get_by_role("dialog", name="This file already exists")
    await question.get_by_role("button", name="Keep both").click()
    for name in ("a (2).txt", "b.txt"):
        await expect(page.get_by_role("treeitem", name=name)).to_be_visible()
    assert await run(stack, "cat a.txt 'a (2).txt' b.txt") == "old\nnewsecond"
    await drop(page, ("a.txt", "replaced"))
    await question.get_by_role("button", name="Replace").click()
    await expect(question).to_be_hidden()
    await expect(page.locator("#toast")).to_have_text(re.compile("^1 file uploaded"))  # its text stays
    assert await run(stack, "cat a.txt") == "replaced"


async def test_a_file_is_edited_and_a_change_by_another_program_is_not_overwritten(
    open_page: Open, stack: Stack
) -> None:
    await run(stack, "printf 'one\\r\\ntwo\\r\\n' > notes.txt")
    page = await show_files(await open_page(width=1300))
    await page.get_by_role("treeitem", name="notes.txt").click()
    text = page.get_by_role("textbox", name="notes.txt")
    await expect(text).to_contain_text("two")
    await text.press("Control+End")
    await page.keyboard.type("three")
    await page.keyboard.press("Control+s")
    await expect(page.get_by_role("button", name="Saved")).to_be_visible()
    assert await run(stack, "cat notes.txt") == "one\r\ntwo\r\nthree"
    await run(stack, "echo theirs > notes.txt")
    await expect(text).to_contain_text("theirs")  # without own changes, it is shown at once
    await text.press("Control+End")
    await page.keyboard.type("mine")
    await run(stack, "echo theirs again > notes.txt")
    alert = page.get_by_role("alert").filter(has_text="This file has changed in the sandbox.")
    await expect(alert).to_be_visible()
    assert await run(stack, "cat notes.txt") == "theirs again\n"
    await alert.get_by_role("button", name="Overwrite").click()
    await expect(alert).to_be_hidden()
    assert "mine" in await run(stack, "cat notes.txt")


async def test_an_image_is_shown_and_a_directory_is_downloaded(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write("images/dot.png", PIXEL)
    page = await show_files(await open_page(width=1300))
    await page.get_by_role("treeitem", name="images").click()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download the selection").click()
    assert (await download.value).suggested_filename == "images.tar.gz"
    await page.get_by_role("treeitem", name="dot.png").click()
    image = page.get_by_role("img", name="images/dot.png")
    await expect(image).to_be_visible()
    assert await image.evaluate("image => image.naturalWidth") == 1


async def test_changes_since_the_last_commit_and_a_conflict_are_compared(open_page: Open, stack: Stack) -> None:
    await run(
        stack,
        "git init -q; git config user.email a@example.org; git config user.name a; printf 'one\\ntwo\\n' > a.txt;"
        " git add .; git commit -qm first; printf 'one\\nthree\\n' > a.txt",
    )
    page = await show_files(await open_page(width=1440))
    await page.get_by_role("treeitem", name="a.txt").click()
    await page.get_by_role("button", name="Changes").click()
    changes = page.get_by_role("region", name="Changes")
    await expect(changes).to_contain_text("Last commit")
    await expect(changes).to_contain_text("two")
    await expect(changes).to_contain_text("three")
    assert await serious(page) == []
    await page.reload()  # the address has the view
    await expect(changes).to_contain_text("two")
    await page.get_by_role("button", name="Edit").click()
    text = page.get_by_role("textbox", name="a.txt")
    await text.press("Control+End")
    await page.keyboard.type("mine")
    await run(stack, "echo theirs > a.txt")
    await page.get_by_role("alert").get_by_role("button", name="Compare").click()
    await expect(changes).to_contain_text("theirs")
    await expect(changes).to_contain_text("mine")
    await expect(changes).to_contain_text("In the sandbox")


async def test_a_markdown_file_is_read_as_a_document(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write("docs/pixel.png", PIXEL)
        await box.files.write("docs/other.md", b"# Other")
        text = "# Title\n\n![dot](pixel.png)\n\n[next](other.md) [bad](javascript:alert(1))\n\n<script>x</script>"
        text += "\n\n[end](#%C3%BCber-uns)\n\n## me" + "\n\nmore" * 100 + "\n\n## Über uns\n\n[top](#)"
        await box.files.write("docs/read.md", text.encode())
    page = await show_files(await open_page(width=1440))
    await page.get_by_role("treeitem", name="docs").click()
    await page.get_by_role("treeitem", name="read.md").click()
    await page.get_by_role("button", name="Read", exact=True).click()
    document = page.get_by_role("region", name="docs/read.md")
    await expect(document.get_by_role("heading", name="Title")).to_be_visible()
    await expect(document.get_by_role("img", name="dot")).to_have_js_property("naturalWidth", 1)
    await expect(document.get_by_role("link", name="bad")).to_have_count(0)
    assert await document.locator("script").count() == 0
    await document.get_by_role("link", name="end", exact=True).click()
    await expect(document.get_by_role("heading", name="Über uns")).to_be_in_viewport()
    await document.get_by_role("link", name="top", exact=True).click()
    await expect(document.get_by_role("heading", name="Title")).to_be_in_viewport()
    assert await page.locator("#title, #me h2, h2#me").count() == 0, "the text has taken an id of the page"
    await document.get_by_role("link", name="next").click()
    await expect(page.get_by_role("textbox", name="docs/other.md")).to_contain_text("Other")


async def test_code_in_documents_and_changes_is_readable_in_both_themes(open_page: Open, stack: Stack) -> None:
    line = '    """A text."""; return 1 + self.value(None)  # ' + "a long comment " * 10
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write_text("code.py", "class A:\n    x = 1\n")
        table = "| what | price |\n|---|---|\n| tea | 450 |\n"
        await box.files.write_text("read.md", f"# Code\n\n```python\n{line}\n```\n\n{table}")
    await run(
        stack,
        "git init -q; git config user.email a@example.org; git config user.name a; git add .; git commit -qm first",
    )
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write_text("code.py", f"class A:\n    x = 2\n    def f(self):\n    {line}\n")
    view = await open_page(width=1300)
    page = await show_files(view)
    await page.get_by_role("treeitem", name="code.py").click()
    await page.get_by_role("button", name="Changes").click()
    await expect(page.get_by_role("region", name="Changes")).to_contain_text("a long comment")
    await expect(page.locator(".cm-merge-b .cm-changedText").first).to_be_visible()
    schemes: tuple[Literal["dark", "light"], ...] = ("dark", "light")
    for scheme in schemes:
        await page.emulate_media(color_scheme=scheme)
        assert await serious(page) == []
    await page.get_by_role("treeitem", name="read.md").click()
    await page.get_by_role("button", name="Read", exact=True).click()
    document = page.get_by_role("region", name="read.md")
    await expect(document.get_by_role("heading", name="Code")).to_be_visible()
    assert await serious(page) == []
    await page.set_viewport_size({"width": 390, "height": 844})
    for word in ("what", "price", "450"):
        cell = document.get_by_text(word, exact=True)
        assert (
            await cell.evaluate(
                "cell => { const r = document.createRange(); r.selectNodeContents(cell);"
                " return r.getClientRects().length; }"
            )
            == 1
        ), f"{word} is broken into lines"


async def test_a_file_that_does_not_exist_is_not_offered_for_download(open_page: Open, stack: Stack) -> None:
    view = await open_page(
        address=f"{stack.base}/?layout=row(50:terminal~id~main,50:editor~path~no.txt)#token={stack.token}"
    )
    pane = view.page.get_by_role("region", name="no.txt")
    await expect(pane).to_contain_text("No such file")
    await expect(pane.get_by_role("button", name="Download")).to_have_count(0)


async def test_a_name_cannot_hide_what_it_ends_with(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write("invoice\u202egnp.exe", b"x")
    page = await show_files(await open_page(width=1440))
    row = page.get_by_role("treeitem", name="invoice\ufffdgnp.exe")
    assert await row.get_attribute("title") == "invoice\ufffdgnp.exe"
    await row.click()
    await expect(page.get_by_role("region", name="invoice\ufffdgnp.exe")).to_be_visible()
    await expect(page.get_by_role("textbox", name="invoice\ufffdgnp.exe")).to_contain_text("x")


async def test_files_that_are_looked_at_one_after_the_other_have_one_pane(open_page: Open, stack: Stack) -> None:
    await run(stack, "for name in a b c; do echo in-$name > $name.txt; done")
    page = await show_files(await open_page(width=1440))
    panes = page.locator(".pane:visible")
    for name in ("a.txt", "b.txt"):
        await page.get_by_role("treeitem", name=name).click()
        await expect(page.get_by_role("textbox", name=name)).to_be_focused()
        await expect(panes).to_have_count(2)
    await page.keyboard.type("mine ")
    await page.get_by_role("treeitem", name="c.txt").click()
    await expect(page.get_by_role("textbox", name="c.txt")).to_be_focused()
    await page.get_by_role("treeitem", name="a.txt").click(modifiers=["Control"])
    await expect(page.get_by_role("textbox", name="a.txt")).to_be_focused()
    await expect(page.get_by_role("textbox", name="b.txt")).to_contain_text("mine in-b")
    await expect(panes).to_have_count(4)


async def test_what_is_not_a_file_is_named_and_not_offered_for_download(open_page: Open, stack: Stack) -> None:
    await run(stack, "mkfifo pipe")
    page = await show_files(await open_page(width=1440))
    await page.get_by_role("treeitem", name="pipe").click()
    pane = page.get_by_role("region", name="pipe")
    await expect(pane).to_contain_text("This is a named pipe, not a file.")
    await expect(pane.get_by_role("button", name="Download")).to_have_count(0)


async def test_the_tree_is_as_it_was_when_another_view_was_shown(open_page: Open, stack: Stack) -> None:
    await run(stack, "mkdir -p src/inner; touch src/inner/a.txt")
    page = await show_files(await open_page(width=1440))
    for name in ("src", "inner", "a.txt"):
        await page.get_by_role("treeitem", name=name).click()
    views = page.get_by_role("navigation", name="Views")
    await views.get_by_role("button", name="Ports").click()
    await expect(page.get_by_role("tree", name="Files")).to_have_count(0)
    await views.get_by_role("button", name="Files").click()
    await expect(page.get_by_role("treeitem", name="a.txt")).to_have_attribute("aria-selected", "true")


async def test_a_file_is_renamed_and_deleted_with_the_menu_and_a_button(open_page: Open, stack: Stack) -> None:
    await run(stack, "echo 1 > one.txt; mkdir -p folder; echo 2 > folder/two.txt")
    page = await show_files(await open_page(touch=True, width=390, height=844))
    menu = page.get_by_role("menu")
    await page.get_by_role("treeitem", name="one.txt").click(button="right")
    page.once("dialog", lambda dialog: dialog.accept("three.txt"))
    await menu.get_by_role("menuitem", name="Rename").click()
    renamed = page.get_by_role("treeitem", name="three.txt")
    await renamed.click(button="right")
    await menu.get_by_role("menuitem", name="Delete").click()
    question = page.get_by_role("alertdialog", name="Delete three.txt?")
    await question.get_by_role("button", name="Cancel").click()
    await expect(renamed).to_be_visible()
    await page.get_by_role("treeitem", name="folder").tap()  # a finger has no second button
    await page.get_by_role("button", name="Actions for the selection").tap()
    await menu.get_by_role("menuitem", name="Delete").tap()
    await page.get_by_role("alertdialog", name="Delete folder?").get_by_role("button", name="Delete").tap()
    await expect(page.get_by_role("treeitem", name="folder")).to_have_count(0)
    assert (await run(stack, "ls")).split() == ["three.txt"]
