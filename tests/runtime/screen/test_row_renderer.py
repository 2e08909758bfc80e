"""Rows painted anew have the cells, links, blanks and soft wraps that they had."""

import pytest
from pyghostty import Terminal

from runtime.screen.ghostty import row_flags, screen_cells
from runtime.screen.row_renderer import CONTINUES, WRAPS, RowRenderer, palette, unpack

COLS, ROWS = 12, 4


def painted(data: bytes) -> bytes:
    with Terminal(COLS, ROWS) as emulator:
        emulator.feed(data)
        return RowRenderer(emulator._t[0]).paint(0, ROWS - 1, joined=False)


def looks(data: bytes) -> tuple[object, ...]:
    with Terminal(COLS, ROWS) as emulator:
        emulator.feed(data)
        handle = emulator._t[0]
        cells = [[unpack(cell) for cell in row] for row in screen_cells(handle)]
        look = [[(c.text, c.wide, c.linked, c.protected, c.background) for c in row] for row in cells]
        styles = [[emulator.style(x, y) for x in range(COLS)] for y in range(ROWS)]
        return look, styles, [row & (WRAPS | CONTINUES) for row in row_flags(handle, 0, ROWS - 1)]


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
    ],
)
def test_painted_rows_are_those_that_were_read(data: bytes) -> None:
    assert looks(painted(data)) == looks(data)


def test_a_link_that_goes_on_is_opened_once() -> None:
    assert painted(b"\x1b]8;;x:y\x07ab\x1b[1mcd\x1b]8;;\x07e").count(b"\x1b]8;;x:y\x1b\\") == 1


@pytest.mark.parametrize(
    ("index", "base", "said"),
    [(1, 30, b";31"), (9, 30, b";91"), (9, 40, b";101"), (16, 40, b";48;5;16"), (1, 50, b";58;5;1")],
)
def test_the_first_colours_of_the_palette_have_short_names(index: int, base: int, said: bytes) -> None:
    assert palette(index, base) == said
