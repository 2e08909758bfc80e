"""The list of sandboxes in the page: create, open, stop, start and delete them."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.machine import join_process
from tests.support.stack import Stack
from tests.support.waiting import exists

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def call(view: View, method: str, params: dict[str, Any]) -> None:
    """Call a method of the gateway, as another client would."""
    await view.page.evaluate(
        "([method, params]) => window.hawse.client.call(method, params)",
        [method, params],
    )


async def show(page: Page) -> Locator:
    """Open the list; return it."""
    await page.get_by_role("button", name="All sandboxes").click()
    dialog = page.get_by_role("dialog", name="Sandboxes")
    await expect(dialog).to_be_visible()
    return dialog


def row(page: Page, sandbox: str) -> Locator:
    return page.locator("#sandboxes-list li").filter(has=page.locator(f"a[href$='sandbox={sandbox}']"))


async def test_a_sandbox_is_created_and_opened(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    dialog = await show(page)
    await expect(row(page, "local").get_by_text("running")).to_be_visible()
    await expect(row(page, "local").get_by_text("this page")).to_be_visible()
    await dialog.get_by_role("button", name="New sandbox").click()
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await page.get_by_label("Name", exact=True).fill("second")
    await page.get_by_label("Template").select_option(label="demo: an example")
    await page.get_by_label("Environment").fill("GREETING")
    await page.get_by_label("Labels").fill("team=blue")
    await dialog.get_by_role("button", name="Create and open").click()
    await expect(dialog.get_by_role("alert").first).to_have_text('Line 1 is "GREETING"; write NAME=value.')
    await page.get_by_label("Environment").fill("GREETING=hello=you")
    await page.keyboard.press("Tab")
    await dialog.get_by_role("button", name="Create and open").click()
    await page.wait_for_url("**/?sandbox=second")
    await view.until_live()
    await view.run("echo $TEMPLATE:$GREETING")
    await view.until_text("demo:hello=you")
    await show(page)
    await expect(row(page, "second").get_by_text("team=blue")).to_be_visible()
    await expect(row(page, "second").get_by_text("this page")).to_be_visible()
    await page.get_by_role("link", name="local").click()
    await page.wait_for_url("**/?sandbox=local")
    await view.until_live()


async def test_the_gateways_refusal_of_a_sandbox_is_shown_in_the_form(open_page: Open) -> None:
    view = await open_page()
    dialog = await show(view.page)
    await dialog.get_by_role("button", name="New sandbox").click()
    await view.page.get_by_label("Name", exact=True).fill("one")
    await view.page.get_by_label("Labels").fill("x=" + 256 * "y")
    await dialog.get_by_role("button", name="Create and open").click()
    await expect(dialog.get_by_role("alert").first).to_have_text("Labels must have at most 255 characters.")
    await expect(dialog.get_by_role("button", name="Create and open")).to_be_enabled()


async def test_a_sandbox_is_stopped_started_and_deleted(open_page: Open) -> None:
    view = await open_page()
    await call(view, "sandbox.create", {"id": "box"})
    page = view.page
    await show(page)
    box = row(page, "box")
    await page.get_by_role("button", name="Stop box").click()
    await expect(box.locator(".state")).to_have_text("stopped")
    start = page.get_by_role("button", name="Start box")
    await expect(start).to_be_focused()  # it is where the pressed button was
    await page.keyboard.press("Enter")
    await expect(box.locator(".state")).to_have_text("running")
    await page.get_by_role("button", name="Delete box").click()
    await expect(page.get_by_role("button", name="Keep")).to_be_focused()
    await expect(box.get_by_text("Its files and everything that runs in it will be lost.")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Delete box")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Delete box").click()
    await expect(box).to_have_count(0)
    await expect(page.get_by_role("button", name="New sandbox")).to_be_focused()


async def test_what_a_sandbox_was_refused_is_shown(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    policy = {"allow": ["good.example"], "deny": ["bad.good.example"]}
    await call(view, "sandbox.create", {"id": "fenced", "network": "filtered", "egress": policy})
    await show(view.page)
    fenced = row(view.page, "fenced")
    section = fenced.get_by_text("Network: rules and refusals")
    await section.click()
    await expect(fenced.get_by_text("good.example", exact=True)).to_be_visible()
    await expect(fenced.get_by_text("bad.good.example", exact=True)).to_be_visible()
    await expect(fenced.get_by_text("Nothing was refused.")).to_be_visible()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox("fenced").exec("curl -s http://evil.example/; curl -s https://good.example:8443/")
        refused = fenced.get_by_role("listitem")
        await expect(refused).to_have_count(2)
        await expect(refused.last).to_contain_text("GET evil.example:80")
        await expect(refused.last).to_contain_text("no rule allows it")
        await expect(refused.first).to_contain_text("good.example:8443")
        assert await serious(view.page) == []
        await hw.sandbox("fenced").egress.set(["other.example"])
        await expect(fenced.get_by_text("other.example", exact=True)).to_be_visible()
    await expect(row(view.page, "local").get_by_text("Network: rules and refusals")).to_be_hidden()
    await section.click()
    await expect(refused).to_have_count(0)
    assert view.errors == []


async def test_the_list_follows_the_changes_of_others(open_page: Open) -> None:
    view, other = await open_page(), await open_page()
    await show(view.page)
    await call(other, "sandbox.create", {"id": "theirs"})
    await expect(row(view.page, "theirs").locator(".state")).to_have_text("running")
    await call(other, "sandbox.stop", {"id": "theirs"})
    await expect(row(view.page, "theirs").locator(".state")).to_have_text("stopped")
    await call(other, "sandbox.delete", {"id": "theirs"})
    await expect(row(view.page, "theirs")).to_have_count(0)
    await view.press("Escape")
    await expect(view.page.get_by_role("dialog", name="Sandboxes")).to_be_hidden()
    await view.until("() => document.activeElement.id === 'sandboxes'")


async def test_a_machine_that_has_joined_is_marked_and_its_terminal_works(
    open_page: Open, stack: Stack, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    view = await open_page()
    await show(view.page)
    async with join_process(stack, project) as machine:
        await machine.prints("Press Ctrl-C")
        joined = row(view.page, machine.sandbox)
        await expect(joined.locator(".state")).to_have_text("running")
        await expect(joined.locator(".facts")).to_contain_text("joined machine")
        await joined.get_by_role("link").click()
        await view.page.wait_for_url(f"**/?sandbox={machine.sandbox}")
        await view.until_live()
        await view.run("touch made-here; echo all''-done")
        await view.until_text("all-done")
        await exists(project / "made-here")


async def test_the_page_of_a_stopped_sandbox_starts_it(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.run("echo kept > file")
    await view.settled()
    await show(page)
    await page.get_by_role("button", name="Stop local").click()
    await expect(row(page, "local").locator(".state")).to_have_text("stopped")
    await view.press("Escape")
    await expect(page.get_by_role("heading", name="local was stopped by owner")).to_be_visible()
    await expect(page.locator(".failure-text")).to_have_text("This sandbox is stopped. Its files are kept.")
    await page.locator(".failure-sandboxes").click()
    await expect(row(page, "local")).to_be_visible()
    await view.press("Escape")
    await page.get_by_role("button", name="Start the sandbox").click()
    await page.wait_for_load_state("load")
    await view.until_live()
    await view.run("cat file")
    await view.until_text("kept")


async def test_a_viewer_sees_the_sandboxes_without_actions(open_page: Open, stack: Stack) -> None:
    owner = await open_page()
    await call(owner, "sandbox.create", {"id": "box"})
    page = (await open_page(token=stack.viewer_token)).page
    dialog = await show(page)
    await expect(row(page, "box")).to_be_visible()
    await expect(page.locator("#sandboxes-list button")).to_have_count(0)
    await expect(dialog.get_by_role("button", name="New sandbox")).to_be_hidden()


async def test_on_a_phone_the_actions_on_sandboxes_are_large_enough(open_page: Open) -> None:
    page = (await open_page(width=390, height=844, touch=True)).page
    dialog = await show(page)
    await expect(row(page, "local")).to_be_visible()
    await dialog.get_by_role("button", name="New sandbox").click()
    targets = dialog.locator("button:visible, a:visible, input:visible, select:visible, textarea:visible")
    boxes = await targets.evaluate_all("targets => targets.map((target) => target.getBoundingClientRect().toJSON())")
    assert len(boxes) >= 10
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["height"] >= 44


async def test_the_list_shows_what_each_sandbox_does(open_page: Open) -> None:
    view = await open_page()
    await view.run("python3 -m http.server --bind 127.0.0.1 8123")
    await view.until_text("8123")
    await show(view.page)
    usage = row(view.page, "local").locator(".usage")
    await expect(usage).to_contain_text("1 terminal · 1 viewer")
    await expect(usage).to_contain_text("8123")
    await expect(usage.locator(".graph").first).to_contain_text("%")
    await expect(usage.locator("path").first).to_have_attribute("d", re.compile("M.*L"))
    await expect(row(view.page, "local").get_by_role("button", name="Stop local")).to_be_visible()


async def test_a_sandbox_in_use_is_stopped_only_after_a_question(open_page: Open) -> None:
    other = await open_page()
    await other.run("sleep 1000")
    await other.until_text("sleep 1000")
    view = await open_page()
    page = view.page
    await call(view, "sandbox.create", {"id": "elsewhere"})
    await page.goto(page.url.replace("local", "elsewhere").split("?")[0] + "?sandbox=elsewhere")
    await view.until_live()
    await show(page)
    question = page.get_by_role("alertdialog", name="Stop local?")
    await page.get_by_role("button", name="Stop local").click()
    await expect(question).to_contain_text("sleep 1000 runs in it, and guest-1")
    await expect(question.get_by_role("button", name="Keep")).to_be_focused()
    await view.press("Enter")
    await expect(question).to_have_count(0)
    await expect(row(page, "local").locator(".state")).to_have_text("running")
    await page.get_by_role("button", name="Stop local").click()
    await question.get_by_role("button", name="Stop it").click()
    await expect(row(page, "local").locator(".state")).to_have_text("stopped")
    await expect(other.page.get_by_role("heading", name="local was stopped by owner")).to_be_visible()
