"""The view of ports, and the pane with a preview."""

import pytest
from playwright.async_api import Page, expect

import hawse
from e2e.axe import serious
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)
PAGE = "<!doctype html><title>site</title><h1>{}</h1>"


async def show_ports(view: View) -> Page:
    await view.press("Control+Shift+B")
    await view.page.get_by_role("navigation", name="Views").get_by_role("button", name="Ports").click()
    return view.page


async def write_site(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        for name in ("index", "other"):
            await hw.sandbox().files.write(f"site/{name}.html", PAGE.format(name).encode())
        # http.server compares times in whole seconds: the browser would show what it kept of an earlier test's site.
        await hw.sandbox().exec("touch -d '1 hour ago' site/*")


async def test_a_port_gets_a_public_address_that_is_deleted(open_page: Open, stack: Stack) -> None:
    await write_site(stack)
    view = await open_page(width=1300)
    await view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await show_ports(view)
    port = free_port()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        server = ["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", "site"]
        async with hw.sandbox().processes.start(server) as process:
            await process.wait_for_port(port)
            await page.get_by_role("button", name=f"Public addresses…: port {port}").click()
            dialog = page.get_by_role("dialog", name=f"Public addresses of port {port}")
            await dialog.get_by_label("Name").fill("e2e-shop")
            await dialog.get_by_label("Ends").select_option("in 1 day")
            await dialog.get_by_role("button", name="Create").click()
            address = f"http://t-e2e-shop.localhost:{stack.port}/"
            await expect(dialog.get_by_role("listitem")).to_contain_text(address)
            (tunnel,) = await hw.sandbox().tunnels.list()
            assert tunnel.expires is not None
            assert tunnel.expires - tunnel.created == pytest.approx(86_400)
            assert await serious(page) == []
            await dialog.get_by_role("button", name=f"Copy {address}").click()
            assert await page.evaluate("navigator.clipboard.readText()") == address

            visitor = await page.context.browser.new_page()  # type: ignore[union-attr]
            await visitor.goto(address)
            await expect(visitor.get_by_role("heading", name="index")).to_be_visible()
            await dialog.get_by_role("button", name=f"Delete {address}").click()
            await expect(dialog.get_by_role("listitem")).to_have_count(0)
            await visitor.reload()
            await expect(visitor.get_by_role("heading", name="No such address")).to_be_visible()
            await visitor.close()
            await dialog.get_by_label("Name").fill("e2e-kept")
            await dialog.get_by_label("Through").select_option("an SSH server: TCP")
            await dialog.get_by_role("button", name="Create").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("hawse serve --tunnel-ssh")
            await expect(dialog.get_by_role("button", name="Create", exact=True)).to_be_enabled()
            await expect(dialog.get_by_label("Name")).to_have_value("e2e-kept")
            assert await serious(page) == []
            await dialog.get_by_role("button", name="Close").click()
            await expect(dialog).to_have_count(0)


async def test_ports_are_listed_exposed_and_their_previews_stopped(open_page: Open, stack: Stack) -> None:
    await write_site(stack)
    view = await open_page(width=1300)
    await view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await show_ports(view)
    await expect(page.get_by_text("No program listens on a port.")).to_be_visible()
    port = free_port()
    await page.get_by_role("spinbutton", name="Number of a port").fill(str(port))
    await page.keyboard.press("Enter")
    items = page.get_by_role("list", name="Ports").get_by_role("listitem")
    await expect(items).to_contain_text(f"{port}nothing listens · exposed")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        server = ["python3", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", "site"]
        async with hw.sandbox().processes.start(server):
            await expect(items).to_contain_text(f"{port}python3")
            await page.get_by_role("button", name=f"Copy the address: port {port}").click()
            await expect(page.locator("#toast")).to_have_text("Copied.")
            address = await page.evaluate("navigator.clipboard.readText()")
            assert address.startswith(f"http://{port}-local-")
            await page.get_by_role("button", name=f"QR code: port {port}").click()
            dialog = page.get_by_role("dialog", name=f"Preview of port {port}")
            await expect(dialog.get_by_role("img", name=address)).to_be_visible()
            assert await serious(page) == []
            await dialog.get_by_role("button", name="Close").click()
            await page.get_by_role("button", name=f"Stop the preview: port {port}").click()
            await expect(page.get_by_role("button", name=f"Expose: port {port}")).to_be_visible()
            assert (await hw.sandbox().ports.exposed()) == []
    await expect(page.get_by_text("No program listens on a port.")).to_be_visible()


async def test_a_localhost_link_in_a_terminal_opens_the_preview_beside_it(open_page: Open, stack: Stack) -> None:
    await write_site(stack)
    view = await open_page(width=1300)
    page = view.page
    port = free_port()
    await view.run(f"cd site; clear; python3 -m http.server {port} --bind 127.0.0.1 &")
    await view.until_text("Serving HTTP on")
    await view.run(f"clear; echo http://localhost:{port}/other.html")
    await view.until_pattern(rf"^http://localhost:{port}/other.html")
    # The first cell of the link, which is drawn on a canvas or as text.
    cell = await page.evaluate(
        """() => {
          const { left, top } = document.querySelector(".xterm-screen").getBoundingClientRect();
          return [left, top];
        }"""
    )
    await page.mouse.move(cell[0] + 60, cell[1] + 8)
    await expect(page.locator(".xterm-cursor-pointer")).to_have_count(1)
    await page.mouse.click(cell[0] + 60, cell[1] + 8)
    frame = page.frame_locator(f"iframe[title='Preview of port {port}']")
    await expect(frame.get_by_role("heading")).to_have_text("other")
    await expect(page.locator(".pane:visible")).to_have_count(2)
    await page.wait_for_url(f"**preview~port~{port}~path~/other.html)")
    # Neither page reaches the other one.
    inner = page.frames[-1]
    assert await inner.evaluate("() => { try { return top.document.title } catch (e) { return e.name } }") == (
        "SecurityError"
    )

    field = page.get_by_role("textbox", name=f"Path on port {port}")
    await field.fill("/index.html")
    await field.press("Enter")
    await expect(frame.get_by_role("heading")).to_have_text("index")
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write("site/index.html", PAGE.format("changed").encode())
    await page.get_by_role("button", name="Reload").click()
    await expect(frame.get_by_role("heading")).to_have_text("changed")
    await page.get_by_role("button", name="Width of a phone (390)").click()
    await expect(page.locator("iframe")).to_have_css("width", "390px")
    assert await serious(page) == []

    async with page.expect_popup() as opened:
        await page.get_by_role("link", name="Open in a new tab").click()
    tab = await opened.value
    await expect(tab).to_have_title("site")
    assert await tab.evaluate("window.opener") is None

    await page.reload()  # the address has the preview, its path and its width
    await expect(frame.get_by_role("heading")).to_have_text("changed")
    await expect(page.get_by_role("button", name="Width of a phone (390)")).to_have_attribute("aria-pressed", "true")


async def test_a_viewer_gets_no_previews(open_page: Open, stack: Stack) -> None:
    await open_page()
    page = await show_ports(await open_page(token=stack.viewer_token))
    await expect(page.get_by_role("alert")).to_have_text("You are not allowed to use the ports of this sandbox.")
