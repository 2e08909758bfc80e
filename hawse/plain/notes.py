"""Keeps errors and warnings that were overwritten, for example when a progress display is redrawn without them."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hawse.plain.lines import is_alert, shape
from hawse.plain.row import ScreenRow

NOTES_MAX: Final = 64  # maximum number of notes


class Note(NamedTuple):
    """An overwritten error or warning, and the row where it will be shown."""

    row: ScreenRow
    text: str


class Notes:
    """The notes for rows that the program can still change."""

    def __init__(self) -> None:
        self._notes: dict[str, Note] = {}  # keyed by their texts without numbers (`shape`)

    def __bool__(self) -> bool:
        return bool(self._notes)

    def add(self, text: str, row: ScreenRow) -> Note | None:
        """Add a note for `text` if it reports a problem. If there are then too many notes, remove and return the
        oldest.
        """
        text = text.strip()
        if not is_alert(text):
            return None
        key = shape(text)
        self._notes.pop(key, None)
        self._notes[key] = Note(row, text)
        return self._notes.pop(next(iter(self._notes))) if len(self._notes) > NOTES_MAX else None

    def of(self, row: ScreenRow, rows: Iterable[ScreenRow]) -> list[str]:
        """Return the pieces of text overwritten in `row`, without those that are still visible in any of `rows`."""
        found = {key: note.text for key, note in self._notes.items() if note.row is row}
        if not found:
            return []
        shown = {other.shape() for other in rows}
        return [text for key, text in found.items() if key not in shown]

    def remove(self, row: ScreenRow) -> None:
        self._notes = {key: note for key, note in self._notes.items() if note.row is not row}

    def move(self, rows: Sequence[ScreenRow], to: ScreenRow) -> None:
        """Move the notes of `rows`, which are about to be removed, to the row `to`."""
        if not self._notes:
            return
        gone = set(map(id, rows))
        self._notes = {key: Note(to, note.text) if id(note.row) in gone else note for key, note in self._notes.items()}
