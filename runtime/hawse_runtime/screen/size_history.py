"""The sizes of a terminal, each with the output offset where it takes effect.

Size changes are numbered, so that each reader of the output knows which one to send next.
"""

from typing import NamedTuple

LIMIT = 4096  # size changes kept


class SizeMark(NamedTuple):
    """The output from `offset` on was printed for this size."""

    offset: int
    cols: int
    rows: int


class OutputPlace(NamedTuple):
    """A place in the output: the size there, and the number of the next size change."""

    offset: int
    cols: int
    rows: int
    next_mark: int


class SizeHistory:
    """The size changes of one terminal, in order. Changes with numbers below `first` have been dropped."""

    def __init__(self, cols: int, rows: int) -> None:
        self.first = 0
        self._marks = [SizeMark(0, cols, rows)]

    @property
    def latest(self) -> SizeMark:
        return self._marks[-1]

    @property
    def next(self) -> int:
        """The number of the next size change."""
        return self.first + len(self._marks)

    def latest_size(self) -> tuple[int, int]:
        """Return the latest columns and rows."""
        return self._marks[-1][1:]

    def add(self, mark: SizeMark) -> None:
        self._marks.append(mark)
        if len(self._marks) > LIMIT:
            del self._marks[0]
            self.first += 1

    def get(self, number: int) -> SizeMark | None:
        """Return the size change with this number; None if it has not happened yet."""
        index = number - self.first
        return self._marks[index] if index < len(self._marks) else None

    def place_at(self, offset: int) -> OutputPlace:
        """Return the place at `offset`, after the changes at that offset."""
        index = 0
        while index + 1 < len(self._marks) and self._marks[index + 1].offset <= offset:
            index += 1
        return OutputPlace(offset, self._marks[index].cols, self._marks[index].rows, self.first + index + 1)

    def size_at(self, offset: int) -> tuple[int, int, int]:
        """Return columns, rows and the number of the next change at `offset`, before the changes at that offset."""
        index = 0
        while index + 1 < len(self._marks) and self._marks[index + 1].offset < offset:
            index += 1
        return self._marks[index].cols, self._marks[index].rows, self.first + index + 1
