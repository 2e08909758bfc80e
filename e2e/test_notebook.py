"""The notebook: a pane over the runs of a code context."""

import json
from pathlib import Path

import nbformat
import pytest
from playwright.async_api import Locator, Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def new_notebook(open_page: Open) -> Page:
    page = (await open_page(width=1300)).page
    await page.get_by_role("button", name="New…").click()
    await page.get_by_role("menuitem", name="New notebook").click()
    await expect(source(page, 1)).to_be_focused()
    return page


def source(page: Page, number: int) -> Locator:
    return page.get_by_role("textbox", name=f"Source of cell {number}", exact=True)


def output(page: Page, number: int) -> Locator:
    return page.get_by_role("group", name=f"Output of cell {number}", exact=True)


async def run(page: Page, number: int, code: str) -> None:
    await expect(source(page, number)).to_be_focused()
    await page.keyboard.insert_text(code)
    await page.keyboard.press("Shift+Enter")


async def test_cells_run_and_show_rich_output_that_cannot_reach_the_page(open_page: Open) -> None:
    page = await new_notebook(open_page)
    await run(page, 1, "import sys\nprint('\\x1b[31mred\\x1b[0m'); print('err', file=sys.stderr)")
    await expect(output(page, 1).locator(".stdout")).to_have_text("red\n")
    await expect(output(page, 1).locator(".stderr")).to_have_text("err\n")
    red = await output(page, 1).locator(".stdout span").first.evaluate("e => e.style.color")
    assert red == "var(--ansi-1)"
    await run(
        page,
        2,
        "from IPython.display import HTML, Markdown, display\n"
        "HTML('''<p id=out>html</p><script>\n"
        "let seen = []\n"
        "for (const steal of [() => parent.document.title, () => localStorage.length, () => document.cookie])\n"
        "  try { seen.push(String(steal())) } catch (error) { seen.push(error.name) }\n"
        "document.getElementById('out').textContent = seen.join()\n"
        "fetch('https://example.org/').catch(error => document.body.append('no network'))\n"
        "</script>''')",
    )
    frame = page.frame_locator("iframe[title='Output of cell 2']")
    await expect(frame.locator("#out")).to_have_text("SecurityError,SecurityError,SecurityError")
    await expect(frame.locator("body")).to_contain_text("no network")
    await expect(output(page, 2)).to_contain_text("This output is not allowed to load https://example.org")
    await run(page, 3, "Markdown('**bold** <script>alert(1)</script>')")
    await expect(output(page, 3).locator(".markdown strong")).to_have_text("bold")
    assert await output(page, 3).locator("script").count() == 0
    await run(page, 4, "1 / 0")
    await expect(output(page, 4).locator(".reason")).to_have_text("ZeroDivisionError: division by zero")
    await run(page, 5, "display({'application/vnd.plotly.v1+json': {'data': [1]}}, raw=True)")
    await expect(output(page, 5)).to_contain_text("application/vnd.plotly.v1+json")
    assert await serious(page) == []


async def test_a_program_asks_for_input_and_is_interrupted_and_restarted(open_page: Open) -> None:
    page = await new_notebook(open_page)
    await run(page, 1, "name = input('Your name: ')\nprint('hello', name)")
    field = page.get_by_role("textbox", name="Your name:")
    await field.fill("Grace")
    await field.press("Enter")
    await expect(output(page, 1)).to_contain_text("hello Grace")
    await source(page, 2).click()
    await run(page, 2, "print('begun', flush=True)\nimport time\ntime.sleep(1000)")
    await expect(output(page, 2)).to_contain_text("begun")
    await page.get_by_role("toolbar", name="Notebook").get_by_role("button", name="Interrupt").click()
    await expect(output(page, 2)).to_contain_text("Interrupted")
    page.once("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Restart").click()
    await source(page, 3).click()
    await run(page, 3, "name")
    await expect(output(page, 3)).to_contain_text("NameError")


async def test_a_notebook_is_restored_after_a_reload_and_exported(open_page: Open, tmp_path: Path) -> None:
    page = await new_notebook(open_page)
    await run(page, 1, "6 * 7")
    await expect(output(page, 1)).to_contain_text("42")
    await expect(source(page, 2)).to_be_focused()
    await page.keyboard.insert_text("not run")
    await page.reload()
    await expect(output(page, 1)).to_contain_text("42")
    await expect(source(page, 1)).to_contain_text("6 * 7")
    await expect(source(page, 2)).to_contain_text("not run")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Export").click()
    await (await download.value).save_as(tmp_path / "n.ipynb")
    notebook = json.loads((tmp_path / "n.ipynb").read_text())
    assert [cell["source"] for cell in notebook["cells"]] == [["6 * 7"], ["not run"]]
    assert notebook["cells"][0]["outputs"][0]["data"]["text/plain"] == ["42"]
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


async def test_what_an_agent_runs_in_the_context_appears_live(open_page: Open, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().code.create(id="agents") as ctx:
        await ctx.run("x = 'from the agent'; print('before')")
        page = await new_notebook(open_page)
        await page.get_by_role("button", name="agents").click()
        await expect(source(page, 1)).to_contain_text("from the agent")
        await expect(output(page, 1)).to_contain_text("before")
        await ctx.run("print('later')")
        await expect(output(page, 2)).to_contain_text("later")
        await source(page, 3).click()
        await run(page, 3, "x")
        await expect(output(page, 3)).to_contain_text("'from the agent'")
        assert await page.get_by_role("region", name="Cell").count() == 4


def saved_notebook() -> str:
    html = "<p id=out>saved</p><script>document.getElementById('out').textContent += ' ' + self.origin</script>"
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Figures\n"]},
        {
            "cell_type": "code",
            "id": "one",
            "metadata": {},
            "execution_count": 7,
            "source": ["value = 40\n", "value + 2"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["printed before\n"]},
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": [html]}},
            ],
        },
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


