"""What a terminal has besides its screen: the mouse, and requests of programs to copy, to notify and to show images."""

import base64

import pytest
from playwright.async_api import expect

from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")
expect.set_options(timeout=WAIT)

# What is loaded after the first prompt has been added to each terminal. The line of an ended shell is a part of it.
# That its files were loaded says less: they have not run yet.
_EXTRAS = "() => document.querySelector('.stage > .ended') !== null"
_LOADED = "name => performance.getEntriesByType('resource').some(entry => entry.name.includes(name))"
_CLIPBOARD = "() => navigator.clipboard.readText()"
# 60 × 120 red pixels.
SIXEL = r"\033Pq#1;2;100;0;0" + "-".join(["#1!60~"] * 20) + r"\033\\"
# A red pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="


async def with_clipboard(view: View) -> None:
    """Allow the page to use the clipboard, and wait for what is loaded after the first prompt."""
    await view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await view.until(_EXTRAS)


async def prefer(view: View, preferences: str) -> None:
    """Store preferences as the settings do, and load the page again."""
    await view.page.evaluate("text => localStorage.setItem('hawse.terminal', text)", preferences)
    await view.page.reload()
    await view.until_live()
    await view.until(_EXTRAS)


async def select_word(view: View, word: str) -> None:
    """Select a word at the start of the last line that has it, with a double click."""
    await view.until_text(word)
    row = max(y for y, line in enumerate(await view.screen()) if line.startswith(word))
    box = await view.page.locator(".xterm-screen").bounding_box()
    rows = (await view.state())["rows"]
    assert box is not None
    await view.page.mouse.dblclick(box["x"] + 20, box["y"] + (row + 0.5) * box["height"] / rows)


async def test_a_selection_is_copied_at_once_if_the_user_wants_that(open_page: Open) -> None:
    view = await open_page()
    await with_clipboard(view)
    await prefer(view, '{"copyOnSelect":true}')
    await view.run("echo select''ed")
    await select_word(view, "selected")
    await view.until("async () => (await navigator.clipboard.readText()) === 'selected'")


