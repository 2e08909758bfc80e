"""The page of all sandboxes: what each does, who is there, and its actions."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.test_people import take_name
from e2e.view import WAIT, View
from hawse_gateway.providers.docker.provider import GATEWAY_ID
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support import docker
from tests.support.bundle import BUNDLES, ensure_tests_bundle
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


def card(page: Page, sandbox: str) -> Locator:
    return page.get_by_role("listitem").filter(has=page.locator(f"a.open[href$='sandbox={sandbox}']"))


async def test_the_page_shows_terminals_and_people_of_each_sandbox(open_page: Open, stack: Stack) -> None:
    ada = await open_page()
    await take_name(ada, "Ada")
    await ada.run("echo first o''utput; echo $$ > pid")
    await ada.until_text("first output")
    home = await ada.page.context.new_page()
    await home.goto(f"{stack.base}/home.html")  # signed in by the session of the browser
    local = card(home, "local")
    await expect(local).to_contain_text("running")
    await expect(local.locator(".card-preview")).to_contain_text("first output")
    await expect(local.get_by_role("list", name="Viewers").get_by_role("listitem")).to_have_text(["A"])
    await expect(local.locator(".graph").first).to_contain_text("CPU")
    for scheme in ("dark", "light"):
        await home.emulate_media(color_scheme=scheme)
        assert await serious(home) == []
    # It is live.
    await ada.run("echo second o''utput")
    await expect(local.locator(".card-preview")).to_contain_text("second output")
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.attach("main", name="claude", kind="agent"),
    ):
        await expect(local.locator(".faces .agent")).to_have_attribute("title", "claude (agent)")
    await expect(local.locator(".faces .agent")).to_have_count(0)
    await local.get_by_role("link", name="local").click()
    await home.wait_for_url("**/?sandbox=local*")
    await home.wait_for_function("() => window.hawse?.state().terminal === 'live'")


async def test_a_sandbox_is_created_stopped_and_deleted_there_with_the_keyboard(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    page = await context.new_page()
    await page.goto(f"{stack.base}/home.html#token={stack.token}")
    await expect(card(page, "local")).to_contain_text("running")
    await page.get_by_role("button", name="New sandbox").press("Enter")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await page.keyboard.type("second")
    await page.get_by_label("Template").select_option(label="demo: an example")
    await page.get_by_role("button", name="Create and open").press("Enter")
    await page.wait_for_url("**/?sandbox=second*")
    await page.wait_for_function("() => window.hawse?.state().terminal === 'live'")
    await page.get_by_role("button", name="All sandboxes").click()
    await page.get_by_role("link", name="Home").click()
    await page.wait_for_url("**/home.html")
    second = card(page, "second")
    await expect(second).to_contain_text("template demo")
    await expect(second.locator(".card-preview")).to_contain_text("$")  # which comes with the viewers
    await expect(second.locator(".faces li")).to_have_count(0)  # this browser has left it, so nothing asks
    await second.get_by_role("button", name="Stop second").press("Enter")
    await expect(second.locator(".card-preview")).to_have_text("Stopped. Its files are kept.")
    await second.get_by_role("button", name="Delete second").press("Enter")
    await expect(second.get_by_role("button", name="Keep")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(second).to_have_count(0)
    assert await page.evaluate("() => document.documentElement.scrollWidth") == 390
    await context.close()


async def test_deleting_a_sandbox_there_says_what_runs_in_it_and_who_is_connected(
    open_page: Open, stack: Stack
) -> None:
    view = await open_page()
    await take_name(view, "Grace")
    await view.run("sleep 1000")
    await view.until_text("sleep 1000")
    home = await view.page.context.new_page()
    await home.goto(f"{stack.base}/home")
    local = card(home, "local")
    await local.get_by_role("button", name="Delete local").click()
    await expect(local.locator(".question")).to_contain_text("sleep 1000 runs in it, and Grace is connected. Its files")
    await local.get_by_role("button", name="Keep").click()
    await local.get_by_role("button", name="Stop local").click()
    question = home.get_by_role("alertdialog", name="Stop local?")
    await expect(question).to_contain_text("sleep 1000 runs in it, and Grace is connected.")
    await question.get_by_role("button", name="Keep").click()
    await expect(local).to_contain_text("running")


@docker.needs_engine
async def test_a_sandbox_is_created_there_from_an_image(browser: Browser, tmp_path: Path) -> None:
    ensure_tests_bundle()
    docker.make_images()
    state = StateDirectory(tmp_path / "s")
    (state.root / "bundles").symlink_to(BUNDLES)
    context = await browser.new_context()
    try:
        async with Stack(state.root, "--provider", "docker", "--image", docker.BUSYBOX) as stack:
            page = await context.new_page()
            await page.goto(f"{stack.base}/home.html#token={stack.token}")
            await page.get_by_role("button", name="New sandbox").click()
            await page.get_by_label("Name", exact=True).fill("imaged")
            image = page.get_by_label("Image")
            offered = page.locator(f"datalist#{await image.get_attribute('list')} option")
            await expect(offered.and_(page.locator(f"[value^='{docker.COMMAND}']"))).to_have_count(1)
            await image.fill("not an image")
            await page.get_by_role("button", name="Create and open").click()
            await expect(page.get_by_role("alert")).to_contain_text("image")
            await image.fill(docker.COMMAND)
            await page.get_by_role("button", name="Create and open").click()
            await page.wait_for_url("**/?sandbox=imaged*")
            view = View(page)
            await view.until_live()
            await view.run("echo B is $B of the im''age")  # a variable of this image, which the other one does not have
            await view.until_text("B is 2 of the image")
            await page.goto(f"{stack.base}/home.html")
            await expect(card(page, "imaged")).to_contain_text(docker.COMMAND)
    finally:
        await context.close()
        docker.clean(state.identity(GATEWAY_ID))


async def test_without_a_sandbox_the_page_says_what_to_do_and_without_a_token_it_asks_for_one(
    browser: Browser, stack: Stack
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{stack.base}/home.html")
    field = page.get_by_label("Access token")
    await expect(field).to_be_focused()
    await field.fill("wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("rejected this token")
    await field.fill(stack.token)
    await page.keyboard.press("Enter")
    await expect(card(page, "local")).to_be_visible()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.call("sandbox.delete", {"id": "local"})
    await expect(page.get_by_role("heading", name="No sandbox yet")).to_be_visible()
    await page.get_by_role("button", name="Create the first one").click()
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await context.close()


async def test_a_viewer_sees_the_sandboxes_without_actions(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{stack.base}/home.html#token={stack.viewer_token}")
    await expect(card(page, "local")).to_contain_text("running")
    await expect(page.get_by_role("button", name="New sandbox")).to_be_hidden()
    await expect(page.get_by_role("button", name="Stop local")).to_have_count(0)
    await context.close()


async def test_a_lost_connection_is_said_and_the_list_is_current_again_after_it(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{stack.base}/home.html#token={stack.token}")
    await expect(card(page, "local")).to_contain_text("running")
    connection = page.locator("#connection")
    await expect(connection).to_have_text("")
    await stack.kill()
    await expect(connection).to_have_text(re.compile(r"^No answer since \d\d:\d\d"))
    await expect(card(page, "local")).to_be_visible()  # what is known stays
    await expect(page.get_by_role("button", name="Retry now")).to_be_visible()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.call("sandbox.create", {"id": "second"})
    await expect(card(page, "second")).to_contain_text("running")
    await expect(connection).to_have_text("")
    await page.get_by_role("button", name="Stop second").click()
    await expect(card(page, "second").locator(".card-preview")).to_have_text("Stopped. Its files are kept.")
    await context.close()
