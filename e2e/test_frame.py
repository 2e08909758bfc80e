"""The frame of the page: split panes, the palette, the menu, the status line, and what a reload restores."""

import pytest
from playwright.async_api import Browser, expect

from e2e.conftest import Open, hold
from e2e.view import WAIT, View
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)


async def until_active(view: View, terminal: str) -> None:
    """Wait until the terminal has the focus and is live."""
    await view.until("id => window.hawse?.channel.address.id === id", terminal)
    await view.until_live()


async def split(view: View) -> None:
    """Split the page and wait for the new terminal, `shell-2`."""
    await view.press("Control+Shift+E")
    await until_active(view, "shell-2")


async def test_a_split_shows_two_terminals_and_is_restored_after_a_reload(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.run("cd /tmp; echo in ma''in")
    await view.until_text("in main")
    await split(view)
    await page.wait_for_url("**layout=row(50:terminal~id~main,50:terminal~id~shell-2)")
    await view.run("pwd; echo in sec''ond")
    await view.until_text("in second")
    assert "/tmp" in await view.screen()
    await expect(page.locator(".pane:visible")).to_have_count(2)
    await page.locator(".pane:visible").first.click(position={"x": 200, "y": 300})
    await until_active(view, "main")
    await view.run("echo from the fir''st")
    await view.until_text("from the first")
    await view.press("Control+Alt+ArrowRight")
    await until_active(view, "shell-2")
    await page.reload()
    await view.until_live()
    await expect(page.locator(".pane:visible")).to_have_count(2)
    await expect(page.get_by_role("navigation", name="Terminals").get_by_role("link")).to_have_count(1)
    await view.press("Control+Alt+ArrowRight")
    await until_active(view, "shell-2")
    await view.until_text("in second")
    await view.press("Control+Shift+X")
    await page.wait_for_url("**/?sandbox=local&terminal=main")
    await until_active(view, "main")
    await expect(page.locator(".pane:visible")).to_have_count(1)


async def test_the_rail_is_open_after_a_reload_and_the_terminal_keeps_the_focus(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.press("Control+Shift+B")
    await page.get_by_role("navigation", name="Views").get_by_role("button", name="Search").click()
    await expect(page.get_by_role("searchbox", name="Find in files")).to_be_focused()
    await page.reload()
    await view.until_live()
    await expect(page.get_by_role("searchbox", name="Find in files")).to_be_visible()
    await view.run("echo a''b")
    await view.until_text("ab")


async def test_a_divider_is_dragged_and_moved_with_the_keyboard(open_page: Open) -> None:
    view = await open_page(width=1200)
    page = view.page
    await split(view)
    divider = page.get_by_role("separator")
    box = await divider.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 4, 300)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 4 + 240, 300, steps=4)
    await page.mouse.up()
    await page.wait_for_url("**layout=row(70:*")
    await divider.focus()
    for _ in range(5):
        await view.press("ArrowLeft")
    await page.wait_for_url("**layout=row(60:*")
    await expect(divider).to_be_focused()
    await divider.dblclick()
    await page.wait_for_url("**layout=row(50:*")


