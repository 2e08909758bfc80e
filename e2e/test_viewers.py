"""Several pages on one terminal, the end of its shell, search, and scrolling by touch."""

import pytest
from playwright.async_api import expect

import hawse
from e2e.conftest import Open
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_browsers_and_a_late_one_show_the_same_screen(open_page: Open) -> None:
    first = await open_page()
    second = await open_page(width=800, height=600)
    await first.run(r"for i in $(seq 300); do printf '\033[3%dmline %d\033[0m \u6f22\n' $((i % 8)) $i; done")
    await second.until_text("line 300")
    await second.run("echo from the second; exec sleep 1000")  # prints no prompt, which only one might show yet
    await first.until_text("\nfrom the second")
    third = await open_page(width=1280, height=900)
    await third.until_text("\nfrom the second")
    for view in (first, second, third):
        await view.settled()
    screens = [await view.cells() for view in (first, second, third)]
    assert screens[0] == screens[1]
    assert screens[0] == screens[2]


async def test_a_late_browser_shows_the_same_screen_as_one_whose_window_was_resized(open_page: Open) -> None:
    first = await open_page(width=1280, height=900)
    menu = r"for i in $(seq 20); do printf '\n\033[7mentry %d\033[0m \u6f22' $i; done; printf '\033[20A\033[9G'; "
    line = r"printf '$ '; printf 'y%.0s' $(seq 150); "
    await first.run(f"seq 60000; clear; {line}{menu}exec sleep 1000")
    await first.until_text("entry 20")
    for width, height in ((700, 900), (1100, 420), (900, 700), (1280, 500)):
        before = await first.state()
        await first.page.set_viewport_size({"width": width, "height": height})
        await first.until("size => window.hawse.state().cols !== size[0] || window.hawse.state().rows !== size[1]",
                          [before["cols"], before["rows"]])  # fmt: skip
    late = await open_page(width=1280, height=500)
    await late.until_text("entry 20")
    for view in (first, late):
        await view.settled()
    assert await first.cells() == await late.cells()


async def test_queries_of_programs_are_answered_once_with_several_viewers(open_page: Open) -> None:
    first = await open_page()
    second = await open_page()
    query_cursor = (
        r"stty raw -echo min 0 time 5; printf '\033[6n'; answer=$(dd bs=100 count=4 2>/dev/null | tr -dc 'R0-9;'); "
    )
    await first.run(query_cursor + "stty sane; echo got-$answer-")
    await first.until_text("R-")
    await second.until_text("R-")
    shown = "".join(await first.screen())
    assert shown.rpartition("got-")[2].count("R") == 1, shown


async def test_the_end_of_a_shell_shows_its_exit_code_and_offers_a_new_one(open_page: Open) -> None:
    view = await open_page()
    before = await view.state()
    await view.run("exit 7")
    await view.page.locator("text=exited with code 7 >> visible=true").first.wait_for()
    button = view.page.get_by_role("button", name="New shell")
    await button.wait_for()
    await button.click()
    await view.until_live()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")
    after = await view.state()
    assert after["pid"] != before["pid"]
    assert after["instance"] != before["instance"]


async def test_a_reloaded_page_shows_how_the_shell_ended(open_page: Open) -> None:
    view = await open_page()
    await view.run("echo last-''words; exit 7")
    await view.page.locator("text=exited with code 7 >> visible=true").first.wait_for()
    pid = (await view.state())["pid"]
    await view.page.reload()
    await view.page.locator("text=exited with code 7 >> visible=true").first.wait_for()
    await view.until_text("last-words")
    assert (await view.state())["pid"] == pid
    await view.press("Enter")
    await view.until_live()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")


async def test_a_new_shell_keeps_the_output_of_the_ended_one_in_the_scrollback(open_page: Open) -> None:
    view = await open_page()
    await view.run("seq -f 'old line %g' 100; exit 7")
    await view.page.get_by_role("button", name="New shell").click()
    await view.until_live()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")
    assert not any("old line" in row for row in await view.screen())
    text = "\n".join((await view.cells())["lines"])
    assert text.index("old line 1") < text.index("old line 100") < text.index("alive 42")


async def test_search_finds_text_in_the_scrollback(open_page: Open) -> None:
    view = await open_page()
    await view.run("echo the nee''dle; seq 200; echo the nee''dle and the e''nd")
    await view.until_text("the end")
    await view.press("Control+Shift+F")
    await view.page.get_by_label("Find in the terminal").wait_for()
    await view.type("needle")
    count = view.page.locator(".search-count")
    await view.until("() => document.querySelector('.search-count').textContent === '2 of 2'")
    await view.press("Enter")
    await view.until("() => document.querySelector('.search-count').textContent === '1 of 2'")
    await view.until("() => window.hawse.terminal.buffer.active.viewportY < 50")
    await view.page.keyboard.insert_text("less")
    await view.until("() => document.querySelector('.search-count').textContent === 'Not found'")
    await view.press("Escape")
    assert not await count.is_visible()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")


async def test_touch_scrolls_the_scrollback_and_a_pager(open_page: Open) -> None:
    view = await open_page(width=390, height=844, touch=True)
    await view.run("seq 300; echo e''nd")
    await view.until_text("end")
    await view.settled()
    await view.swipe((200, 200), (200, 600))
    await view.until(
        "() => { const { active } = window.hawse.terminal.buffer; return active.viewportY < active.baseY; }"
    )
    await view.page.locator("#keys").get_by_text("^C").tap()
    await view.until_pattern(r"\^C\s*\n\s*\S")  # the tap is a click some time later, after which there is a new prompt
    await view.run("seq 1000 | less")
    await view.until("() => window.hawse.terminal.buffer.active.type === 'alternate'")
    await view.until_text("20")
    await view.swipe((200, 600), (200, 300))
    await view.until("() => window.hawse.terminal.buffer.active.getLine(0).translateToString(true) !== '1'")


