"""Full-screen and line-oriented programs show the same cells in the browser as in a native terminal."""

import hashlib
import sys
import time
from pathlib import Path

import pytest

import hawse
from e2e.conftest import Open
from e2e.view import WAIT, View
from tests.support.native import Native
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

POEM = "\n".join(f"line {n}: the quick brown fox jumps over the lazy dog" for n in range(1, 201)) + "\n"


def workspace(stack: Stack) -> Path:
    return stack.state / "sandboxes" / "local" / "workspace"


@pytest.fixture
def native_home(tmp_path: Path) -> str:
    """A directory for the native terminal, with the same file in it."""
    home = tmp_path / "native"
    home.mkdir()
    (home / "poem.txt").write_text(POEM)
    return str(home)


async def write_poem(stack: Stack) -> None:
    """Write poem.txt as the sandbox's user: one of the test's user is read-only in an isolated sandbox."""
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().files.write("poem.txt", POEM.encode())


async def size_of(view: View) -> tuple[int, int]:
    state = await view.state()
    return state["cols"], state["rows"]


async def until_same(view: View, native: Native) -> None:
    """Wait until both show the same: one of them may have drawn only a part of it."""
    end = time.monotonic() + WAIT / 1000
    while (shown := await view.screen()) != native.screen():
        assert time.monotonic() < end or shown == native.screen()
        native.read(0.05)


async def prepare_shell(view: View) -> None:
    """Wait for the shell, clear the screen, and set a fixed prompt."""
    await view.run("PS1='$ '; clear; echo read''y")
    await view.until_text("ready")
    await view.run("clear")
    await view.until("() => window.hawse.terminal.buffer.active.cursorY === 0")


