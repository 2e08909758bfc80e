"""Decides which parts of a terminal's output its screen must read now, can read later, or can skip.

This module knows the output and the screen's position in it, but not the screen itself.
"""

import re

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.scrolling_text import COUNTED, SHORTEST, LineCounts, cut_sequence, pen, scrolling_lines

# Sequences that no terminal answers: CSI without a private marker, modes (except 2048, which reports the size), OSC
# without a question mark, character sets, and some one-letter sequences. Anything else that follows ESC is treated as a
# query.
_UNANSWERED = (
    rb"\[[0-9;:]*[A-HJKLMPSTXZ`abdefghlmrsu@]"
    rb"|\[\?(?![0-9;]*2048)[0-9;]*[hl]"
    rb"|\[[0-9]* q|\[>[0-9;]*[mu]|\[<[0-9]*u"
    rb"|\][^\x00-\x1f?\x7f]*(?:\x07|\x1b\\)"
    rb"|[()*+][0-9A-Z]|[78=>DEHMc\\]"
)
_ASKS = re.compile(rb"\x05|\xc2[\x80-\x9f]|\x1b(?!" + _UNANSWERED + rb")")


class DeferredOutput:
    """The part of a terminal's output that its screen has not read yet."""

    def __init__(self, journal: Journal, *, rows: int) -> None:
        """Track the output in `journal` for a screen that keeps `rows` rows of scrollback."""
        self._journal = journal
        self._rows = rows
        self._scrolls_to = 0  # the output between the screen's position and this offset only scrolls
        self._line_counts = LineCounts()  # positions of line feeds in output that only scrolls
        self._read_to = 0  # output before this offset must be read, because it does more than scroll
        self._asked_to = 0  # output before this offset has been searched for queries

    def may_wait(self, fed: int, to: int, *, cut: bool = False) -> bool:
        """Return whether the output from `fed` to `to` only scrolls. If so, most of it can be skipped.

        Args:
            fed: The screen's position, which is not inside a sequence.
            to: A later offset.
            cut: Whether `to` may be inside an unfinished style sequence, which might still become a query.
        """
        if fed < self._read_to:
            return False
        journal = self._journal
        first = max(fed, journal.start)
        at = max(self._scrolls_to, first)
        if at >= to:
            return True
        data = journal.copy(at, to)
        if rest := cut_sequence(data):
            if not cut:
                return False
            data = data[:-rest]
        lines = scrolling_lines(data, journal.copy(max(at - 1, first), at))
        if lines is None:
            self._read_to = to
            return False
        if len(data) > 2 * COUNTED:  # for long data, count the lines of each piece
            for end in range(COUNTED, len(data), COUNTED):
                part = data.count(b"\n", end - COUNTED, end)
                self._line_counts.add(at + end, part)
                lines -= part
        self._line_counts.add(at + len(data), lines)
        self._scrolls_to = at + len(data)
        return True

    def skipped(self, fed: int, to: int, rows: int) -> tuple[int, bytes]:
        """Return the offset where the screen must resume reading, and the styles to read instead of the skipped output.

        Args:
            fed: The offset of the next byte for the screen, which must be calm.
            to: The offset where skipping must stop.
            rows: The number of rows on the screen.
        """
        to = min(to, self._scrolls_to)
        if to - fed < SHORTEST:
            return fed, b""
        at = self._line_counts.before(self._rows + rows, fed, to)
        text = self._journal.copy(fed, at)
        text = text[: max(0, text.rfind(b"\r\n"))]  # stop before CR LF: after it, the cursor's column is known
        return fed + len(text), pen(text)

    def asks(self, fed: int, to: int) -> bool:
        """Return whether the output from `fed` to `to` may contain a query that no earlier call has found."""
        at = max(fed, self._asked_to, self._journal.start)
        self._asked_to = max(to, self._asked_to)
        return at < to and _ASKS.search(self._journal.copy(at, to)) is not None

    def went_back(self, fed: int) -> None:
        """Record that a new screen, which starts at an earlier offset, replaces the one at `fed`."""
        self._read_to = max(self._read_to, fed)


def unfinished(data: bytes) -> int:
    """Return the number of bytes at the end of `data` that belong to an incomplete UTF-8 character (RFC 3629)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed and byte < 0xF8 else 0
    return 0
