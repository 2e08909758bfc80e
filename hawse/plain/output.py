"""Program output as plain text, limited in size, with offsets into the original bytes."""

import codecs
import re
from collections.abc import Iterable
from typing import Final

from hawse.plain.excerpt import Excerpt
from hawse.plain.lines import LINE_MAX, Line, size_of
from hawse.plain.repeats import Repeats
from hawse.plain.rows import Rows

_CONTROL: Final = re.compile("[\x80-\x9f]")


class PlainOutput:
    """Output without control sequences and redraws.

    Carriage returns and cursor movements are applied: only the last state of a redrawn line is kept, and the frames of
    a spinner are dropped. Overwritten errors and warnings are kept. Repeated lines are replaced with a count. If
    the text is too long, the omitted lines with errors and warnings are shown.

    The result does not depend on how the output is split, and memory use is bounded whatever the program prints.
    """

    def __init__(self, head: int, tail: int, *, offset: int = 0, raw: bool = False) -> None:
        """Create an empty output.

        Args:
            head: Maximum size of the start of the text, in bytes.
            tail: Maximum size of the end of the text, in bytes; 0 keeps only the start. Text is shortened only if it is
                longer than `head` and `tail` together.
            offset: The output offset of the first byte to be added.
            raw: Whether to keep all characters and lines as they are.
        """
        self.size = 0  # number of bytes added
        self._ended = False
        self._offset = offset
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""  # an incomplete control sequence at the end of the output
        self._rows: Rows | _RawLines = _RawLines(offset) if raw else Rows(offset)
        self._repeats = None if raw else Repeats()
        self._excerpt = Excerpt(head, tail, alerts=not raw)

    @property
    def start(self) -> int | None:
        """The offset of the first omitted byte; None if nothing is omitted."""
        return self._excerpt.start

    @property
    def stop(self) -> int:
        """The offset just after the last omitted byte; the offset of the first byte if nothing is omitted."""
        return self._offset if self._excerpt.start is None else self._excerpt.stop

    @property
    def latest(self) -> str:
        """The latest line that is not blank."""
        return self._rows.latest

    def add(self, data: bytes) -> None:
        """Add output."""
        self.size += len(data)
        lines, self._held = self._rows.feed(self._held + self._decoder.decode(data))
        for line in lines:
            for done in (line,) if self._repeats is None else self._repeats.push(line):
                self._excerpt.add(done)

    def finish(self) -> None:
        """Record that the output has ended."""
        for line in self._rest():
            self._excerpt.add(line)
        self._ended = True

    def text(self, hint: str = "", *, note: bool = True) -> str:
        """Return the text so far. Unless the output has ended, more can be added afterwards. See `Excerpt.text`."""
        text = self._excerpt.text(() if self._ended else self._rest(), hint, note=note)
        if self._repeats is None or text.isascii():
            return text
        return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)  # joining invalid bytes can produce control characters

    def _rest(self) -> Iterable[Line]:
        lines = self._rows.rest()
        if pending := self._decoder.getstate()[0]:
            lines.append(Line(pending.decode("utf-8", "surrogateescape"), self._offset + self.size, 0, ended=False))
        if self._repeats is None:
            return lines
        repeats = self._repeats.copy()
        return [*(done for line in lines for done in repeats.push(line)), *repeats.rest()]


class _RawLines:
    """Splits output into lines without changing them."""

    def __init__(self, offset: int) -> None:
        self._text = ""  # the incomplete last line
        self._at = offset  # the offset where the incomplete last line starts

    @property
    def latest(self) -> str:
        return self._text

    def feed(self, text: str) -> tuple[list[Line], str]:
        """Process more output. Return the completed lines, and "" in place of an incomplete control sequence."""
        lines: list[Line] = []
        *ended, self._text = (self._text + text).split("\n")
        for line in ended:
            self._add(lines, line, ended=True)
        whole = (len(self._text) - 1) // LINE_MAX * LINE_MAX
        if whole > 0:
            first, self._text = self._text[:whole], self._text[whole:]
            self._add(lines, first, ended=False)
        return lines, ""

    def rest(self) -> list[Line]:
        """Return the incomplete last line in a list, which is empty if there is no such line."""
        if not self._text:
            return []
        return [Line(self._text, self._at, self._at + size_of(self._text), ended=False)]

    def _add(self, lines: list[Line], text: str, *, ended: bool) -> None:
        parts = [text[at : at + LINE_MAX] for at in range(0, len(text), LINE_MAX)] or [""]
        for index, part in enumerate(parts):
            last = ended and index == len(parts) - 1
            start, self._at = self._at, self._at + size_of(part) + last
            lines.append(Line(part, start, self._at, last))
