"""Counts repeated lines and the steps of installers and builds, and keeps the last line of a progress report."""

import re
from typing import Final

from hawse.plain.lines import Line, is_alert

KEPT: Final = {"same": 3, "progress": 3, "steps": 8}  # number of lines shown per run; the others are only counted

_SPINNER: Final = re.compile(r"[\s\u2800-\u28ff\u25d0-\u25d3\u25f4-\u25f7]+")
_PERCENT: Final = re.compile(r"(\d{1,3})(?:\.\d+)?%")
_NUMBERS: Final = re.compile(r"(?:\d[\d.,:]*[A-Za-z%/]{0,4})+")
_STEP: Final = re.compile(  # lines that package managers and compilers print for each package or file
    r"\s*(?:(?:Collecting|Compiling|Downloaded|Downloading|Extracting|Fetching|Installing|Pulling|Unpacking|"
    r"Preparing to unpack|Selecting previously|Setting up|Using cached|Verifying) |Get:\d+ |[\u2501\u2578]{4})"
)
_BARS: Final = re.compile(r"[\s#=>.\-\u2500-\u259f]+")


class Repeats:
    """The latest run of similar lines, and the number of lines in it."""

    def __init__(self) -> None:
        self._run: list[Line] = []  # the lines at the start of the run that will be shown
        self._last = Line("", 0, 0)
        self._count = 0
        self._kind: str | None = None  # a key of KEPT; None if there is only one line

    def copy(self) -> "Repeats":
        """Return an independent copy."""
        other = Repeats()
        other.__dict__.update(self.__dict__, _run=self._run[:])
        return other

    def push(self, line: Line) -> list[Line]:
        """Add a line. Return the lines of the previous run, or none if the line continues that run."""
        kind = self._kind_with(line) if line.ended and self._count else None
        if kind is not None:
            self._kind, self._last = kind, line
            self._count += 1
            if len(self._run) < KEPT[kind]:
                self._run.append(line)
            return []
        done = self.rest()
        self._kind = None
        if not line.ended:
            self._count = 0
            return [*done, line]
        self._run, self._last, self._count = [line], line, 1
        return done

    def rest(self) -> list[Line]:
        """Return the lines that the next line might still be merged with."""
        if not self._count:
            return []
        if self._kind is None or self._count <= KEPT[self._kind]:
            return self._run
        first, second, last, count = self._run[0], self._run[1], self._last, self._count
        if self._kind == "same":
            return [first, Line(f"[… {count - 1:,} more identical lines]", first.end, last.end)]
        if self._kind == "progress":
            return [Line(f"[… {count - 1:,} earlier lines of this progress]", first.start, last.start), last]
        return [first, second, Line(f"[… {count - 3:,} more steps]", second.end, last.start), last]

    def _kind_with(self, line: Line) -> str | None:
        """Return the kind of run that the line continues, if any."""
        if self._kind in (None, "progress") and "%" in line.text and _advances(self._last.text, line.text):
            return "progress"
        if self._kind in (None, "same") and _identical(line.text, self._last.text):
            return "same"
        if self._kind in (None, "steps") and _is_step(line.text) and _is_step(self._last.text):
            return "steps"
        return None


def _is_step(text: str) -> bool:
    return _STEP.match(text) is not None and not is_alert(text)


def _identical(text: str, other: str) -> bool:
    """Return whether two lines are the same apart from a spinner frame at the start."""
    if text == other:
        return True
    if text.isascii() or not (frame := _SPINNER.match(text)) or not (shown := _SPINNER.match(other)):
        return False
    return text[frame.end() :] == other[shown.end() :]


def _advances(before: str, after: str) -> bool:
    """Return whether two lines differ only in numbers and bars, and the percentage has not decreased."""
    if before == after:
        return True
    old, new = _PERCENT.search(before), _PERCENT.search(after)
    if old is None or new is None or int(old[1]) > int(new[1]):
        return False
    return _form(before) == _form(after)


def _form(text: str) -> str:
    return _BARS.sub(" ", _NUMBERS.sub("#", text))
