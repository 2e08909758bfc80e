"""Keeps the start and the end of output of any length, and the errors and warnings between them."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from hawse.plain.lines import LINE_MAX, Line, is_alert, shape, size_of

ALERT_MAX: Final = 400  # maximum length of a shown error or warning from the omitted lines, in characters


class Excerpt:
    """The first and last lines of output, each with its offsets."""

    def __init__(self, head: int, tail: int, *, alerts: bool = False) -> None:
        """Create an excerpt.

        Args:
            head: Maximum size of the first lines, in bytes.
            tail: Maximum size of the last lines, in bytes. These lines can also use space left over from `head`, unless
                `tail` is 0: then only the first lines are kept.
            alerts: Whether to show omitted lines that report a problem. They use up to half of `tail`.
        """
        self._head_max = head
        self._head_only = tail == 0
        self._limit = head + tail
        self._alerts_max = tail // 2 if alerts else 0
        self._head: list[Line] = []
        self._head_size = 0
        self._full = False  # whether a line did not fit into the head
        self._tail: deque[Line] = deque()
        self._tail_size = 0
        self._alerts: dict[str, str] = {}  # the omitted lines that report a problem, keyed by `shape`
        self._alerts_size = 0
        self._more = 0  # number of omitted lines that report a problem and are not shown
        self.start: int | None = None  # offset of the first omitted byte; None if nothing is omitted
        self.stop = 0  # offset just after the last omitted byte

    def add(self, line: Line) -> None:
        size = size_of(line.text) + line.ended
        if not self._full:
            if self._head_size + size <= self._head_max:
                self._head.append(line)
                self._head_size += size
                return
            self._full = True
            if self._head_size * 2 < self._head_max:
                line, size = self._split_for_head(line, size)
            if self._head_only:
                self._limit = self._head_size
        self._tail.append(line)
        self._tail_size += size
        while self._tail_size > self._limit - self._head_size:
            self._shorten_tail(self._limit - self._head_size)

    def text(self, rest: Iterable[Line] = (), hint: str = "", *, note: bool = True) -> str:
        """Return the retained lines as text. Invalid bytes are replaced with U+FFFD.

        Args:
            rest: Lines to include in the text without adding them to the excerpt.
            hint: Text for the note that explains how to get the omitted bytes. `{start}` is replaced with the first
                omitted byte's offset.
            note: Whether to insert a note where lines were omitted, along with the omitted lines that report a problem.
        """
        whole = self.copy()
        for line in rest:
            whole.add(line)
        return whole._text(hint) if note else _joined([*whole._head, *whole._tail])

    def copy(self) -> "Excerpt":
        """Return an independent excerpt with the same lines."""
        other = Excerpt.__new__(Excerpt)
        other.__dict__.update(self.__dict__)
        other._head, other._tail, other._alerts = self._head[:], self._tail.copy(), self._alerts.copy()
        return other

    def _text(self, hint: str) -> str:
        while self._tail and self._tail_size + self._alerts_size > self._limit - self._head_size:
            self._shorten_tail(self._limit - self._head_size - self._alerts_size)
        head = _joined(self._head)
        if self.start is None:
            return head + _joined(self._tail)
        how = f": {hint.replace('{start}', str(self.start))}" if hint else ""
        parts = [f"[{self.stop - self.start:,} bytes are omitted here{how}]"]
        if self._alerts:
            more = f", and {self._more} more" if self._more else ""
            parts += [f"[omitted lines with errors or warnings{more}:]", *map(_valid, self._alerts.values()), "[…]"]
        note = "\n".join(parts)
        return f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{note}\n{_joined(self._tail)}"

    def _split_for_head(self, line: Line, size: int) -> tuple[Line, int]:
        """Move the start of a long line to the head. Return the remaining line and its size."""
        first = _cut(line.text, self._head_max - self._head_size)
        if not first:
            return line, size
        taken = size_of(first)
        at = max(line.start, line.end - size + taken)
        self._head.append(Line(first, line.start, at, ended=False))
        self._head_size += taken
        return line._replace(text=line.text[len(first) :], start=at), size - taken

    def _shorten_tail(self, limit: int) -> None:
        """Omit the first line of the tail, or only its start if the line is longer than half of the tail."""
        line = self._tail.popleft()
        size = size_of(line.text) + line.ended
        self._tail_size -= size
        room = limit - self._tail_size
        last = _cut_end(line.text, room - line.ended) if room * 2 > limit and room > line.ended else ""
        if last and len(last) < len(line.text):
            kept = size_of(last) + line.ended
            self._tail.appendleft(line._replace(text=last, start=max(line.start, line.end - kept)))
            self._tail_size += kept
            line = Line(line.text[: -len(last)], line.start, max(line.start, line.end - kept), ended=False)
        if self.start is None:
            self.start = line.start
        self.stop = line.end
        if self._alerts_max and is_alert(line.text):
            self._keep_alert(line.text)

    def _keep_alert(self, text: str) -> None:
        key, text = shape(text[:ALERT_MAX]), text[:ALERT_MAX]
        if key in self._alerts:
            return
        size = size_of(text) + 1
        if self._alerts_size + size > self._alerts_max:
            self._more += 1
            return
        self._alerts[key] = text
        self._alerts_size += size


def excerpt(text: str, limit: int, hint: str = "") -> str:
    """Return `text`, shortened to about `limit` bytes of UTF-8 by omitting its middle. See `Excerpt.text`."""
    data = text.encode(errors="replace")
    if len(data) <= limit:
        return text
    kept = Excerpt(limit // 2, limit - limit // 2)
    at = 0
    for line in data.decode().split("\n"):
        for start in range(0, len(line), LINE_MAX) or (0,):
            part = line[start : start + LINE_MAX]
            ended = start + LINE_MAX >= len(line)
            end = at + size_of(part) + ended
            kept.add(Line(part, at, end, ended))
            at = end
    return kept.text(hint=hint)


def _joined(lines: Iterable[Line]) -> str:
    return _valid("".join(f"{line.text}\n" if line.ended else line.text for line in lines))


def _valid(text: str) -> str:
    """Return `text` with invalid bytes replaced with U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _cut(text: str, size: int) -> str:
    """Return the start of `text`, at most `size` bytes long."""
    if text.isascii():
        return text[: max(size, 0)]
    while size_of(text) > max(size, 0):
        text = text[: max(len(text) - 1 - (size_of(text) - size) // 4, 0)]
    return text


def _cut_end(text: str, size: int) -> str:
    """Return the end of `text`, at most `size` bytes long."""
    return _cut(text[::-1], size)[::-1]