async def test_the_right_button_opens_a_menu_that_copies_and_pastes(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await with_clipboard(view)
    await view.run("echo echo''-me")
    await select_word(view, "echo-me")
    await page.mouse.click(300, 300, button="right")
    menu = page.get_by_role("menu", name="Terminal")
    await menu.get_by_text("Copy", exact=True).click()
    await view.until("async () => (await navigator.clipboard.readText()).startsWith('echo-me')")
    await view.type("echo pasted-")
    await page.mouse.click(300, 300, button="right")
    await menu.get_by_text("Paste", exact=True).click()
    await view.until_text("echo pasted-echo-me")  # the clipboard is read asynchronously
    await view.press("Enter")
    await view.until_text("\npasted-echo-me")
    await prefer(view, '{"rightClick":"paste"}')
    await view.type("echo again-")
    await page.mouse.click(300, 300, button="right")
    await view.until_text("echo again-echo-me")


async def test_a_long_press_selects_a_word_and_handles_change_the_selection(open_page: Open) -> None:
    view = await open_page(width=390, height=844, touch=True)
    page = view.page
    await with_clipboard(view)
    await view.run("clear; echo under-fin''ger and more")
    await view.until_text("under-finger and more")
    box = await page.locator(".xterm-screen").bounding_box()
    assert box is not None
    row = next(y for y, line in enumerate(await view.screen()) if line.startswith("under-finger"))
    finger = await page.context.new_cdp_session(page)
    rows = (await view.state())["rows"]
    point = {"x": box["x"] + 30, "y": box["y"] + (row + 0.5) * box["height"] / rows}
    await finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    await view.until("() => window.hawse.terminal.getSelection() === 'under-finger'")
    await finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    bar = page.get_by_role("toolbar", name="Selection")
    await expect(bar.get_by_role("button", name="Paste")).to_be_visible()
    handle = await page.locator(".touch-selection .end").bounding_box()
    assert handle is not None
    assert handle["width"] >= 44
    grip = {"x": handle["x"] + 10, "y": handle["y"] + 16}
    width = box["width"] / (await view.state())["cols"]
    for kind, points in (
        ("touchStart", [grip]),
        ("touchMove", [grip | {"x": grip["x"] + 2 * width}]),
        ("touchMove", [grip | {"x": grip["x"] + 4 * width}]),
        ("touchEnd", []),
    ):
        await finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await view.until("() => window.hawse.terminal.getSelection() === 'under-finger and'")
    await expect(bar).to_be_visible()
    await bar.get_by_role("button", name="Copy").tap()
    await view.until("async () => (await navigator.clipboard.readText()) === 'under-finger and'")
    await expect(bar).to_be_hidden()


async def test_a_program_copies_after_a_question_and_never_reads(open_page: Open) -> None:
    view = await open_page()
    other = await open_page()
    page = view.page
    await with_clipboard(view)
    await other.until(_EXTRAS)
    copy = r"printf '\033]52;c;" + base64.b64encode(b"from a program").decode() + r"\a'"
    await view.run(copy)
    await expect(page.get_by_text("A program wants to copy “from a program”")).to_be_visible()
    await view.run("echo typ''ed")  # the question does not take the keyboard
    await view.until_text("typed")
    await expect(other.page.get_by_text("A program wants to copy")).to_have_count(0)
    await page.get_by_role("button", name="Copy", exact=True).click()
    await view.until("async () => (await navigator.clipboard.readText()) === 'from a program'")
    await view.run("stty -echo; " + r"printf '\033]52;c;?\a'; read -t 1 -n 1 answer; stty echo; echo got-$answer-")
    await view.until_text("got--")
    await view.run(copy.replace(base64.b64encode(b"from a program").decode(), base64.b64encode(b"second").decode()))
    await page.get_by_role("button", name="Always", exact=True).click()
    await view.until("async () => (await navigator.clipboard.readText()) === 'second'")
    await view.run(copy)
    await view.until("async () => (await navigator.clipboard.readText()) === 'from a program'")


async def test_notifications_of_programs_are_shown_where_the_user_is(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await with_clipboard(view)
    await view.run(r"printf '\033]9;build is done\a'")
    await expect(page.get_by_text("build is done", exact=True)).to_be_visible()
    await page.context.grant_permissions(["notifications"])
    await page.reload()  # it forgets when it has shown the last one: at most three in ten seconds are shown
    await view.until_live()
    await view.until(_EXTRAS)
    # The user works in another window. The browser of the tests has no place for notifications.
    await page.evaluate(
        """() => {
          document.hasFocus = () => false;
          window.shown = [];
          window.Notification = class {
            static permission = "granted";
            constructor(title, { body }) { window.shown.push(`${title}: ${body}`); }
          };
        }"""
    )
    await view.run(r"printf '\033]777;notify;Build;number %d\a' 1 2 3 4 5 6; echo s''ent")
    await view.until_text("sent")
    assert await page.evaluate("() => window.shown") == [f"Build: number {n}" for n in (1, 2, 3)]


async def test_progress_of_a_program_is_shown_on_its_tab_until_the_prompt(open_page: Open) -> None:
    view = await open_page()
    await with_clipboard(view)
    tab = view.page.locator(".tabs li").first
    await view.run(r"printf '\033]9;4;1;42\a'; read")
    await expect(tab).to_have_attribute("data-progress", "normal")
    assert await tab.evaluate("element => element.style.getPropertyValue('--progress')") == "42"
    await view.press("Enter")
    await expect(tab).not_to_have_attribute("data-progress", "normal")


async def test_images_are_shown_and_their_decoders_loaded_with_the_first_one(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await with_clipboard(view)
    await view.run("clear")
    await view.until("() => window.hawse.terminal.buffer.active.cursorY === 0")
    assert not await page.evaluate(_LOADED, "addon-image")
    await view.run(rf"printf '{SIXEL}'; echo beh''ind")
    await view.until_text("behind")
    rows = [index for index, line in enumerate(await view.screen()) if line.endswith("behind")]
    assert rows[-1] >= 3, "the image has the height of some lines"
    await expect(page.locator("canvas.xterm-image-layer")).to_have_count(1)
    size = len(base64.b64decode(PNG))
    await view.run(rf"clear; printf '\033]1337;File=inline=1;size={size};width=10;height=4:{PNG}\a'; echo ag''ain")
    await view.until_text("again")
    assert next(index for index, line in enumerate(await view.screen()) if "again" in line) >= 3
    lost = page.get_by_text("Images from before the reload are not shown")
    await page.reload()
    await view.until_live()
    await expect(lost).to_be_visible()
    await page.reload()
    await view.until_live()
    await view.until(_EXTRAS)
    await expect(lost).to_be_hidden()  # it was said
    assert view.errors == []


async def test_the_font_of_symbols_is_loaded_when_the_first_one_is_drawn(open_page: Open) -> None:
    view = await open_page()
    await with_clipboard(view)
    assert not await view.page.evaluate(_LOADED, "PureNerdFont")
    await view.run(r"printf '\uf113 \n'")
    await view.until(_LOADED, "PureNerdFont")


async def test_the_line_of_a_command_stays_while_its_output_scrolls(open_page: Open) -> None:
    view = await open_page()
    await with_clipboard(view)
    bar = view.page.locator(".sticky-command")
    await expect(bar).to_be_hidden()
    await view.run("seq 200; echo d''one; read")
    await view.until_text("done")
    await expect(bar).to_have_text("seq 200; echo d''one; read")
    await expect(bar).to_have_attribute("data-state", "running")
    await bar.click()
    await view.until("() => window.hawse.terminal.buffer.active.viewportY < 30")
    await expect(bar).to_be_hidden()
    await view.press("Enter")
    await view.run("clear")
    await expect(bar).to_be_hidden()


async def test_a_new_shell_is_divided_from_the_one_above(open_page: Open) -> None:
    view = await open_page()
    await with_clipboard(view)
    await view.run("seq -f 'old %g' 50; exit 7")
    await view.page.get_by_role("button", name="New shell").click()
    await view.until_live()
    divider = view.page.get_by_role("button", name="The shell above exited with code 7")
    await divider.click()
    await view.until("() => window.hawse.terminal.buffer.active.viewportY < window.hawse.terminal.buffer.active.baseY")
    await view.run("echo n''ew")
    await view.until_text("new")


async def test_the_divider_knows_how_a_shell_ended_before_the_page_was_loaded(open_page: Open) -> None:
    view = await open_page()
    await view.run("seq -f 'old %g' 50; exit 7")
    end = view.page.get_by_label("The shell has ended")
    await expect(end).to_contain_text("exited with code 7")
    await view.page.reload()
    await end.get_by_role("button", name="New shell").click()
    await view.until_live()
    await expect(view.page.get_by_role("button", name="The shell above exited with code 7")).to_be_visible()


async def test_what_is_typed_while_the_connection_is_down_is_shown_dimmed(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await with_clipboard(view)
        await view.run("echo be''fore")
        await view.until_text("before")
        await view.until_prompt()  # otherwise the command runs, and might ask for a password
        keys = view.page.locator(".waiting-keys")
        proxy.refuse()
        await view.type("echo lates")
        await expect(keys).to_have_text("echo lates")
        await view.press("Backspace")
        await view.type("''r")
        await view.press("Enter")
        await expect(keys).to_have_text("echo late''r⏎ ")
        proxy.resume()
        await view.until_text("\nlater")
        await expect(keys).to_be_hidden()


async def test_what_an_ended_shell_did_not_confirm_is_not_shown_as_waiting(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await view.until(_EXTRAS)
        proxy.refuse()
        await view.type("exit 3")
        await expect(view.page.locator(".waiting-keys")).to_have_text("exit 3")
        await view.press("Enter")
        # The shell has ended before the page is connected again, which learns only of that.
        proxy.resume()
        await expect(view.page.get_by_label("The shell has ended")).to_contain_text("exited with code 3")
        await expect(view.page.locator(".waiting-keys")).to_be_hidden()


async def test_keys_are_shown_while_the_connection_stands_still(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await view.until(_EXTRAS)
        predicted, waiting = view.page.locator(".predicted u"), view.page.locator(".waiting-keys")
        await view.until_pattern(r"[$#] ")  # the shell prints again what was typed before its prompt
        await view.type("e")
        await view.until_pattern(r"[$#] e\n")
        proxy.stall()
        await view.type("cho wronx")
        await expect(predicted).to_have_text("cho wronx")
        await view.press("Backspace")
        await view.type("g")
        await expect(predicted).to_have_text("cho wrong")
        await predicted_at_the_cursor(view, len("cho wrong"))
        proxy.resume_reading()
        await view.until_pattern(r"[$#] echo wrong\n")
        await expect(predicted).to_be_hidden()
        # A program that does not echo: what is typed is not predicted, and not shown as waiting.
        await view.run("; read -s line; echo got-$line")
        await view.until_pattern(r"\nwrong\n")  # the page knows that a command runs
        await view.settled()
        proxy.stall()
        await view.type("secret")
        await expect(waiting).to_have_text("••••••")
        await expect(predicted).to_be_hidden()
        proxy.resume_reading()
        await view.press("Enter")
        await view.until_text("got-secret")


async def predicted_at_the_cursor(view: View, length: int) -> None:
    """Check that a prediction of `length` cells is where the program will print it."""
    predicted = view.page.locator(".predicted u")
    box = await predicted.evaluate("element => element.getBoundingClientRect().toJSON()")
    screen = await view.page.locator(".xterm-screen").bounding_box()
    state = await view.state()
    assert screen is not None
    width = screen["width"] / state["cols"]
    column = await view.evaluate("() => window.hawse.terminal.buffer.active.cursorX")
    assert abs(box["x"] - screen["x"] - column * width) < 1
    assert abs(box["width"] - length * width) < 2


async def test_predictions_are_in_the_right_columns_behind_wide_characters(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await view.until(_EXTRAS)
        # A program and not a prompt of the shell, whose line editor needs the locale to know their width.
        await view.run(r"printf '~/\346\226\207\346\241\243> '; read line; echo got-$line")
        await view.until_pattern(r"\n~/文档> *\n")
        await view.type("a")
        await view.until_pattern(r"\n~/文档> a\n")
        proxy.stall()
        await view.type("bcd")
        await expect(view.page.locator(".predicted u")).to_have_text("bcd")
        await predicted_at_the_cursor(view, len("bcd"))
        proxy.resume_reading()
        await view.press("Enter")
        await view.until_text("got-abcd")


async def test_a_program_that_stops_its_echo_in_a_row_ends_the_predictions(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await view.until(_EXTRAS)
        quiet = r"stty -echo; printf '\e]2;quiet\a'"
        await view.run(f"read -n1 -p 'sure? ' answer; {quiet}; read line; stty echo; echo; echo got-$line")
        await view.until_pattern(r"\nsure\? *\n")
        await view.type("y")
        await view.until_pattern(r"\nsure\? y\n")
        await expect(view.page).to_have_title("quiet · hawse")  # it echoes nothing more
        proxy.stall()
        await view.type("sec")
        await expect(view.page.locator(".predicted")).to_be_visible()
        proxy.resume_reading()
        await expect(view.page.locator(".predicted")).to_be_hidden()
        proxy.stall()
        await view.type("ret")
        await expect(view.page.locator(".waiting-keys")).to_have_text("•••")
        await expect(view.page.locator(".predicted")).to_be_hidden()
        proxy.resume_reading()
        await view.press("Enter")
        await view.until_text("got-secret")


async def test_predictions_are_switched_off_in_the_settings(open_page: Open, stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        view = await open_page(port=proxy.port)
        await prefer(view, '{"predict":"always"}')
        await view.press("Control+,")
        sheet = view.page.get_by_role("dialog", name="Settings")
        choice = sheet.get_by_label("Predict typed text")
        await expect(choice).to_have_value("always")
        await choice.select_option("Never")
        await view.press("Escape")
        await view.type("e")
        await view.until_pattern(r"[$#] e\n")
        await view.settled()
        proxy.stall()
        await view.type("cho")
        await expect(view.page.locator(".waiting-keys")).to_have_text("cho")
        await expect(view.page.locator(".predicted")).to_be_hidden()
        proxy.resume_reading()
        await view.until_pattern(r"[$#] echo\n")
