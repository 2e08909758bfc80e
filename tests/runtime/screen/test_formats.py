"""A screen as text, ANSI and HTML, with cursor and modes."""

import msgspec
import pytest
from pyghostty import Terminal as Emulator

from runtime.screen.formats import CONTENT_LIMIT, view


@pytest.fixture
def emulator():
    with Emulator(20, 4, scrollback=100) as emulator:
        yield emulator


def test_text_has_one_line_for_each_row_and_the_cursor_stands_in_it(emulator: Emulator) -> None:
    emulator.feed(b"one  \r\n\r\n\x1b[31mtwo\x1b[m")
    shown = view(emulator, "text", 0)
    assert shown["content"].split("\n") == ["one", "", "two", ""]
    assert shown["cursor"] == {"x": 3, "y": 2, "visible": True, "shape": "block"}
    assert (shown["cols"], shown["rows"], shown["alternate"], shown["truncated"]) == (20, 4, False, False)


def test_what_has_scrolled_away_is_above_if_it_is_asked_for(emulator: Emulator) -> None:
    emulator.feed(b"".join(b"l%d\r\n" % n for n in range(9)))
    assert view(emulator, "text", 0)["content"] == "l6\nl7\nl8\n"
    shown = view(emulator, "text", 2)
    assert (shown["content"], shown["scrollback"]) == ("l4\nl5\nl6\nl7\nl8\n", 2)
    assert view(emulator, "text", 100)["scrollback"] == 6


def test_ansi_keeps_the_styles_and_html_escapes_what_is_text(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[1;31m<b>&\x1b[m")
    assert "\x1b[" in view(emulator, "ansi", 0)["content"]
    html = view(emulator, "html", 0)["content"]
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ('https://x/"><script>', True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:x", False),
        ("data:text/html,x", False),
        ("HTTP://x", True),
    ],
)
def test_html_has_no_link_that_a_page_must_not_follow(emulator: Emulator, target: str, kept: bool) -> None:
    emulator.feed(b"\x1b]8;;" + target.encode() + b"\x07link\x1b]8;;\x07")
    html = view(emulator, "html", 0)["content"]
    assert "link" in html
    assert "<script>" not in html
    assert ("href=" in html) is kept


def test_modes_are_told_by_name(emulator: Emulator) -> None:
    before = view(emulator, "text", 0)["modes"]
    assert (before["autowrap"], before["mouse"], before["kitty_keyboard"]) == (True, None, 0)
    emulator.feed(b"\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[6 q\x1b[>5u\x1b[4h")
    shown = view(emulator, "text", 0)
    assert shown["alternate"]
    assert (shown["cursor"]["visible"], shown["cursor"]["shape"]) == (False, "bar")
    modes = shown["modes"]
    assert (modes["application_cursor"], modes["application_keypad"], modes["bracketed_paste"]) == (True, True, True)
    assert (modes["mouse"], modes["mouse_format"], modes["kitty_keyboard"], modes["insert"]) == ("drag", "sgr", 5, True)


def test_a_huge_screen_is_cut_and_says_so() -> None:
    with Emulator(1000, 1000, scrollback=0) as emulator:
        emulator.feed("".join(f"\x1b[38;5;{n % 200}mx" for n in range(1_000_000)).encode())
        for form in ("text", "ansi", "html"):
            shown = view(emulator, form, 0)
            assert shown["truncated"]
            assert 0 < len(msgspec.json.encode(shown["content"])) <= CONTENT_LIMIT


def test_one_row_that_is_too_much_is_left_out() -> None:
    with Emulator(1000, 1) as emulator:
        emulator.feed(("x" + "\u0301" * 400).encode() * 999)
        shown = view(emulator, "text", 0)
        assert shown["truncated"] == (shown["content"] == "")
