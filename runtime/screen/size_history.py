"""The sizes a terminal has had, each with the offset in its output from which on it counts. They have numbers, so that
every reader of the output knows which it has yet to be told.
"""

from typing import NamedTuple

LIMIT = 4096  # size changes remembered


class SizeMark(NamedTuple):
    """From `offset` on the output is for this size."""

    offset: int
    cols: int
    rows: int


class SizeHistory:
    """Of one terminal, in order. Those with numbers below `first` are forgotten."""

    def __init__(self, cols: int, rows: int) -> None:
        self.first = 0
        self._marks = [SizeMark(0, cols, rows)]

    @property
    def latest(self) -> SizeMark:
        return self._marks[-1]

    @property
    def size(self) -> tuple[int, int]:
        """The latest columns and rows."""
        return self._marks[-1][1:]

    def add(self, mark: SizeMark) -> None:
        self._marks.append(mark)
        if len(self._marks) > LIMIT:
            del self._marks[0]
            self.first += 1

    def get(self, number: int) -> SizeMark | None:
        """The size change of that number, None if there is none yet."""
        index = number - self.first
        return self._marks[index] if index < len(self._marks) else None

    def size_at(self, offset: int) -> tuple[int, int, int]:
        """(cols, rows, number of the next mark) for the output at `offset`, before the marks that stand there."""
        index = 0
        while index + 1 < len(self._marks) and self._marks[index + 1].offset < offset:
            index += 1
        return self._marks[index].cols, self._marks[index].rows, self.first + index + 1
