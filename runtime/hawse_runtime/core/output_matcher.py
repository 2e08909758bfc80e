"""Searches output for patterns, ignoring escape sequences, in linear time and bounded memory.

RE2 never backtracks (docs/decisions/0011). A match can span at most WINDOW bytes of text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import re2

from hawse.wire import HawseError

WINDOW = 64 << 10  # maximum size of the text retained for a match that continues in later output, in bytes
CARRY = 4096  # maximum number of bytes kept from an incomplete escape sequence
PROGRAM_LIMIT = 1000  # maximum number of instructions in a compiled pattern; limits the work per byte of text
GROUPS_LIMIT = 32
GROUP_LIMIT = 4096  # maximum number of bytes reported for each group in a match
_MEMORY = 1 << 20  # maximum memory used by RE2 per pattern, in bytes

# Everything that is not text (ECMA-48): CSI sequences, OSC, DCS, SOS, PM and APC strings, other escapes, and control
# characters. `tail` is an incomplete sequence. The expression starts with a set of bytes, which makes searching fast.
_NOISE = re.compile(
    rb"""
    [\x00-\x08\x0b-\x1f\x7f]
    (?:
        (?<=\x1b)
        (?:
            \[[\x20-\x3f]*[\x40-\x7e]
          | \][^\x07\x18\x1a\x1b]*(?:[\x07\x18\x1a]|\x1b\\|(?=\x1b[^\\]))
          | [PX^_][^\x18\x1a\x1b]*(?:[\x18\x1a]|\x1b\\|(?=\x1b[^\\]))
          | (?P<tail>(?:\[[\x20-\x3f]*|\][^\x07\x18\x1a\x1b]*\x1b?|[PX^_][^\x18\x1a\x1b]*\x1b?|[\x20-\x2f]*)\Z)
          | [\x20-\x2f]*[\x30-\x7e]?
        )
      | (?<=\r)(?P<returns>\r*)
      | [\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]*
    )
    """,
    re.VERBOSE,
)
_STRING_END = re.compile(rb"[\x07\x18\x1a\x1b]")


Hidden = Callable[[int, int], Sequence[tuple[int, int]]]


class MatchSpan(NamedTuple):
    """A match between the output offsets `start` and `end`. `truncated` is set if part of its text was omitted."""

    start: int
    end: int
    text: str
    groups: list[str | None]
    named: dict[str, str | None]
    truncated: bool


class Stripper:
    """Removes escape sequences and control characters from output. CR LF becomes LF, and repeated CRs become one.

    A CR at the start of a line is also removed: bash prints one before a command's output, and ^ must match there.
    """

    def __init__(self) -> None:
        self._carry = b""
        self._in_string = False  # whether the output is inside a control string longer than CARRY
        self._last = b"\n"  # the last byte of the text

    @property
    def held(self) -> int:
        """The number of bytes buffered until the next `feed`."""
        return len(self._carry)

    def feed(self, offset: int, data: bytes) -> list[tuple[bytes, int]]:
        """Return the pieces of text in `data`, each with its output offset.

        Args:
            offset: The output offset of `data`, where the previous data ended.
            data: The next output.
        """
        data, offset = self._carry + data, offset - len(self._carry)
        self._carry = b""
        pieces: list[tuple[bytes, int]] = []
        at = self._end_of_string(data)
        for noise in _NOISE.finditer(data, at):
            if noise.start() > at:
                pieces.append((data[at : noise.start()], offset + at))
            at = noise.end()
            if noise["tail"] is not None:
                self._keep(noise[0])
            elif noise["returns"] is not None:
                if at == len(data):
                    self._carry = b"\r"
                elif data[at] != 0x0A and (pieces[-1][0][-1:] if pieces else self._last) != b"\n":
                    pieces.append((b"\r", offset + at - 1))
        if at < len(data):
            pieces.append((data[at:], offset + at))
        if pieces:
            self._last = pieces[-1][0][-1:]
        return pieces

    def _keep(self, tail: bytes) -> None:
        if len(tail) <= CARRY:
            self._carry = tail
        else:
            self._in_string = tail[1:2] != b"["
            self._carry = b"\x1b" if self._in_string and tail.endswith(b"\x1b") else b""

    def _end_of_string(self, data: bytes) -> int:
        if not self._in_string:
            return 0
        end = _STRING_END.search(data)
        if end is None:
            return len(data)
        self._in_string = False
        return end.start() if data[end.start()] == 0x1B else end.end()


class Matcher:
    """Searches output that arrives in chunks, and maps matches to output offsets."""

    def __init__(self, pattern: str, *, literal: bool = False, hidden: Hidden | None = None) -> None:
        """Compile a pattern.

        Args:
            pattern: The expression in RE2 syntax, where ^ and $ match at every line.
            literal: Whether `pattern` is plain text rather than an expression.
            hidden: Called with two offsets; returns the parts of the output between them that the search must ignore.

        Raises:
            HawseError: `invalid_params` if the pattern is invalid, `too_large` if it is too complex.
        """
        self._regexp = compile_pattern(pattern, literal=literal)
        self._hidden = hidden
        self._stripper = Stripper()
        self._text = b""
        self._from = 0  # 1 if the first byte only serves to decide whether ^ matches after it
        self._places: list[int] = []  # each piece's index in the text; `_offsets` has its output offset
        self._offsets: list[int] = []

    @property
    def size(self) -> int:
        """The number of bytes of text to search."""
        return len(self._text)

    def work(self, size: int) -> int:
        """Return the cost of searching `size` bytes, in units of about 5 ns."""
        return size * int(self._regexp.programsize)

    def feed(self, offset: int, data: bytes) -> bool:
        """Add the output at `offset`. Return whether it contains any text."""
        pieces = self._stripper.feed(offset, data)
        if self._hidden is not None and pieces:
            last, at = pieces[-1]
            if hidden := self._hidden(pieces[0][1], at + len(last)):
                pieces = [part for piece in pieces for part in _shown(*piece, hidden)]
        if not pieces:
            return False
        self._trim()
        place = len(self._text)
        for text, at in pieces:
            self._places.append(place)
            self._offsets.append(at)
            place += len(text)
        self._text += b"".join(text for text, _ in pieces)
        return True

    def restart(self) -> None:
        """Discard the text, because the next output doesn't directly follow it."""
        self._stripper, self._text, self._from = Stripper(), b"", 0
        self._places, self._offsets = [], []

    def search(self) -> MatchSpan | None:
        """Return the first match in the text. Can run in another thread if `feed` isn't called in the meantime."""
        match = self._regexp.search(self._text, self._from)
        return None if match is None else _found(match, self._offset)

    def search_in(self, text: str, offset: int) -> MatchSpan | None:
        """Search `text` instead of the output, and return the first match. Both of the match's offsets are `offset`."""
        match = self._regexp.search(text.encode())
        return None if match is None else _found(match, lambda place: offset)._replace(end=offset)

    def _offset(self, place: int) -> int:
        """Return the output offset of the byte at index `place` in the text."""
        index = max(bisect_right(self._places, place) - 1, 0)
        return self._offsets[index] + place - self._places[index]

    def _trim(self) -> None:
        extra = len(self._text) - WINDOW
        if extra > WINDOW:  # trim only once the text is twice the limit, so that bytes are rarely moved
            first = bisect_right(self._places, extra) - 1
            self._offsets = self._offsets[first:]
            self._offsets[0] += extra - self._places[first]
            self._places = [0, *(place - extra for place in self._places[first + 1 :])]
            self._text, self._from = self._text[extra:], 1


