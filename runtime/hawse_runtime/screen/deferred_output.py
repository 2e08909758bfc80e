"""Decides which output of a terminal its screen reads now, which may wait, and which it never has to read.

It knows the output, and how far the screen has read it, but not the screen.
"""

import re

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.scrolling_text import COUNTED, SHORTEST, LineCounts, cut_sequence, pen, scrolling_lines

# Sequences that no terminal answers: CSI without a private marker, modes (but not 2048, which reports the size), OSC
# without a question mark, character sets, and some with one letter. Anything else after ESC may be a query.
_UNANSWERED = (
    rb"\[[0-9;:]*[A-HJKLMPSTXZ`abdefghlmrsu@]"
    rb"|\[\?(?![0-9;]*2048)[0-9;]*[hl]"
    rb"|\[[0-9]* q|\[>[0-9;]*[mu]|\[<[0-9]*u"
    rb"|\][^\x00-\x1f?\x7f]*(?:\x07|\x1b\\)"
    rb"|[()*+][0-9A-Z]|[78=>DEHMc\\]"
)
_ASKS = re.compile(rb"\x05|\xc2[\x80-\x9f]|\x1b(?!" + _UNANSWERED + rb")")


class DeferredOutput:
    """The output of one terminal, from where its screen has read on."""

    def __init__(self, journal: Journal, *, rows: int) -> None:
        """`rows`: the rows of scrollback that the screen keeps."""
        self._journal = journal
        self._rows = rows
        self._scrolls_to = 0  # everything from where the screen is to this offset only scrolls
        self._line_counts = LineCounts()  # of what only scrolls
        self._read_to = 0  # the last offset before which something does not only scroll, and has to be read
        self._asked_to = 0  # the output up to here was searched for queries

    def may_wait(self, fed: int, to: int, *, cut: bool = False) -> bool:
        """Return whether the output from `fed` to `to` only scrolls: most of it may be skipped.

        Args:
            fed: Where the screen is; no sequence is unfinished there.
            to: An offset behind it.
            cut: Whether a sequence that sets a style may be unfinished at `to`. It may also become a query.
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
        if len(data) > 2 * COUNTED:  # more than is read at once
            for end in range(COUNTED, len(data), COUNTED):
                part = data.count(b"\n", end - COUNTED, end)
                self._line_counts.add(at + end, part)
                lines -= part
        self._line_counts.add(at + len(data), lines)
        self._scrolls_to = at + len(data)
        return True

    def skipped(self, fed: int, to: int, rows: int) -> tuple[int, bytes]:
        """Return how far a calm screen at `fed` may skip output up to `to`, and the styles that it has to read.

        `rows`: the rows of the screen.
        """
        to = min(to, self._scrolls_to)
        if to - fed < SHORTEST:
            return fed, b""
        at = self._line_counts.before(self._rows + rows, fed, to)
        text = self._journal.copy(fed, at)
        text = text[: max(0, text.rfind(b"\r\n"))]  # the column of the cursor does not matter before CR LF
        return fed + len(text), pen(text)

    def asks(self, fed: int, to: int) -> bool:
        """Return whether the output from `fed` to `to` may contain a query that was not found before."""
        at = max(fed, self._asked_to, self._journal.start)
        self._asked_to = max(to, self._asked_to)
        return at < to and _ASKS.search(self._journal.copy(at, to)) is not None

    def went_back(self, fed: int) -> None:
        """Note that a screen that had read up to `fed` is read into another one again, from an earlier offset on."""
        self._read_to = max(self._read_to, fed)


def unfinished(data: bytes) -> int:
    """Return how many bytes at the end of `data` belong to an incomplete UTF-8 character (RFC 3629)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed and byte < 0xF8 else 0
    return 0
