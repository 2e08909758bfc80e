"""The notebook: a pane over the runs of a code context."""

import json
from pathlib import Path

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
    await expect(output(page, 2)).to_contain_text("This output may not load https://example.org")
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
