"""Finds output that a screen can skip because it would scroll out of the scrollback anyway.

Millions of lines are the most expensive input for an emulator. All but the last few thousand affect only the pen: the
style of the next character (SGR). This module decides which output only scrolls (docs/decisions/0120).
"""

import re
from collections import deque

SHORTEST = 128 << 10  # minimum size of text to skip, in bytes; shorter text is faster to read than to search
LONGEST_CUT = 64  # maximum length in bytes of an unfinished sequence that can still become one of `_HARMLESS`
COUNTED = 64 << 10  # precision in bytes; a screen reads at most this much more than necessary
# Number of entries kept; enough for the whole journal, because two adjacent ones span over `COUNTED` bytes.
ENTRIES = 256
NEAR = 64 << 10  # distance in bytes within which styled output nearly always resets its style

# These bytes and LF either print or only move the cursor (ECMA-48). ESC sequences are checked separately.
_TEXT = bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100)) + b"\a\t\r\x1b"
_C1 = re.compile(rb"\xc2[\x80-\x9f]")  # control functions encoded in UTF-8
# SGR changes the pen, EL erases part of the cursor's row, and CHA moves the cursor within the row.
_HARMLESS = rb"\[[0-9;:]*+[mKG]"
_OTHER = re.compile(rb"\x1b(?!" + _HARMLESS + rb")")
_CUT = re.compile(rb"\x1b(?:\[[0-9;:]*)?\Z")
_SGR = re.compile(rb"\x1b\[[0-9;:]*m")
_RESETS = (b"\x1b[0m", b"\x1b[m")


def scrolling_lines(data: bytes, before: bytes = b"") -> int | None:
    """Return the number of line feeds in `data` if it consists of lines of styled text; otherwise, None.

    `data` can start or end in the middle of a character. If it starts in the middle of one, `before` contains the
    preceding bytes.
    """
    if _OTHER.search(data) is not None:
        return None
    lines = data.translate(None, _TEXT)  # only line feeds and bytes that are not text remain
    if lines != b"\n" * len(lines) or _C1.match(before + data[:1]) is not None:
        return None
    return None if b"\xc2" in data and _C1.search(data) is not None else len(lines)


def cut_sequence(data: bytes) -> int:
    """Return the length of an unfinished sequence at the end of `data` that may still become a style, or 0."""
    at = data.rfind(b"\x1b", max(0, len(data) - LONGEST_CUT))
    return len(data) - at if at >= 0 and _CUT.match(data, at) else 0


class LineCounts:
    """A text's line feed positions, to within about `COUNTED` bytes. Counts may be too low, but never too high."""

    def __init__(self) -> None:
        # (offset, number of line feeds before it), in ascending order.
        self._totals: deque[tuple[int, int]] = deque(maxlen=ENTRIES)

    def add(self, offset: int, lines: int) -> None:
        """Record `lines` line feeds between the latest offset and `offset`."""
        total = lines + (self._totals[-1][1] if self._totals else 0)
        if len(self._totals) > 1 and offset - self._totals[-2][0] <= COUNTED:
            self._totals.pop()  # short pieces of text share an entry
        self._totals.append((offset, total))

    def before(self, lines: int, first: int, last: int) -> int:
        """Return the last offset in `[first, last]` followed by more than `lines` line feeds, or `first` if unknown.

        Args:
            lines: The number of line feeds before `last` that a screen needs.
            first: The lowest offset to return.
            last: The end of the text.
        """
        known = [entry for entry in self._totals if first <= entry[0] <= last]
        return next((offset for offset, total in reversed(known) if known[-1][1] - total > lines), first)


def pen(data: bytes) -> bytes:
    """Return the sequences in `data` that change the pen, starting at the last reset."""
    if b"\x1b" not in data:  # the common case; searching for the sequences would take thirty times as long
        return b""
    for first in (max(0, len(data) - NEAR), 0):  # searching all of `data` would take as long as finding the sequences
        at = max(data.rfind(reset, first) for reset in _RESETS)
        if at >= 0:
            return b"".join(_SGR.findall(data, at))
    return b"".join(_SGR.findall(data))
