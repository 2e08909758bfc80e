"""Finds text that a screen does not have to read, because it would scroll out of the scrollback.

Millions of lines are the most expensive input of an emulator, and all but the last few thousand leave no trace except
the pen: the style of the next character (SGR). This module decides which bytes only scroll (docs/decisions/0120).
"""

import re
from collections import deque

SHORTEST = 128 << 10  # bytes: it takes less time to feed fewer bytes than to search them
LONGEST_CUT = 64  # bytes of an unfinished sequence that may be completed to one of `_HARMLESS`
COUNTED = 64 << 10  # bytes: a screen reads up to that many more than it needs
ENTRIES = 256  # counts: two of them cover more than `COUNTED` bytes, so that they cover the whole journal
NEAR = 64 << 10  # bytes: in styled output, a style is nearly always reset within fewer

# These bytes and LF change only the position of the cursor, or belong to a printed character (ECMA-48), or are ESC.
_TEXT = bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100)) + b"\a\t\r\x1b"
_C1 = re.compile(rb"\xc2[\x80-\x9f]")  # control functions in UTF-8
# SGR changes the pen; EL and CHA erase in the row of the cursor, and move the cursor in it.
_HARMLESS = rb"\[[0-9;:]*+[mKG]"
_OTHER = re.compile(rb"\x1b(?!" + _HARMLESS + rb")")
_CUT = re.compile(rb"\x1b(?:\[[0-9;:]*)?\Z")
_SGR = re.compile(rb"\x1b\[[0-9;:]*m")
_RESETS = (b"\x1b[0m", b"\x1b[m")


def scrolling_lines(data: bytes, before: bytes = b"") -> int | None:
    """Return the number of line feeds in `data` if it is lines of text in any style; None if a screen has to read it.

    It may begin or end within a character, whose first byte `before` may be.
    """
    if _OTHER.search(data) is not None:
        return None
    lines = data.translate(None, _TEXT)  # all line feeds, and what is not text
    if lines != b"\n" * len(lines) or _C1.match(before + data[:1]) is not None:
        return None
    return None if b"\xc2" in data and _C1.search(data) is not None else len(lines)


def cut_sequence(data: bytes) -> int:
    """Return how many bytes at the end of `data` are an unfinished sequence that may only style text."""
    at = data.rfind(b"\x1b", max(0, len(data) - LONGEST_CUT))
    return len(data) - at if at >= 0 and _CUT.match(data, at) else 0


class LineCounts:
    """Where the line feeds of a text are, to within about `COUNTED` bytes. It may count too few, never too many."""

    def __init__(self) -> None:
        self._totals: deque[tuple[int, int]] = deque(maxlen=ENTRIES)  # (offset, line feeds up to it), ascending

    def add(self, offset: int, lines: int) -> None:
        """Note that there are `lines` line feeds between the latest offset and `offset`."""
        total = lines + (self._totals[-1][1] if self._totals else 0)
        if len(self._totals) > 1 and offset - self._totals[-2][0] <= COUNTED:
            self._totals.pop()  # small portions share an entry
        self._totals.append((offset, total))

    def before(self, lines: int, first: int, last: int) -> int:
        """Return the last offset in `[first, last]` that more than `lines` line feeds follow; `first` if none is known.

        Args:
            lines: The number of line feeds that a screen needs of the text before `last`.
            first: The least offset to return.
            last: The end of the text.
        """
        known = [entry for entry in self._totals if first <= entry[0] <= last]
        return next((offset for offset, total in reversed(known) if known[-1][1] - total > lines), first)


def pen(data: bytes) -> bytes:
    """Return the sequences of `data` that change the pen, from the last one on that resets it."""
    if b"\x1b" not in data:  # the usual case; to search it for each sequence takes thirty times as long
        return b""
    for first in (max(0, len(data) - NEAR), 0):  # a search of everything would cost as much as finding the sequences
        at = max(data.rfind(reset, first) for reset in _RESETS)
        if at >= 0:
            return b"".join(_SGR.findall(data, at))
    return b"".join(_SGR.findall(data))
