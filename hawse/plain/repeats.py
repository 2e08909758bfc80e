"""Counts repeated lines, and keeps only the last line of a progress report that is printed line by line."""

import re
from typing import Final

from hawse.plain.lines import Line

KEPT: Final = 3  # repeated lines that are printed rather than counted

_SPINNER: Final = re.compile(r"[\s\u2800-\u28ff\u25d0-\u25d3\u25f4-\u25f7]+")
_PERCENT: Final = re.compile(r"(\d{1,3})(?:\.\d+)?%")
_NUMBERS: Final = re.compile(r"(?:\d[\d.,:]*[A-Za-z%/]{0,4})+")
_BARS: Final = re.compile(r"[\s#=>.\-\u2500-\u259f]+")


class Repeats:
    """The latest line, and the number of lines like it."""

    def __init__(self) -> None:
        self._run: list[Line] = []  # the first lines of the run, at most KEPT
        self._last = Line("", 0, 0)
        self._count = 0
        self._progress: bool | None = None  # whether the lines of the run report progress; None if there is only one

    def copy(self) -> "Repeats":
        """Return an independent copy."""
        other = Repeats()
        other.__dict__.update(self.__dict__, _run=self._run[:])
        return other

    def push(self, line: Line) -> list[Line]:
        """Add a line. Return the lines that are complete."""
        if line.ended and self._count and self._continues(line):
            self._last = line
            self._count += 1
            if len(self._run) < KEPT:
                self._run.append(line)
            return []
        done = self.rest()
        self._progress = None
        if not line.ended:
            self._count = 0
            return [*done, line]
        self._run, self._last, self._count = [line], line, 1
        return done

    def rest(self) -> list[Line]:
        """Return the lines that are not complete."""
        if not self._count:
            return []
        if self._count <= KEPT:
            return self._run
        first, last, more = self._run[0], self._last, self._count - 1
        if self._progress:
            return [Line(f"[… {more:,} earlier lines of this progress]", first.start, last.start), last]
        return [first, Line(f"[… {more:,} more identical lines]", first.end, last.end)]

    def _continues(self, line: Line) -> bool:
        if self._progress is not True and _identical(line.text, self._last.text):
            self._progress = False
            return True
        if self._progress is not False and "%" in line.text and _advances(self._last.text, line.text):
            self._progress = True
            return True
        return False


def _identical(text: str, other: str) -> bool:
    """Return whether two lines are the same, apart from the frame of a spinner in front of them."""
    if text == other:
        return True
    if text.isascii() or not (frame := _SPINNER.match(text)) or not (shown := _SPINNER.match(other)):
        return False
    return text[frame.end() :] == other[shown.end() :]


def _advances(before: str, after: str) -> bool:
    """Return whether two lines differ only in numbers and bars, and the percentage has not become smaller."""
    old, new = _PERCENT.search(before), _PERCENT.search(after)
    if old is None or new is None or int(old[1]) > int(new[1]):
        return False
    return _form(before) == _form(after)


def _form(text: str) -> str:
    return _BARS.sub(" ", _NUMBERS.sub("#", text))
