"""The screen reads output, answers queries, reports its state, and bounds its scrollback."""

import pytest

from hawse_runtime.screen.emulator.screen import SCROLLBACK_BYTES, Screen
from hawse_runtime.screen.requests import SCROLLBACK_LINES


def test_it_answers_queries_once() -> None:
    replies: list[bytes] = []
    screen = Screen(40, 5, reply=replies.append)
    screen.feed(b"ab\x1b[6n")
    screen.snapshot()
    assert replies == [b"\x1b[1;3R"]
    screen.close()


def test_a_resize_reflows() -> None:
    screen = Screen(10, 5)
    screen.feed(b"0123456789abcde")
    screen.resize(20, 5)
    assert (screen.cols, screen.rows) == (20, 5)
    assert screen.text().startswith("0123456789abcde")
    screen.close()


@pytest.mark.parametrize("cols", [20, 80, 200, 250])
def test_it_keeps_the_stated_number_of_scrollback_rows_at_any_width(cols: int) -> None:
    screen = Screen(80, 24)
    screen.resize(cols, 24)
    screen.feed(b"y\r\n" * 30_000)
    kept = screen.emulator.get("scrollback_rows", "size_t")
    assert kept >= SCROLLBACK_LINES - 600
    assert screen.snapshot().count(b"y") <= SCROLLBACK_LINES + 24
    screen.close()


def test_the_widest_screen_keeps_its_scrollback_within_the_bound_in_bytes() -> None:
    screen = Screen(1000, 24)
    screen.feed(b"y\r\n" * 30_000)
    kept = screen.emulator.get("scrollback_rows", "size_t")
    assert 500 < kept * 1000 * 8 < SCROLLBACK_BYTES
    screen.close()


@pytest.mark.parametrize(
    ("output", "whole", "calm"),
    [
        (b"text\x1b[31m", True, True),
        (b"\x1b[3", False, False),
        (b"\x1b]0;title", False, False),
        (b"\x1b[2;4r", True, False),
        (b"\x1b[2;4r\x1b[r", True, True),
    ],
)
def test_it_reports_whether_a_sequence_is_unfinished_and_whether_all_of_it_scrolls(
    output: bytes, whole: bool, calm: bool
) -> None:
    screen = Screen(20, 5)
    screen.feed(output)
    assert (screen.whole, screen.calm) == (whole, calm)
    screen.close()


def test_the_state_of_a_long_sequence_is_not_read_after_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    fed = 0

    def unfinished(terminal: object) -> bytes:
        asked.append(fed)
        return bytes(fed)

    monkeypatch.setattr("hawse_runtime.screen.emulator.screen.unfinished_sequence", unfinished)
    screen = Screen(80, 24)
    for piece in [b"\x1b]1337;File=:", *[b"QUJD" * 1024] * 500]:
        screen.feed(piece)
        fed += len(piece)
        assert not screen.whole
    assert sum(asked) < 20 * fed
    screen.close()


@pytest.mark.parametrize("cut", range(1, 8))
def test_the_marks_of_prompts_have_no_effect_however_they_are_cut(cut: int) -> None:
    screen = Screen(20, 3)
    for part in (b"\r\n\r\nabc", b"\x1b]133;A\x07"[:cut], b"\x1b]133;A\x07"[cut:], b"$ \x1b[H\x1b[2J"):
        screen.feed(part)
    painted = Screen(20, 3)
    painted.feed(screen.snapshot())
    assert (screen.text().strip(), painted.text().strip()) == ("", "")
    assert screen.snapshot().count(b"\n") == 2  # the screen was cleared, and not moved into the scrollback
    screen.feed(b"abc\x1b]133;A\x07$")
    assert screen.text().strip() == "abc$"
    for each in (screen, painted):
        each.close()


@pytest.mark.parametrize("cut", range(1, 5))
def test_a_soft_reset_resets_modes_pen_and_saved_cursor_however_it_is_cut(cut: int) -> None:
    screen = Screen(20, 5)
    screen.feed(b"\x1b[2;4r\x1b[?6h\x1b[4h\x1b[?1h\x1b[?25l\x1b[31m\x1b(0\x1b7abc")
    screen.feed(b"\x1b[!p"[:cut])
    screen.feed(b"\x1b[!p"[cut:])
    screen.feed(b"a\rq\x1b8z")
    assert screen.text().split() == ["z", "q␉␌a"]
    assert not any(
        mode in screen.snapshot() for mode in (b"\x1b[4h", b"\x1b[?1h", b"\x1b[?25l", b"\x1b[?6h", b"\x1b[2;4r")
    )
    screen.close()


def test_a_resize_erases_no_prompt_that_its_shell_would_draw_again() -> None:
    screen = Screen(20, 5)
    screen.feed(b"\x1b]133;A;redraw=1\x07$ \x1b]133;B\x07typed")
    screen.resize(30, 5)
    assert screen.text().strip() == "$ typed"
    screen.close()
