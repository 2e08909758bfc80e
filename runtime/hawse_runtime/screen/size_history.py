"""A terminal's sizes, each with the output offset where it takes effect.

Size changes are numbered so that each reader of the output can find the next one to send.
"""

from typing import NamedTuple

LIMIT = 4096  # maximum number of size changes kept


class SizeMark(NamedTuple):
    """A size change: output from `offset` onward was printed for this size."""

    offset: int
    cols: int
    rows: int


class OutputPlace(NamedTuple):
    """A position in the output, along with the terminal size there and the number of the next size change."""

    offset: int
    cols: int
    rows: int
    next_mark: int


class SizeHistory:
    """A terminal's size changes, in order. Changes numbered below `first` have been dropped."""

    def __init__(self, cols: int, rows: int) -> None:
        self.first = 0
        self._marks = [SizeMark(0, cols, rows)]

    @property
    def latest(self) -> SizeMark:
        return self._marks[-1]

    @property
    def next(self) -> int:
        """The number that the next size change will get."""
        return self.first + len(self._marks)

    def latest_size(self) -> tuple[int, int]:
        """Return the latest number of columns and rows."""
        return self._marks[-1][1:]

    def add(self, mark: SizeMark) -> None:
        self._marks.append(mark)
        if len(self._marks) > LIMIT:
            del self._marks[0]
            self.first += 1

    def get(self, number: int) -> SizeMark | None:
        """Return the size change with this number, or None if it hasn't happened yet."""
        index = number - self.first
        return self._marks[index] if index < len(self._marks) else None

    def place_at(self, offset: int) -> OutputPlace:
        """Return the position at `offset`, after any size changes at that offset."""
        index = 0
        while index + 1 < len(self._marks) and self._marks[index + 1].offset <= offset:
            index += 1
        return OutputPlace(offset, self._marks[index].cols, self._marks[index].rows, self.first + index + 1)

    def size_at(self, offset: int) -> tuple[int, int, int]:
        """Return the columns and rows at `offset`, before any change there, and the number of the next change."""
        index = 0
        while index + 1 < len(self._marks) and self._marks[index + 1].offset < offset:
            index += 1
        return self._marks[index].cols, self._marks[index].rows, self.first + index + 1