async def test_tabs_with_splits_stay_when_another_tab_is_shown_and_after_a_reload(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await split(view)
    await view.choose("New terminal")
    await page.wait_for_url("**/?sandbox=local&terminal=shell-3")
    await until_active(view, "shell-3")
    await page.reload()
    await until_active(view, "shell-3")
    await expect(page.get_by_role("navigation", name="Terminals").get_by_role("link")).to_have_count(2)
    await view.press("Control+Shift+ArrowRight")
    await page.wait_for_url("**layout=row(50:terminal~id~main,50:terminal~id~shell-2)")
    await expect(page.locator(".pane:visible")).to_have_count(2)
    await page.go_back()
    await until_active(view, "shell-3")


async def test_the_palette_finds_an_action_and_runs_it(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.press("Control+Shift+K")
    field = page.get_by_role("combobox", name="Find a command")
    await expect(field).to_be_focused()
    await view.type("split d")
    await expect(page.get_by_role("option").first).to_contain_text("Split down")
    await view.press("Enter")
    await until_active(view, "shell-2")
    await page.wait_for_url("**layout=column(*")
    await view.press("Control+Shift+K")
    await expect(field).to_be_focused()
    await view.press("Escape")
    await view.run("echo back in the ter''minal")
    await view.until_text("back in the terminal")
    await view.press("Control+Shift+?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Ctrl+Shift+E")


async def test_what_is_typed_while_a_text_field_is_being_loaded_is_its_text(browser: Browser, stack: Stack) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    fields = (
        ("search-bar", "Control+Shift+F", page.get_by_role("searchbox", name="Find in the terminal")),
        ("page-dialogs", "Control+Shift+K", page.get_by_role("combobox", name="Find a command")),
        ("quick-open", "Control+Shift+P", page.get_by_role("combobox", name="Open a file")),
    )
    released = {part: await hold(page, f"**/assets/{part}-*.js") for part, _, _ in fields}
    await page.goto(f"{stack.base}/#token={stack.token}")
    view = View(page)
    await view.until_live()
    await view.settled()
    typed = (await view.state())["inputEnd"]
    for part, keys, field in fields:
        await page.keyboard.press(keys)
        await page.keyboard.type("splix")
        await page.keyboard.press("Backspace")
        await page.keyboard.press("Enter")
        released[part].set()
        await expect(field).to_be_focused()
        await expect(field).to_have_value("spli")
        await page.keyboard.type("t")
        await expect(field).to_have_value("split")
        await page.keyboard.press("Escape")
    assert (await view.state())["inputEnd"] == typed, "keys were sent to the program"
    await context.close()


async def test_a_palette_that_is_given_up_while_it_is_being_loaded_does_not_open(
    browser: Browser, stack: Stack
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    released = await hold(page, "**/assets/page-dialogs-*.js")
    await page.goto(f"{stack.base}/#token={stack.token}")
    view = View(page)
    await view.until_live()
    await page.keyboard.press("Control+Shift+K")
    await page.keyboard.type("split")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Shift+K")  # the second one would open after the first
    released.set()
    field = page.locator("dialog.palette input")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("")
    await page.keyboard.press("Escape")
    await view.run("echo back in the ter''minal")
    await view.until_text("back in the terminal")
    await context.close()


async def test_the_menu_is_used_with_the_keyboard_and_returns_the_focus(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    more = page.get_by_role("button", name="More", exact=True)
    await more.focus()
    await view.press("Enter")
    await expect(page.get_by_role("menuitem", name="Show all commands")).to_be_focused()
    await view.press("ArrowUp")
    await expect(page.get_by_role("menuitem", name="Sign out")).to_be_focused()
    await view.press("s")
    await expect(page.get_by_role("menuitem", name="Show all commands")).to_be_focused()
    await view.press("s")
    await expect(page.get_by_role("menuitem", name="Split right")).to_be_focused()
    await view.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await expect(more).to_be_focused()
    await view.choose("Screen reader support")
    await view.until("() => window.hawse.terminal.options.screenReaderMode")
    await more.click()
    await expect(page.get_by_role("menuitemcheckbox", name="Screen reader support")).to_be_checked()


async def test_the_status_line_shows_directory_branch_and_ports(open_page: Open) -> None:
    view = await open_page(width=1280)
    line = view.page.locator("#status-line")
    await view.run("mkdir project && cd project && git init -q -b trunk . && touch new; echo rea''dy")
    await view.until_text("ready")
    await expect(line).to_contain_text("/project")
    await expect(line).to_contain_text("trunk")
    port = free_port()
    await view.run(f"python3 -m http.server {port} --bind 127.0.0.1")
    await expect(line.get_by_role("button", name=f"{port}")).to_be_visible()


async def test_a_link_to_a_command_opens_the_page_at_it_or_says_that_it_is_gone(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    page = view.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await view.run("echo the linked o''ne")
    await view.until_text("the linked one")
    await view.run("seq 300")
    await view.until_pattern("299\\n300\\n")
    await view.settled()
    await view.press("Control+Shift+ArrowUp")
    await view.press("Control+Shift+ArrowUp")
    await page.locator(".command-bar[title^='echo the linked']").click()
    await page.get_by_role("menuitem", name="Copy link to it").click()
    await expect(page.locator("#toast")).to_have_text("Link to this command copied.")
    link = await page.evaluate("() => navigator.clipboard.readText()")
    assert "/?sandbox=local&terminal=main#command=" in link
    first_row = """text => {
      const { active } = window.hawse.terminal.buffer;
      return active.getLine(active.viewportY).translateToString(true).includes(text);
    }"""
    other = await open_page(address=f"{link}&token={stack.token}")
    await other.until(first_row, "echo the linked")
    await expect(other.page.locator(".linked-command")).to_be_visible()
    await other.page.reload()  # the address keeps the command
    await other.until_live()
    await other.until(first_row, "echo the linked")
    await other.type(" ")
    await expect(other.page.locator(".linked-command")).to_have_count(0)
    # Other shells may have commands at the same offset.
    await other.page.evaluate("() => { location.hash = location.hash.replace(/instance=[^&]*/, 'instance=other'); }")
    await expect(other.page.locator("#toast")).to_have_text("The server no longer has this command.")


async def test_commands_have_a_bar_with_their_state_and_their_output_is_copied(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await view.run("seq 3")
    await expect(page.locator(".command-bar[data-state=done]")).to_have_count(1)
    await view.run("false")
    failed = page.locator(".command-bar[data-state=failed]")
    await expect(failed).to_have_attribute("title", "false failed with code 1")
    await page.locator(".command-bar[data-state=done]").click()
    await page.get_by_role("menuitem", name="Copy output").click()
    await expect(page.locator("#toast")).to_have_text("Copied.")
    assert await page.evaluate("() => navigator.clipboard.readText()") == "1\n2\n3"
    await page.locator(".command-bar[data-state=done]").click()
    await page.get_by_role("menuitem", name="Run again").click()
    await expect(page.locator(".command-bar[data-state=done]")).to_have_count(2)
    await failed.click()
    await expect(page.get_by_role("menuitem", name="Copy command")).to_be_focused()
    await view.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await view.run("seq 500")
    await view.until_pattern("499\\n500\\n")
    await view.settled()
    await view.press("Control+Shift+ArrowUp")
    await page.get_by_role("button", name="Go to the end").click()
    await view.until(
        "() => { const { active } = window.hawse.terminal.buffer; return active.viewportY === active.baseY; }"
    )


async def test_a_link_is_shared_with_a_time_and_revoked(open_page: Open) -> None:
    ada = await open_page()
    page = ada.page
    await page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name="Share")
    await dialog.get_by_role("radio", name="Type").check()
    await dialog.get_by_role("button", name="Create link").click()
    link = await dialog.get_by_label("Link", exact=True).input_value()
    await expect(dialog.get_by_alt_text("QR code of the link")).to_be_visible()
    eve = await open_page(address=link)
    await eve.run("echo by the gu''est")
    await ada.until_text("by the guest")
    listed = dialog.get_by_role("list", name="Links").get_by_role("listitem")
    await expect(listed).to_contain_text("Type · terminal main · for 1 hour")
    await listed.get_by_role("button", name="Revoke").click()
    await expect(listed).to_have_count(0)
    await eve.page.locator("#link-ended-text").wait_for()
    await ada.press("Escape")
    await ada.until("() => document.activeElement === window.hawse.terminal.textarea")
    await ada.run("echo al''one")
    await ada.until_text("alone")


async def test_the_page_can_be_installed(open_page: Open) -> None:
    page = (await open_page()).page
    manifest = await page.evaluate(
        "async () => (await fetch(document.querySelector('link[rel=manifest]').href)).json()"
    )
    assert manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        size = await page.evaluate(
            """async src => {
              const image = new Image();
              image.src = src;
              await image.decode();
              return `${image.naturalWidth}x${image.naturalHeight}`;
            }""",
            icon["src"],
        )
        assert icon["sizes"] in (size, "any")
    session = await page.context.new_cdp_session(page)
    assert (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"] == []
