import pytest

from hawse.plain.row import ScreenRow, cells_of


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("ab", ["a", "b"]),
        ("漢b", ["漢", "", "b"]),
        ("e\u0301b", ["e\u0301", "b"]),
        ("a\tb", ["a", "\t", *[""] * 6, "b"]),
        ("\u0301", ["\u0301"]),
    ],
)
def test_a_character_has_a_cell_for_each_column(text: str, cells: list[str]) -> None:
    assert cells_of(text) == cells
    assert "".join(cells) == text


def test_a_cell_is_bounded() -> None:
    assert max(map(len, cells_of("a" + "\u0301" * 100))) == 16


def test_half_of_a_wide_character_becomes_blank() -> None:
    row = ScreenRow(0)
    row.text = "漢字漢"
    row.write(1, ["x"])
    row.cut(5)
    assert row.current() == " x字 "
    row.delete(3, 1)
    assert row.current() == " x  "


def test_a_redrawn_row_without_words_is_not_shown() -> None:
    row = ScreenRow(0)
    row.text = " |/-\\ ⠋ "
    assert row.shown() == " |/-\\ ⠋ "
    row.redrawn = True
    assert row.shown() is None
    row.write(0, ["a"])
    assert row.shown() == "a|/-\\ ⠋"


def test_blanks_do_not_count_as_changes() -> None:
    row = ScreenRow(0)
    row.write(2, ["a", "b"])
    row.blank(1, 99)
    assert (row.current(), row.changed) == ("    ", 2)
