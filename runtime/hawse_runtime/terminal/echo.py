"""Finds echoed input in a terminal's output, so that searches can exclude it (docs/wire.md section 9).

The echo mode is read from the kernel when the user types. With ECHO set, the kernel echoes the input, and the tracker
looks for it anywhere in the output that follows. In raw mode, the program itself may echo the input, and only the first
text after the input can be an echo. A shell redisplays type-ahead after its next prompt (OSC 133;B).
"""

import re
from bisect import bisect_right
from collections import deque
from typing import Final

from hawse_runtime.posix.line_discipline import InputMode

RUN_LIMIT: Final = 4096  # number of bytes compared per typed line; anything beyond that does not count as an echo
# Maximum number of typed lines to look for in the output; also applies to lines waiting for a prompt.
RUNS_LIMIT: Final = 64
# The tracker stops looking for the kernel's echo after this many bytes of other text.
SEARCH_LIMIT: Final = 64 << 10
PARTS_LIMIT: Final = 4096  # maximum number of echoes whose offsets are remembered
# Maximum number of bytes kept from an incomplete escape sequence.
CARRY_LIMIT: Final = 4096

_ESCAPE = (
    rb"\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|[\]PX^_][^\x07\x18\x1a\x1b]*(?:[\x07\x18\x1a]|\x1b\\)?"
    rb"|O.|[\x20-\x2f]*[\x30-\x7e]?)"
)
_TOKEN = re.compile(
    rb"(?P<text>[\x20-\x7e\x80-\xff]+)"
    rb"|(?P<return>\r)"
    rb"|(?P<back>\x08+|\x1b\[(?P<count>[0-9]{0,4})D)"
    rb"|(?P<open>\x1b(?:\[[\x20-\x3f]*|[\]PX^_][^\x07\x18\x1a\x1b]*\x1b?|[\x20-\x2f]*)\Z)"
    rb"|" + _ESCAPE + rb"|[\x00-\x1f\x7f]",
    re.DOTALL,
)
_TYPED_ESCAPE = re.compile(_ESCAPE, re.DOTALL)
_LINE_END = re.compile(rb"[\r\n]")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]+")


class TypedRun:
    """A piece of typed text, along with how much of it has been echoed."""

    def __init__(self, text: bytes, *, anywhere: bool) -> None:
        """Create a run of typed text. If `anywhere` is true, other output may come before its echo."""
        self.text = text[:RUN_LIMIT]
        self.anywhere = anywhere
        self.printed = 0  # number of bytes echoed so far
        self.row = 0  # number of bytes already echoed when the echo moved to the current row of the screen
        self.start: int | None = None  # the offset of the first echoed byte
        self.ended = anywhere  # whether the typed line is complete

    @property
    def complete(self) -> bool:
        return self.printed == len(self.text)