async def test_vim_edits_a_file_as_in_a_native_terminal(open_page: Open, stack: Stack, native_home: str) -> None:
    view = await open_page(webgl=True)
    await prepare_shell(view)
    await write_poem(stack)
    before = await view.screen()
    cols, rows = await size_of(view)
    keys = ["/line 42\r", "oinserted by vim \u6f22\u5b57\x1b", ":set number\r"]
    await view.run("vim -u NONE -N poem.txt")
    await view.until_text("line 1:")
    with Native("vim -u NONE -N poem.txt", cols=cols, rows=rows, cwd=native_home) as native:
        native.until_text("line 1:")
        for key in keys:
            native.send(key)
            for part in key.split("\x1b"):
                await view.type(part.rstrip("\r"))
                await view.press("Enter" if part.endswith("\r") else "Shift")
            if "\x1b" in key:
                await view.press("Escape")
        native.until_text(" 43 inserted by vim")
        await view.until_text(" 43 inserted by vim")
        await until_same(view, native)
        native.send(":q!\r")
    await view.run(":wq")
    await view.until("() => window.hawse.terminal.buffer.active.type === 'normal'")
    assert "inserted by vim \u6f22\u5b57" in (workspace(stack) / "poem.txt").read_text()
    assert (await view.screen())[: len(before) // 2][0].startswith("$ vim")


async def test_less_pages_and_searches_as_in_a_native_terminal(open_page: Open, stack: Stack, native_home: str) -> None:
    view = await open_page()
    await prepare_shell(view)
    await write_poem(stack)
    cols, rows = await size_of(view)
    await view.run("less poem.txt")
    await view.until_text("line 1:")
    with Native("less poem.txt", cols=cols, rows=rows, cwd=native_home) as native:
        native.until_text("line 1:")
        native.send(" ")
        native.send("/line 150\r")
        await view.type(" ")
        await view.run("/line 150")
        native.until_text("line 150:")
        await view.until_text("line 150:")
        await until_same(view, native)
    await view.type("q")
    await view.until("() => window.hawse.terminal.buffer.active.type === 'normal'")


async def test_htop_draws_its_table_and_leaves_the_shell_as_it_was(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    await view.run("htop")
    await view.until_text("PID")
    await view.until_text("F10")
    assert (await view.cells())["kind"] == "alternate"
    await view.press("F10")
    await view.until("() => window.hawse.terminal.buffer.active.type === 'normal'")
    await view.run("echo still $((40 + 2))")
    await view.until_text("still 42")


async def test_python_has_history_and_line_editing(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    await view.run(f"{sys.executable} -q")
    await view.until_text(">>>")
    await view.run("2 ** 100")
    await view.until_text("1267650600228229401496703205376")
    await view.press("ArrowUp")
    await view.until_text(">>> 2 ** 100\n1267650600228229401496703205376\n>>> 2 ** 100")
    await view.press("Backspace")
    await view.run("1")
    await view.until_text("2535301200456458802993406410752")
    await view.press("Control+d")
    await view.run("echo back")
    await view.until_text("back")


async def test_256_colours_and_true_colour_appear_in_the_cells(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    await view.run(
        r"for i in 1 99 200 255; do printf '\033[48;5;%dm%3d\033[0m' $i $i; done; printf '\033[38;2;1;2;3mRGB\033[0m\n'"
    )
    await view.until_text("  1 99200255RGB")
    colours = await view.page.evaluate(
        """() => {
          const { active } = window.hawse.terminal.buffer;
          for (let y = 0; y < active.length; y++) {
            const line = active.getLine(y);
            if (!line.translateToString().startsWith("  1 99200255RGB")) continue;
            return [0, 3, 6, 9].map(x => line.getCell(x).getBgColor()).concat(line.getCell(12).getFgColor());
          }
        }"""
    )
    assert colours == [1, 99, 200, 255, 0x010203]


async def test_wide_characters_and_emoji_have_the_right_width(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    await view.run("printf '|\u6f22\u5b57|\U0001f600|e\u0301|\uac00|\\n'")
    await view.until_text("\n|\u6f22\u5b57|\U0001f600|e\u0301|\uac00|")
    widths = await view.page.evaluate(
        """() => {
          const { active } = window.hawse.terminal.buffer;
          for (let y = 0; y < active.length; y++) {
            const line = active.getLine(y);
            if (!line.translateToString().startsWith("|")) continue;
            return Array.from({ length: 13 }, (_, x) => line.getCell(x).getWidth());
          }
        }"""
    )
    assert widths == [1, 2, 0, 2, 0, 1, 2, 0, 1, 1, 1, 2, 0]
    await view.run("echo r''un; cat")
    await view.until_text("\nrun")  # what comes before bash has left raw mode is not echoed
    await view.type("\u00e4\u20ac\U0001f680")  # typed, so the line discipline echoes it
    await view.until_text("\u00e4\u20ac\U0001f680")
    await view.press("Control+c")


async def test_a_paste_of_1_mb_arrives_whole(open_page: Open, stack: Stack) -> None:
    view = await open_page()
    await prepare_shell(view)
    text = "".join(f"{n:07d} pasted \u20ac\n" for n in range(56_000))  # 1.06 MB
    expected = text.replace("\n", "\r").encode()  # xterm.js, like every terminal, pastes line ends as Return
    await view.run(f"stty raw -echo; echo g''o; head -c {len(expected)} > big; stty sane; echo all''there")
    await view.until_text("go")
    await view.page.evaluate("text => window.hawse.terminal.paste(text)", text)
    await view.page.get_by_role("alertdialog").get_by_role("button", name="Paste").click()
    await view.until_text("allthere")
    received = (workspace(stack) / "big").read_bytes()
    assert hashlib.sha256(received).hexdigest() == hashlib.sha256(expected).hexdigest()


async def test_a_resize_reaches_the_program(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    before = await size_of(view)
    await view.page.set_viewport_size({"width": 700, "height": 500})
    await view.until("old => window.hawse.terminal.cols < old", before[0])
    await view.settled()
    cols, rows = await size_of(view)
    await view.run("stty size")
    await view.until_text(f"{rows} {cols}")


async def test_ctrl_c_stops_a_program(open_page: Open) -> None:
    view = await open_page()
    await prepare_shell(view)
    await view.run("sh -c 'echo run\"\"ning; exec sleep 1000'; echo gone $?")
    await view.until_text("\nrunning")  # bash loses a Ctrl-C that comes while it starts a child
    await view.press("Control+c")
    await view.run("echo prompt $((1 + 1))")
    await view.until_text("prompt 2")
    assert view.errors == []


async def test_webgl_that_draws_on_the_cpu_is_not_used(open_page: Open) -> None:
    drawn = "() => Boolean(document.querySelector('.xterm-screen canvas'))"
    assert await (await open_page(webgl=True)).page.evaluate(drawn), "it takes the renderer of Chromium for a GPU"
    assert not await (await open_page(webgl=None)).page.evaluate(drawn)
