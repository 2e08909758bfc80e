"""Rows that are rendered and parsed again have the same cells, links, blanks and soft wraps."""

import pytest
from pyghostty import Terminal

from hawse_runtime.screen.emulator.ghostty import handle as open_handle, row_flags, screen_cells
from hawse_runtime.screen.emulator.row_renderer import CONTINUES, WRAPS, RowRenderer, palette, unpack

COLS, ROWS = 12, 4


def painted(data: bytes) -> bytes:
    with Terminal(COLS, ROWS) as emulator:
        emulator.feed(data)
        return RowRenderer(open_handle(emulator)).paint(0, ROWS - 1, joined=False)


def looks(data: bytes) -> tuple[object, ...]:
    with Terminal(COLS, ROWS) as emulator:
        emulator.feed(data)
        handle = open_handle(emulator)
        cells = [[unpack(cell) for cell in row] for row in screen_cells(handle)]
        look = [[(c.text, c.wide, c.linked, c.protected, c.background) for c in row] for row in cells]
        styles = [[emulator.style(x, y) for x in range(COLS)] for y in range(ROWS)]
        return look, styles, emulator.text(), [row & (WRAPS | CONTINUES) for row in row_flags(handle, 0, ROWS - 1)]


@pytest.mark.parametrize(
    "data",
    [
        b"plain\r\n\r\n  x",
        b"\x1b[1;3;4:3;58:5:9;31mcurly\x1b[0m \x1b[92;48;2;1;2;3mrgb",
        b"\x1b[44mab\x1b[K\x1b[0m\r\n\x1b[41m \x1b[0m\x1b[3Chole\x1b[42m\x1b[2X",
        b"a line that wraps over two rows",
        "wide 日本語日本語 e\u0301 🙂".encode(),
        b"\x1b[1;12H\xe6\x97\xa5",
        b"\x1b]8;;https://example.com/\x07link\x1b]8;;\x07 none",
        b'\x1b[1"qprotected\x1b[0"q not',
        b"twelve chars and\x1b[2;1H\x1b[2X",
        "\x1b(0漢字q\x1b[4m漢\u200d字\x1b(B.".encode(),  # a space of two columns, also with a joiner
        "\x1b(0漢字漢字漢字漢字\x1b(B".encode(),  # a line of them that wraps
        "a\ud7b5b\u11c2c".encode(),  # vowels and final consonants of Hangul without a first one
        b"text" + b" " * 10 + b"x\x1b[1;5H\x1b[41m\x1b[1;12H\x1b[1K\x1b[2;1H\x1b[0;42m\x1b[1K",  # erased, it wraps
        "\x1b[41m漢".encode() + b"\x1b[0m" + b" " * 11 + b"\x1b[1;12H\x1b[1K\x1b[1;1Hab\x1b[44m\x1b[1;5Hcd",
        "\x1b[?2027h👩\u200d👩\u200d👧 ❤\ufe0f \x1b[4m👍🏽\x1b[?2027l 👩\u200d👩".encode(),
        "\x1b[?2027h\x1b]8;;x:y\x07👩\u200d👧\x1b]8;;\x07|".encode(),
    ],
)
def test_rendered_rows_parse_to_the_same_rows(data: bytes) -> None:
    assert looks(painted(data)) == looks(data)


def test_a_link_across_a_change_of_style_is_opened_once() -> None:
    assert painted(b"\x1b]8;;x:y\x07ab\x1b[1mcd\x1b]8;;\x07e").count(b"\x1b]8;;x:y\x1b\\") == 1


@pytest.mark.parametrize(
    ("index", "base", "expected"),
    [(1, 30, b";31"), (9, 30, b";91"), (9, 40, b";101"), (16, 40, b";48;5;16"), (1, 50, b";58;5;1")],
)
def test_the_first_colours_of_the_palette_have_short_names(index: int, base: int, expected: bytes) -> None:
    assert palette(index, base) == expected
