"""A screen as text, ANSI and HTML, with cursor and modes."""

from typing import Any

import msgspec
import pytest
from pyghostty import Terminal as Emulator

from hawse.api.terminals import ScreenFormat
from hawse_runtime.screen.emulator import formats
from hawse_runtime.screen.emulator.formats import CONTENT_LIMIT, view


def shown_by(emulator: Emulator, form: ScreenFormat, scrollback: int) -> dict[str, Any]:
    """What `view` returns."""
    steps = view(emulator, form, scrollback)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: dict[str, Any] = end.value
            return result


@pytest.fixture
def emulator():
    with Emulator(20, 4, scrollback=100) as emulator:
        yield emulator


def test_text_has_one_line_for_each_row_and_the_cursor_has_its_position(emulator: Emulator) -> None:
    emulator.feed(b"one  \r\n\r\n\x1b[31mtwo\x1b[m")
    shown = shown_by(emulator, "text", 0)
    assert shown["content"].split("\n") == ["one", "", "two", ""]
    assert shown["cursor"] == {"x": 3, "y": 2, "visible": True, "shape": "block"}
    assert (shown["cols"], shown["rows"], shown["alternate"], shown["truncated"]) == (20, 4, False, False)


def test_scrollback_is_included_on_request(emulator: Emulator) -> None:
    emulator.feed(b"".join(b"l%d\r\n" % n for n in range(9)))
    assert shown_by(emulator, "text", 0)["content"] == "l6\nl7\nl8\n"
    shown = shown_by(emulator, "text", 2)
    assert (shown["content"], shown["scrollback"]) == ("l4\nl5\nl6\nl7\nl8\n", 2)
    assert shown_by(emulator, "text", 100)["scrollback"] == 6


def test_ansi_keeps_the_styles_and_html_escapes_text(emulator: Emulator) -> None:
    emulator.feed(b"\x1b[1;31m<b>&\x1b[m")
    assert "\x1b[" in shown_by(emulator, "ansi", 0)["content"]
    html = shown_by(emulator, "html", 0)["content"]
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
def test_html_omits_links_with_schemes_that_are_not_allowed(emulator: Emulator, target: str, kept: bool) -> None:
    emulator.feed(b"\x1b]8;;" + target.encode() + b"\x07link\x1b]8;;\x07")
    html = shown_by(emulator, "html", 0)["content"]
    assert "link" in html
    assert "<script>" not in html
    assert ("href=" in html) is kept


def test_modes_are_reported_by_name(emulator: Emulator) -> None:
    before = shown_by(emulator, "text", 0)["modes"]
    assert (before["autowrap"], before["mouse"], before["kitty_keyboard"]) == (True, None, 0)
    emulator.feed(b"\x1b[?1049h\x1b[?1h\x1b=\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[6 q\x1b[>5u\x1b[4h")
    shown = shown_by(emulator, "text", 0)
    assert shown["alternate"]
    assert (shown["cursor"]["visible"], shown["cursor"]["shape"]) == (False, "bar")
    modes = shown["modes"]
    assert (modes["application_cursor"], modes["application_keypad"], modes["bracketed_paste"]) == (True, True, True)
    assert (modes["mouse"], modes["mouse_format"], modes["kitty_keyboard"], modes["insert"]) == ("drag", "sgr", 5, True)


def test_a_huge_screen_is_truncated_and_marked_as_truncated() -> None:
    with Emulator(1000, 1000, scrollback=0) as emulator:
        emulator.feed("".join(f"\x1b[38;5;{n % 200}mx" for n in range(1_000_000)).encode())
        for form in ("text", "ansi", "html"):
            shown = shown_by(emulator, form, 0)
            assert shown["truncated"]
            assert 0 < len(msgspec.json.encode(shown["content"])) <= CONTENT_LIMIT


def test_a_single_row_above_the_limit_is_left_out() -> None:
    with Emulator(1000, 1) as emulator:
        emulator.feed(("x" + "\u0301" * 400).encode() * 999)
        shown = shown_by(emulator, "text", 0)
        assert shown["truncated"] == (shown["content"] == "")


@pytest.mark.parametrize("form", ["text", "ansi", "html"])
def test_the_steps_of_a_screen_add_up_to_the_whole(
    emulator: Emulator, form: ScreenFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = b"one\r\n\r\n\x1b[31mred and wrapped to the next row\x1b[m\r\n\r\n\r\n\r\n\x1b[32mA\r\nB\x1b[m C   \r\n"
    emulator.feed(rows * 3 + b"\x1b]8;;http://x/\x07link\x1b]8;;\x07\r\n\r\n")
    whole = shown_by(emulator, form, 100)
    monkeypatch.setattr(formats, "STEP", 40)  # two rows
    assert shown_by(emulator, form, 100) == whole
    assert sum(1 for _ in view(emulator, form, 100)) == -(-(whole["scrollback"] + 4) // 2)