async def show_files(page: Page) -> None:
    await page.keyboard.press("Control+Shift+B")
    await page.get_by_role("navigation", name="Views").get_by_role("button", name="Files").click()


async def test_a_notebook_file_is_opened_run_and_exported(open_page: Open, stack: Stack, tmp_path: Path) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write("figures.ipynb", saved_notebook().encode())
        await box.files.write("broken.ipynb", b"{}")
    page = (await open_page(width=1300)).page
    await show_files(page)
    await page.get_by_role("treeitem", name="figures.ipynb").click()
    await expect(page.get_by_role("heading", name="Figures")).to_be_visible()
    await expect(output(page, 2).locator(".stdout")).to_have_text("printed before\n")
    frame = page.frame_locator("iframe[title='Output of cell 2']")
    await expect(frame.locator("#out")).to_have_text("saved null")  # an opaque origin
    await expect(page.get_by_text("[7]")).to_be_visible()
    await source(page, 2).click()
    await page.keyboard.press("Shift+Enter")
    await expect(output(page, 2)).to_contain_text("42")
    await expect(page.get_by_text("printed before")).to_have_count(0)
    await page.reload()
    await expect(output(page, 2)).to_contain_text("42")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Export").click()
    assert (await download.value).suggested_filename == "figures.ipynb"
    await (await download.value).save_as(tmp_path / "n.ipynb")
    cells = json.loads((tmp_path / "n.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells][:2] == ["title", "one"]  # Shift+Enter adds one at the end
    await page.get_by_role("treeitem", name="broken.ipynb").click()
    await expect(
        page.get_by_role("alert").get_by_text("This file is not a notebook: it does not specify a format.")
    ).to_be_visible()
    assert await serious(page) == []
    await page.get_by_role("button", name="Open as text").click()
    await expect(page.get_by_role("textbox", name="broken.ipynb")).to_have_text("{}")


async def test_a_notebook_file_is_saved_and_a_conflict_is_answered(open_page: Open, stack: Stack) -> None:
    before = json.loads(saved_notebook())
    before["metadata"] = {"own": {"a": 1.5}, "kernelspec": {"display_name": "P", "language": "python", "name": "p"}}
    before["cells"][1]["metadata"] = {"tags": ["kept"]}
    before["cells"] += [{"cell_type": "raw", "id": "raw", "metadata": {"format": "text/x"}, "source": ["as it is"]}]
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write("save.ipynb", json.dumps(before, indent=1).encode())
        page = (await open_page(width=1300)).page
        await show_files(page)
        await page.get_by_role("treeitem", name="save.ipynb").click()
        await expect(page.get_by_role("button", name="Saved")).to_be_disabled()
        await source(page, 2).click()
        await page.keyboard.press("Shift+Enter")
        await expect(output(page, 2)).to_contain_text("42")
        await expect(page.get_by_role("region", name="save.ipynb •")).to_be_visible()
        await source(page, 2).click()
        await page.keyboard.press("Control+s")
        await expect(page.get_by_role("button", name="Saved")).to_be_disabled()
        saved = nbformat.reads((await box.files.read("save.ipynb")).decode(), as_version=4)
        nbformat.validate(saved)
        assert saved.metadata == before["metadata"]
        assert [cell.id for cell in saved.cells] == ["title", "one", "raw"]
        assert [saved.cells[0], saved.cells[2]] == [
            nbformat.from_dict(before["cells"][at] | {"source": text})
            for at, text in ((0, "# Figures\n"), (2, "as it is"))
        ]
        assert saved.cells[1].metadata == {"tags": ["kept"]}
        assert saved.cells[1].outputs[0].data == {"text/plain": "42"}
        await page.reload()
        await expect(output(page, 2)).to_contain_text("42")
        await expect(page.get_by_role("button", name="Saved")).to_be_disabled()

        # Without changes here, those of others are shown; otherwise they are not overwritten.
        theirs = (await box.files.read("save.ipynb")).replace(b"# Figures", b"# Theirs")
        await box.files.write("save.ipynb", theirs)
        await expect(page.get_by_role("heading", name="Theirs")).to_be_visible()
        await source(page, 2).click()
        await page.keyboard.press("Control+End")
        await page.keyboard.insert_text(" # mine")
        await box.files.write("save.ipynb", theirs.replace(b"# Theirs", b"# Again"))
        alert = page.get_by_role("alert").filter(has_text="This file has changed in the sandbox.")
        await expect(alert).to_be_visible()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
        assert b"mine" not in await box.files.read("save.ipynb")
        assert await serious(page) == []
        await alert.get_by_role("button", name="Compare").click()
        await expect(page.get_by_role("region", name="Changes")).to_contain_text("# mine")
        await alert.get_by_role("button", name="Overwrite").click()
        await expect(alert).to_have_count(0)
        assert b"value + 2 # mine" in await box.files.read("save.ipynb")