class EchoTracker:
    """Tracks the input and output of one terminal."""

    def __init__(self) -> None:
        self._runs: deque[TypedRun] = deque(maxlen=RUNS_LIMIT)
        self._ahead: deque[bytes] = deque(maxlen=RUNS_LIMIT)  # lines that the shell may redisplay after its prompt
        self._passed = 0  # number of bytes of other text printed since the latest input
        self._carry = b""
        self._starts: list[int] = []  # the start offset of each echo, ascending; `_ends` holds the end offsets
        self._ends: list[int] = []

    @property
    def expecting(self) -> bool:
        """Whether the next output may contain an echo. If not, `feed` has no effect."""
        return bool(self._runs)

    def typed(self, data: bytes, mode: InputMode) -> None:
        """Record input. All earlier output must have been passed to `feed`."""
        if mode == "raw":
            self._typed_raw(data)
            return
        if not all(run.anywhere for run in self._runs):
            self._forget()
        if mode == "echo":
            self._passed = 0
            self._runs.extend(TypedRun(text, anywhere=True) for text in _CONTROL.split(data) if text)
            self._ahead.extend(line for line in _LINE_END.split(data) if line and not _CONTROL.search(line))

    def prompted(self) -> None:
        """Record that the shell has printed its prompt. It now redisplays any lines that were typed ahead."""
        self._forget()
        if self._ahead:
            self._runs.append(TypedRun(b"", anywhere=False))

    def feed(self, offset: int, data: bytes) -> None:
        """Process the next output, which starts at `offset`."""
        if not self._runs:
            return
        if not self._carry and _CONTROL.search(data) is None:  # the common case, a key's echo: printable text only
            if data:
                self._take(offset, data)
            return
        data, offset, self._carry = self._carry + data, offset - len(self._carry), b""
        for token in _TOKEN.finditer(data):
            if not self._runs:
                return
            if token["open"] is not None:
                self._carry = token[0] if len(token[0]) <= CARRY_LIMIT else b""
            elif token["text"] is not None:
                self._take(offset + token.start(), token[0])
            elif token["back"] is not None:
                count = len(token[0]) if token["count"] is None else int(token["count"] or 1)
                self._runs[0].printed = max(self._runs[0].printed - count, 0)
            elif token["return"] is not None and self._runs[0].row:
                self._runs[0].printed = self._runs[0].row  # after a CR, zsh prints the first character of a row again

    def parts(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the start and end of each echo between two offsets in the output."""
        first = bisect_right(self._ends, start)
        last = bisect_right(self._starts, end - 1)
        return [*zip(self._starts[first:last], self._ends[first:last], strict=True)]

    # ---- input in raw mode

    def _typed_raw(self, data: bytes) -> None:
        self._ahead.clear()
        text, control = data, _CONTROL.search(data)
        others: list[bytes] = []
        if control is not None:
            first, *others = _LINE_END.split(_TYPED_ESCAPE.sub(b"", data))
            self._ahead.extend(line for line in others if line and not _CONTROL.search(line))
            control = _CONTROL.search(first)
            text = first[: control.start()] if control else first
        run = self._runs[0] if self._runs else None
        if run is not None and not run.anywhere and not run.ended and run.text:
            run.text = (run.text + text)[:RUN_LIMIT]
        elif text:
            self._forget()
            run = TypedRun(text, anywhere=False)
            self._runs.append(run)
        if run is not None and (others or control):
            run.ended = True
            if run.complete:
                self._forget()

    # ---- output

    def _take(self, offset: int, text: bytes) -> None:
        """Compare a piece of output text with the typed runs."""
        at = 0
        while at < len(text) and self._runs:
            run = self._runs[0]
            if run.anywhere and not run.printed:
                found = _find(text, run.text, at)
                self._passed += found - at
                at = found
                if at == len(text):
                    break
            elif not run.anywhere and not run.text:
                self._choose(run, text)
            at = self._compare(run, offset, text, at)
        if self._passed > SEARCH_LIMIT:
            self._forget()

    def _compare(self, run: TypedRun, offset: int, text: bytes, at: int) -> int:
        """Match `text`, from index `at`, against the typed run. Return the index just after the matching part."""
        size = _common(run.text[run.printed : run.printed + len(text) - at], text[at:])
        if size:
            if run.start is None:
                run.start = offset + at
            run.printed += size
            at += size
            self._add(run.start, offset + at)
        if run.complete and run.ended:
            self._runs.popleft()
        elif at < len(text):
            at = self._differs(run, offset, text, at)
        return at

    def _differs(self, run: TypedRun, offset: int, text: bytes, at: int) -> int:
        if run.anywhere:
            run.printed, run.start = 0, None  # not an echo: other text started with the same bytes
        elif run.start is not None and not run.complete and text[at:] == b" ":
            run.row = run.printed
            return len(text)  # programs print a space and a CR to move to the next row
        else:
            self._forget()
        return at

    def _choose(self, run: TypedRun, text: bytes) -> None:
        """Choose the first typed-ahead line that may start with `text`. Earlier lines were read by other programs."""
        while self._ahead:
            line = self._ahead.popleft()
            if line[0] == text[0]:
                run.text, run.ended = line[:RUN_LIMIT], True
                return

    def _add(self, start: int, end: int) -> None:
        if self._ends and start <= self._ends[-1]:
            self._ends[-1] = max(end, self._ends[-1])
            return
        self._starts.append(start)
        self._ends.append(end)
        if len(self._starts) > 2 * PARTS_LIMIT:
            del self._starts[:PARTS_LIMIT], self._ends[:PARTS_LIMIT]

    def _forget(self) -> None:
        self._runs.clear()
        self._passed = 0
        self._carry = b""


def _common(one: bytes, other: bytes) -> int:
    """Return the length of the longest common prefix of the two arguments."""
    if other.startswith(one):
        return len(one)
    return next(index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


def _find(text: bytes, run: bytes, at: int) -> int:
    """Return the index of `run` in `text`, else of the prefix of `run` that ends `text`, else `len(text)`."""
    found = text.find(run, at)
    if found >= 0:
        return found
    first = max(at, len(text) - len(run) + 1)
    while (first := text.find(run[:1], first)) >= 0:
        if run.startswith(text[first:]):
            return first
        first += 1
    return len(text)
