"""Several people on one terminal, and what happens when its shell ends."""

import pytest

from e2e.conftest import Open

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_browsers_see_the_same_screen_and_one_that_comes_late_too(open_page: Open) -> None:
    first = await open_page()
    second = await open_page(width=800, height=600)
    await first.run(r"for i in $(seq 300); do printf '\033[3%dmline %d\033[0m \u6f22\n' $((i % 8)) $i; done")
    await second.until_text("line 300")
    await second.run("echo from the second")
    await first.until_text("from the second")
    third = await open_page(width=1280, height=900)
    await third.until_text("from the second")
    for view in (first, second, third):
        await view.settled()
    screens = [await view.cells() for view in (first, second, third)]
    assert screens[0] == screens[1]
    assert screens[0] == screens[2]


async def test_queries_of_programs_are_answered_once_however_many_watch(open_page: Open) -> None:
    first = await open_page()
    second = await open_page()
    ask = r"stty raw -echo min 0 time 5; printf '\033[6n'; answer=$(dd bs=100 count=4 2>/dev/null | tr -dc 'R0-9;'); "
    await first.run(ask + "stty sane; echo got-$answer-")
    await first.until_text("R-")
    await second.until_text("R-")
    shown = "".join(await first.screen())
    assert shown.rpartition("got-")[2].count("R") == 1, shown


async def test_the_end_of_a_shell_is_told_with_its_code_and_a_new_one_offered(open_page: Open) -> None:
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


async def test_a_killed_shell_is_told_by_its_signal(open_page: Open) -> None:
    view = await open_page()
    await view.run("kill -9 $$")
    await view.page.locator("text=killed by SIGKILL >> visible=true").first.wait_for()
    await view.press("Enter")
    await view.until_live()
    await view.run("echo alive $((6 * 7))")
    await view.until_text("alive 42")
