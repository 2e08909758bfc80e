"""A snapshot and the rest of the output give the same screen as all of the output, for a cut at any offset."""

import logging

import pytest
from hypothesis import Phase, given, settings, strategies as st
from pyghostty import Terminal
from pyghostty._ffi import check, ffi, lib

from hawse_runtime.screen.deferred_output import unfinished
from hawse_runtime.screen.emulator.ghostty import handle
from hawse_runtime.screen.emulator.screen import SEQUENCE_BYTES, Screen
from hawse_runtime.screen.emulator.snapshot import Parts, cursor_position, plain_rows
from tests.fuzz.screens import CORPUS, GIVEN_UP, Case, Totals, run_case
from tests.support.screens import all_rows

COLS, ROWS = 16, 5
MODES = (1, 6, 7, 25, 47, 1000, 1002, 1006, 1047, 1049, 2004)
NOT_ON_BLANKS = ("fg", "bold", "italic", "faint")

PIECES = [
    b"\x1b[3X",
    b"\x1b7",
    b"\x1b8",
    b"word ",
    b"a longer line that wraps around\r\n",
    b"exactly16columns",
    b"\r\n",
    b"\n",
    b"\r",
    b"\t",
    b"\b",
    b"\x1b[2;3H",
    b"\x1b[H",
    b"\x1b[5;16H",
    b"\x1b[K",
    b"\x1b[1J",
    b"\x1b[2J",
    b"\x1b[31m",
    b"\x1b[1;4;38;2;10;20;30m",
    b"\x1b[0m",
    b"\x1b[?25l",
    b"\x1b[?25h",
    b"\x1b[?2004h",
    b"\x1b[?1000h\x1b[?1006h",
    b"\x1b[2;4r",
    b"\x1b[r",
    b"\x1b[?7l",
    b"\x1b[?7h",
    b"\x1b[3L",
    b"\x1b[2M",
    b"\x1b[4@",
    b"\x1bM",
    b"\x1b(0lqk\x1b(B",
    b"\x1b]0;title\x07",
    b"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\",
    b"\x1b]7;file:///tmp\x07",
    b"\x1bP+q544e\x1b\\",
    b"\x1b_Gi=1;AAAA\x1b\\",
    b"\x1b[3\n1m",
    b"\xff\xfe",
    b"\xe2\x82",
]
# Not in one list: the cell that a wide character leaves free at the right margin loses its background.
COLOURED = [*PIECES, b"\x1b[44m", b"\x1b[48;2;1;2;3m\x1b[K", b"\x1b[7m\x1b[2K"]
WIDE = [*PIECES, "€uro ✓ 日本 👩‍👩‍👧 ".encode(), "日本語日本語日本語".encode()]
ENTER = [b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h"]
LEAVE = {b"\x1b[?1049h": b"\x1b[?1049l", b"\x1b[?1047h": b"\x1b[?1047l", b"\x1b[?47h": b"\x1b[?47l"}


def shown(terminal: Terminal) -> dict[str, object]:
    """Return all visible state of a terminal."""
    return {
        "scrollback": all_rows(terminal).rstrip(),
        "text": terminal.text().rstrip(),
        "cursor": terminal.cursor,
        "modes": [terminal.mode(mode) for mode in MODES],
    }


def cells(terminal: Terminal) -> list[dict[str, object] | None]:
    return [look(terminal, x, y) for y in range(ROWS) for x in range(COLS)]


def look(terminal: Terminal, x: int, y: int) -> dict[str, object] | None:
    """Return the look of one cell; None for a cell that a wide character has left free because it did not fit.

    The foreground of a blank is left out, because it is not visible.
    """
    cell = ffi.new("GhosttyCell*")
    check(lib.ghostty_grid_ref_cell(terminal.ref(x, y), cell), "cell")
    wide = ffi.new("int*")
    check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_WIDE, wide), "width")
    if wide[0] == lib.GHOSTTY_CELL_WIDE_SPACER_HEAD:
        return None
    tag, text = ffi.new("int*"), ffi.new("uint32_t*")
    check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CONTENT_TAG, tag), "tag")
    check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CODEPOINT, text), "text")
    style: dict[str, object] = terminal.style(x, y)
    if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
        index = ffi.new("uint8_t*")
        check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, index), "colour")
        style["bg"] = ("palette", index[0])
    elif tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
        rgb = ffi.new("GhosttyColorRgb*")
        check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_RGB, rgb), "colour")
        style["bg"] = ("rgb", (rgb.r, rgb.g, rgb.b))
    elif text[0] > ord(" "):
        return style
    return {name: value for name, value in style.items() if name not in NOT_ON_BLANKS}


def painted(data: bytes, cut: int) -> Terminal:
    """Return an emulator that was fed a snapshot of the first `cut` bytes, and the rest unchanged."""
    cut -= unfinished(data[:cut])
    screen = Screen(COLS, ROWS)
    try:
        screen.feed(data[:cut])
        snapshot = screen.snapshot()
    finally:
        screen.close()
    terminal = Terminal(COLS, ROWS)
    terminal.feed(snapshot)
    terminal.feed(data[cut:])
    return terminal


def same_wherever_cut(data: bytes, cut: int) -> None:
    with Terminal(COLS, ROWS) as straight, painted(data, cut) as resumed:
        straight.feed(data)
        is_so, should_be = shown(resumed), shown(straight)
        assert is_so == should_be, (data, cut)
        for i, (left, right) in enumerate(zip(cells(resumed), cells(straight), strict=True)):
            assert left is None or right is None or left == right, (data, cut, divmod(i, COLS))


# Without Phase.shrink: the data is readable as it is, and shrinking takes minutes.
thorough = settings(
    max_examples=100, deadline=None, report_multiple_bugs=False, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)

