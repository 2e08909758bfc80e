from hawse.plain.notes import NOTES_MAX, Notes
from hawse.plain.row import ScreenRow


def row_of(text: str) -> ScreenRow:
    row = ScreenRow(0)
    row.text = text
    return row


def test_a_note_is_shown_where_no_row_shows_it() -> None:
    notes, row = Notes(), ScreenRow(0)
    notes.add(" error 1 ", row)
    notes.add("no problem", row)
    assert notes.of(row, []) == ["error 1"]
    assert notes.of(row, [row_of("error 2")]) == []
    assert notes.of(ScreenRow(0), []) == []


def test_the_latest_version_is_kept() -> None:
    notes, row = Notes(), ScreenRow(0)
    for count in range(10):
        notes.add(f"{count} failed", row)
    assert notes.of(row, []) == ["9 failed"]


def test_the_notes_of_removed_rows_are_moved() -> None:
    notes, old, new = Notes(), ScreenRow(0), ScreenRow(0)
    notes.add("error", old)
    notes.move([old], new)
    assert (notes.of(old, []), notes.of(new, [])) == ([], ["error"])
    notes.remove(new)
    assert not notes


def test_too_many_notes_return_the_oldest() -> None:
    notes, row = Notes(), ScreenRow(0)
    names = [f"error a{'b' * n}" for n in range(NOTES_MAX + 1)]
    oldest = [notes.add(name, row) for name in names]
    assert oldest[:-1] == [None] * NOTES_MAX
    assert (oldest[-1].text if oldest[-1] else None) == "error a"
