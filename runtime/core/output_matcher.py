"""Search patterns in output without its escape sequences, in linear time and bounded memory.

RE2 never backtracks (docs/decisions/0011). A match spans at most WINDOW bytes of text.
"""

import re
from bisect import bisect_right
from typing import Any, NamedTuple

import re2

from hawse.wire import HawseError

WINDOW = 64 << 10  # bytes of text that are kept to go on matching in
CARRY = 4096  # bytes kept of a sequence that is not complete
PROGRAM_LIMIT = 1000  # instructions of a compiled pattern: how much work a byte of text may be
GROUPS_LIMIT = 32
GROUP_LIMIT = 4096  # bytes of a group that a match reports
_MEMORY = 1 << 20  # bytes of RE2's for each pattern

# What is no text (ECMA-48): CSI, the strings OSC, DCS, SOS, PM, APC, other escapes, controls. A `tail` is not complete.
# That it begins with a set of bytes is what makes it fast.
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


class MatchSpan(NamedTuple):
    """A match. `start` and `end` are offsets in the output; `truncated`: a part of its text was left out."""

    start: int
    end: int
    text: str
    groups: list[str | None]
    named: dict[str, str | None]
    truncated: bool


class Stripper:
    """Output in, text out: (text, its offset) piece by piece. CR LF becomes LF, several CR one.

    A CR at the beginning of a line is none: bash prints one before what a command prints, and ^ should match there.
    """

    def __init__(self) -> None:
        self._carry = b""
        self._in_string = False  # in a string too long to carry
        self._last = b"\n"  # byte of text

    def feed(self, offset: int, data: bytes) -> list[tuple[bytes, int]]:
        """`data` stands at `offset`, right behind what was fed before."""
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
    """Looks for a pattern in text that comes piece by piece, and knows where in the output it stands."""

    def __init__(self, pattern: str, *, literal: bool = False) -> None:
        """`pattern`: RE2 syntax, ^ and $ at every line. Raises `invalid_params`, `too_large`."""
        self._regexp = compile_pattern(pattern, literal=literal)
        self._stripper = Stripper()
        self._text = b""
        self._from = 0  # 1 if the first byte of the text only shows whether a line begins after it
        self._places: list[int] = []  # in the text, where a piece begins; `_offsets`: and in the output
        self._offsets: list[int] = []

    @property
    def size(self) -> int:
        """Bytes of text that a search looks at."""
        return len(self._text)

    def work(self, size: int) -> int:
        """How much a search in so many bytes may be: about 5 ns each."""
        return size * int(self._regexp.programsize)

    def feed(self, offset: int, data: bytes) -> bool:
        """Take output; return whether there is new text in it."""
        pieces = self._stripper.feed(offset, data)
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
        """What comes next does not follow what came."""
        self._stripper, self._text, self._from = Stripper(), b"", 0
        self._places, self._offsets = [], []

    def search(self) -> MatchSpan | None:
        """The first match in the text so far. May be called in another thread, while nothing is fed."""
        match = self._regexp.search(self._text, self._from)
        return None if match is None else _found(match, self._offset)

    def search_in(self, text: str, offset: int) -> MatchSpan | None:
        """The first match in another text, all of which stands at `offset`."""
        match = self._regexp.search(text.encode())
        return None if match is None else _found(match, lambda place: offset)._replace(end=offset)

    def _offset(self, place: int) -> int:
        """Where in the output this byte of the text is."""
        index = max(bisect_right(self._places, place) - 1, 0)
        return self._offsets[index] + place - self._places[index]

    def _trim(self) -> None:
        extra = len(self._text) - WINDOW
        if extra > WINDOW:  # twice as much: so that what is moved is worth it
            first = bisect_right(self._places, extra) - 1
            self._offsets = self._offsets[first:]
            self._offsets[0] += extra - self._places[first]
            self._places = [0, *(place - extra for place in self._places[first + 1 :])]
            self._text, self._from = self._text[extra:], 1


def compile_pattern(pattern: str, *, literal: bool = False, ignore_case: bool = False) -> Any:
    """An RE2 for bytes, with ^ and $ at every line. Raises `invalid_params`, `too_large`."""
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
        raise HawseError("too_large", "pattern: too much work for each byte", details={"path": "$.pattern"})
    return regexp


def _found(match: Any, offset: Any) -> MatchSpan:
    spans = [match.span(n) for n in range(match.re.groups + 1)]
    texts = [None if start < 0 else _decode(match.string[start:end]) for start, end in spans]
    named = {name.decode(): texts[number] for name, number in match.re.groupindex.items()}
    start, end = spans[0]
    truncated = any(stop - begin > GROUP_LIMIT for begin, stop in spans)
    last = offset(start) if start == end else offset(end - 1) + 1  # what stands between is not part of it
    return MatchSpan(offset(start), last, texts[0] or "", texts[1:], named, truncated)


def _decode(text: bytes) -> str:
    return text[:GROUP_LIMIT].decode(errors="replace")