contents = st.sampled_from((COLOURED, WIDE)).flatmap(
    lambda pieces: st.lists(st.sampled_from(pieces), max_size=25).map(b"".join)
)


@thorough
@given(contents, st.data())
def test_a_snapshot_and_the_rest_of_the_output_show_the_same_as_all_output(data: bytes, draw: st.DataObject) -> None:
    same_wherever_cut(data, draw.draw(st.integers(0, len(data))))


@thorough
@given(contents, st.sampled_from(ENTER), contents, contents, st.data())
def test_the_same_holds_when_the_alternate_screen_is_entered_and_left(
    before: bytes, enter: bytes, within: bytes, after: bytes, draw: st.DataObject
) -> None:
    data = before + enter + within + LEAVE[enter] + after
    start = len(before)
    same_wherever_cut(data, draw.draw(st.integers(start, start + len(enter + within + LEAVE[enter]))))


@pytest.mark.parametrize("number", [47, 1047, 1049])
def test_a_wrap_that_is_pending_is_carried_to_the_other_screen(number: int) -> None:
    enter, leave = b"\x1b[?%dh" % number, b"\x1b[?%dl" % number
    same_wherever_cut(b"exactly16columns" + enter + b"next", 16 + len(enter))
    same_wherever_cut(b"\r\n" + enter + b"exactly16columns" + leave + b"next", 18 + len(enter + leave))


def test_a_resize_while_the_alternate_screen_is_shown_reflows_the_main_screen() -> None:
    text, leave = b"a longer line that wraps around\r\n$ ", b"\x1b[?1049l"
    screen = Screen(COLS, ROWS)
    screen.feed(text + b"\x1b[?1049hvim")
    screen.resize(COLS * 2, ROWS)
    snapshot = screen.snapshot()
    screen.close()
    with Terminal(COLS, ROWS) as straight, Terminal(COLS * 2, ROWS) as resumed:
        straight.feed(text + b"\x1b[?1049hvim")
        straight.resize(COLS * 2, ROWS)
        straight.feed(leave)
        resumed.feed(snapshot + leave)
        assert resumed.text() == straight.text()
        assert resumed.cursor == straight.cursor


def test_an_unfinished_sequence_is_included_up_to_a_length() -> None:
    for size, carried in ((200_000, True), (SEQUENCE_BYTES + 1000, False)):
        screen = Screen(COLS, ROWS)
        screen.feed(b"text\x1b]1337;File=:" + b"Q" * size)
        assert screen.snapshot().endswith(b"Q" * 100) is carried
        screen.close()


def snapshot_of(data: bytes, scrollback: int = 1000) -> bytes:
    screen = Screen(COLS, ROWS)
    try:
        screen.feed(data)
        return screen.snapshot(scrollback)
    finally:
        screen.close()


def test_title_directory_cursor_shape_and_colours_are_restored() -> None:
    for sequence in (b"\x1b]2;my title\x1b\\", b"\x1b]7;file:///tmp\x1b\\", b"\x1b[5 q", b"\x1b]10;rgb:01/02/03\x1b\\"):
        assert sequence in snapshot_of(b"text" + sequence)
    assert b" q" not in snapshot_of(b"text")  # the program has set no shape, so the viewer uses its own


@pytest.mark.parametrize("case", CORPUS)
def test_a_snapshot_that_once_failed_shows_the_screen(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    totals = Totals()
    with caplog.at_level(logging.WARNING, "hawse_runtime.screen"):
        run_case(case, totals)
    assert totals.snapshots == len(case.steps)
    assert (totals.plain, totals.different) == (0, 0), caplog.text


@pytest.mark.parametrize("case", GIVEN_UP)
def test_a_part_that_cannot_be_painted_is_left_out_and_logged(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    totals = Totals()
    with caplog.at_level(logging.WARNING, "hawse_runtime.screen"):
        run_case(case, totals)
    assert (totals.plain, totals.different) == (1, 0)
    assert "a snapshot lacks main screen and saved cursor" in caplog.text


def test_the_parts_that_fail_are_replaced_by_plainer_ones_in_order() -> None:
    made: list[str] = []

    def form(name: str, *, fails: bool) -> bytes:
        made.append(name)
        if fails:
            raise IndexError(name)
        return name.encode()

    parts = Parts()
    assert parts("rows", lambda: form("exact", fails=True), lambda: form("text", fails=False)) == b"text"
    assert parts("title", lambda: form("title", fails=True)) == b""
    assert parts.both("saved cursor", lambda: (form("main", fails=True), b"")) == (b"", b"")
    assert made == ["exact", "text", "title", "main"]
    assert parts.given_up == [
        "rows (IndexError: exact)",
        "title (IndexError: title)",
        "saved cursor (IndexError: main)",
    ]


def test_the_plain_form_of_a_screen_has_its_text_and_cursor() -> None:
    screen = Screen(COLS, ROWS)
    screen.feed(b"\x1b[31mone\r\n\x1b[4m\xe6\xb1\x89 two")
    with Terminal(COLS, ROWS) as plain:
        plain.feed(plain_rows(handle(screen.emulator)) + cursor_position(handle(screen.emulator)))
        assert plain.text() == screen.text()
        assert plain.cursor == screen.emulator.cursor
    screen.close()


def test_a_reply_is_not_sent_again_by_a_snapshot_within_a_query() -> None:
    replies: list[bytes] = []
    screen = Screen(COLS, ROWS, reply=replies.append)
    screen.feed(b"\x1b_Ga=q,i=1,s=1,v=1,f=24;\x90")
    before = len(replies)
    screen.snapshot()
    assert len(replies) == before
    screen.feed(b"\x1b\\\x1b[c")
    assert replies[-1].startswith(b"\x1b[?"), "the screen answers again after the snapshot"
    screen.close()