def compile_pattern(pattern: str, *, literal: bool = False, ignore_case: bool = False) -> Any:
    """Compile an RE2 expression for bytes. ^ and $ match at each line. Raises `invalid_params` or `too_large`."""
    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY, False
    pattern = re2.escape(pattern) if literal else pattern
    try:
        regexp = re2.compile(f"(?m{'i' if ignore_case else ''}){pattern}".encode(), options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise HawseError("invalid_params", f"pattern: {text}", details={"path": "$.pattern"}) from None
    if regexp.programsize > PROGRAM_LIMIT or regexp.groups > GROUPS_LIMIT:
        size = f"{regexp.programsize} instructions and {regexp.groups} groups"
        message = f"pattern is too complex: {size}; the limits are {PROGRAM_LIMIT} and {GROUPS_LIMIT}"
        raise HawseError("too_large", message, details={"path": "$.pattern"})
    return regexp


def _shown(text: bytes, offset: int, hidden: Sequence[tuple[int, int]]) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces of `text` outside the `hidden` parts, each with its output offset."""
    at = 0
    for start, end in hidden:
        if start - offset >= len(text):
            break
        if start - offset > at:
            yield text[at : start - offset], offset + at
        at = max(at, end - offset)
    if at < len(text):
        yield text[at:], offset + at


def _found(match: Any, offset: Any) -> MatchSpan:
    spans = [match.span(n) for n in range(match.re.groups + 1)]
    texts = [None if start < 0 else _decode(match.string[start:end]) for start, end in spans]
    named = {name.decode(): texts[number] for name, number in match.re.groupindex.items()}
    start, end = spans[0]
    truncated = any(stop - begin > GROUP_LIMIT for begin, stop in spans)
    last = offset(start) if start == end else offset(end - 1) + 1  # excludes escape sequences that follow the match
    return MatchSpan(offset(start), last, texts[0] or "", texts[1:], named, truncated)


def _decode(text: bytes) -> str:
    return text[:GROUP_LIMIT].decode(errors="replace")
