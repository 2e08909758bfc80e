"""libghostty's C interface: cells, rows, state and clones as Python values."""

from collections.abc import Iterator

import pytest
from pyghostty import Terminal

from hawse_runtime.screen.emulator import ghostty
from hawse_runtime.screen.emulator.screen import Screen


@pytest.fixture
def emulator() -> Iterator[Terminal]:
    with Terminal(10, 3) as emulator:
        yield emulator


def test_scrollback_rows_have_negative_numbers(emulator: Terminal) -> None:
    emulator.feed(b"one\r\ntwo\r\nthree\r\nfour\r\nfive")
    characters = [ghostty.characters_at(ghostty.at(ghostty.handle(emulator), 0, y)) for y in range(-2, 3)]
    assert characters == ["o", "t", "t", "f", "f"]
    assert len(ghostty.row_flags(ghostty.handle(emulator), -2, 2)) == 5


def test_the_cells_of_the_screen_are_those_of_its_rows(emulator: Terminal) -> None:
    emulator.feed("日本 e\u0301\r\nx\x1b[44m\x1b[K".encode())
    handle = ghostty.handle(emulator)
    assert ghostty.screen_cells(handle) == [ghostty.row_cells(ghostty.at(handle, 0, y), 10) for y in range(3)]


def test_flags_of_a_row_are_found_by_their_name(emulator: Terminal) -> None:
    emulator.feed(b"longer than ten\r\nshort")
    first, second, third = ghostty.row_flags(ghostty.handle(emulator), 0, 2)
    wraps, continues = ghostty.row_mask("WRAP"), ghostty.row_mask("WRAP_CONTINUATION")
    assert first & wraps
    assert second & continues
    assert not second & wraps
    assert not third & (wraps | continues)
    with pytest.raises(AttributeError):
        ghostty.row_mask("NO_SUCH_FLAG")


def test_a_link_and_many_combined_characters_are_read(emulator: Terminal) -> None:
    text = "e" + "\u0301" * 60
    emulator.feed(f"\x1b]8;;https://example.com/\x07x\x1b]8;;\x07{text}".encode())
    assert ghostty.link_at(ghostty.at(ghostty.handle(emulator), 0, 0)) == b"https://example.com/"
    assert ghostty.characters_at(ghostty.at(ghostty.handle(emulator), 1, 0)) == text


def test_a_clone_has_the_state_and_the_requested_number_of_scrollback_rows() -> None:
    screen = Screen(10, 3)
    screen.feed(b"row\r\n" * 2000 + b"here\x1b[31m\x1b]0;unfin")
    handle = ghostty.handle(screen.emulator)
    for scrollback in (0, 100):
        with ghostty.cloned(handle, scrollback=scrollback) as (clone, screens):
            assert ghostty.get(clone, "CURSOR_X", "uint16_t") == 4
            assert not scrollback or ghostty.get(clone, "SCROLLBACK_ROWS", "size_t") == 1998
            assert not ghostty.unfinished(clone)
            assert screens[0].cursor == (4, 2, False)
    assert ghostty.unfinished(handle) == b"\x1b]0;unfin"
    screen.close()


def test_colours_and_names_are_returned_after_they_are_set(emulator: Terminal) -> None:
    handle = ghostty.handle(emulator)
    assert ghostty.get_bytes(handle, "TITLE") == b""
    assert ghostty.get_colour(handle, "COLOR_FOREGROUND") is None
    assert ghostty.get_palette(handle, "COLOR_PALETTE") == ghostty.get_palette(handle, "COLOR_PALETTE_DEFAULT")
    emulator.feed(b"\x1b]2;title\x07\x1b]10;#010203\x07\x1b]4;0;#040506\x07")
    assert ghostty.get_bytes(handle, "TITLE") == b"title"
    assert ghostty.get_colour(handle, "COLOR_FOREGROUND") == (1, 2, 3)
    assert ghostty.get_palette(handle, "COLOR_PALETTE")[:3] == bytes((4, 5, 6))


def test_the_last_cell_of_each_row_is_read(emulator: Terminal) -> None:
    emulator.feed("longer than ten\r\nx日本語日本".encode())
    handle = ghostty.handle(emulator)
    assert ghostty.column_cells(handle, -1, [0, 1, 2]) == [row[-1] for row in ghostty.screen_cells(handle)]