async def test_keys_of_the_bar_repeat_and_modifiers_apply_once(open_page: Open) -> None:
    view = await open_page(width=390, height=844, touch=True)
    page = view.page
    size = await view.page.evaluate("() => window.hawse.state().rows")
    await view.run("stty -echo; cat -v; stty echo")
    left = page.get_by_role("button", name="Left", exact=True)
    box = await left.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 20, box["y"] + 20)
    await page.mouse.down()
    await view.until("() => window.hawse.state().inputEnd > 30 + 5 * 3")
    await page.mouse.up()
    await view.press("Enter")
    await view.until_pattern(r"(\^\[\[D){5}")
    await page.get_by_role("button", name="ctrl", exact=True).click()
    await page.get_by_role("button", name="alt", exact=True).click()
    await left.click()
    await page.get_by_role("button", name="alt", exact=True).click()
    await view.type("xy")
    await view.press("Enter")
    await view.until_text("^[[1;7D^[xy")
    assert await page.evaluate("() => window.hawse.state().rows") == size, "the bar has its place before its keys"


async def test_a_killed_shell_shows_its_signal(open_page: Open) -> None:
    view = await open_page()
    await view.run("kill -9 $$")
    await view.page.locator("text=killed by SIGKILL >> visible=true").first.wait_for()
    await view.press("Enter")
    await view.until_live()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")


async def test_an_ended_shell_folds_to_a_line_and_its_output_is_shown_again(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await view.run("echo kept-''words; exit 0")
    line = page.get_by_role("region", name="The shell has ended")
    await expect(line).to_contain_text("exited with code 0")
    await expect(line).to_contain_text("ran ")
    await expect(page.locator(".xterm-rows")).to_be_hidden()
    await expect(line.get_by_role("button", name="New shell here")).to_be_focused()
    await expect(line.get_by_role("button", name="Close")).to_be_hidden()  # it is the only pane
    await line.get_by_role("button", name="Show output").click()
    await expect(page.locator(".xterm-rows")).to_contain_text("kept-words")
    await line.get_by_role("button", name="Hide output").click()
    await expect(page.locator(".xterm-rows")).to_be_hidden()
    await page.reload()
    await line.get_by_role("button", name="Show output").click()
    await expect(page.locator(".xterm-rows")).to_contain_text("kept-words")
    await line.get_by_role("button", name="New shell here").click()
    await view.until_live()
    await expect(line).to_be_hidden()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")
    text = "\n".join((await view.cells())["lines"])
    assert text.index("kept-words") < text.index("alive 42")


@pytest.mark.parametrize("code", [0, 3])
async def test_a_notice_does_not_cover_the_line_of_an_ended_shell(open_page: Open, stack: Stack, code: int) -> None:
    view = await open_page()
    page = view.page
    server = ["python3", "-m", "http.server", str(free_port()), "--bind", "127.0.0.1"]
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandbox().processes.start(server, id="server"):
        await view.run(f"exit {code}")
        await page.locator("#port").wait_for()
        await page.get_by_role("button", name="New shell here").wait_for()
        boxes = [await page.locator(name).bounding_box() for name in ("#port", ".stage > .ended")]
        notice, line = (box for box in boxes if box)
        assert notice["y"] + notice["height"] <= line["y"] or notice["y"] >= line["y"] + line["height"], boxes


async def test_the_pane_of_an_ended_shell_is_closed_if_there_are_others(open_page: Open) -> None:
    view = await open_page()
    page = view.page
    await page.get_by_role("button", name="New terminal").click()
    await view.until("() => window.hawse.channel.address.id !== 'main'")
    await view.until_live()
    await view.run("exit 3")
    line = page.locator(".pane.active:not([hidden])").get_by_role("region", name="The shell has ended")
    await expect(line).to_contain_text("exited with code 3")
    # Its last lines say why it failed.
    await expect(page.locator(".pane.active:not([hidden]) .xterm-rows")).to_be_visible()
    await line.get_by_role("button", name="Close").click()
    await view.until("() => window.hawse.channel.address.id === 'main'")


@pytest.mark.parametrize("split", ["Split right", "Split down"])
async def test_a_folded_shell_gives_its_space_in_a_split_to_the_others(open_page: Open, split: str) -> None:
    view = await open_page()
    page = view.page
    side = "width" if split == "Split right" else "height"
    await view.choose(split)
    await expect(page.locator(".divider")).to_have_count(1)
    await view.until("() => window.hawse.channel.address.id !== 'main'")
    await view.until_live()
    boxes = """side => [...document.querySelectorAll(".pane:not([hidden])")]
      .map(pane => Math.round(pane.getBoundingClientRect()[side]))"""
    before = await view.evaluate(boxes, side)
    await view.run("exit")
    ended = page.locator(".pane.active").get_by_role("region", name="The shell has ended")
    await expect(ended).to_be_visible()
    await view.until(f"([side, before]) => ({boxes})(side)[0] > before + 150", [side, before[0]])
    first, second = await view.evaluate(boxes, side)
    assert abs(first + second - sum(before)) <= 1  # px, of rounding
    assert second <= 160
    await expect(page.locator(".divider")).to_have_count(0)
    for name in ("Show output", "New shell here", "Close"):
        await expect(ended.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    await ended.get_by_role("button", name="Show output").click()
    await view.until(f"([side, before]) => ({boxes})(side).join() === before.join()", [side, before])
    await ended.get_by_role("button", name="Hide output").click()
    await ended.get_by_role("button", name="New shell here").click()
    await view.until_live()
    await expect(page.locator(".divider")).to_have_count(1)
