"""Defines a line of output, and recognizes lines that report a problem and must not be lost."""

import re
from typing import Final, NamedTuple

LINE_MAX: Final = 4096  # maximum length of a line, in columns; longer lines are split

# Words that are typical of lines reporting a problem, in lower case. They match too many lines rather than too few.
_WORDS: Final = (
    *("error", "err!", "warn", "fail", "fatal", "exception", "traceback", "panic", "critical", "alert", "severe"),
    *("denied", "refused", "forbidden", "cannot", "can't", "could not", "unable", "invalid", "unexpected", "not found"),
    *("no such", "undefined", "unresolved", "missing", "deprecat", "conflict", "corrupt", "segmentation", "killed"),
    *("abort", "timed out", "timeout", "out of memory", "no space", "vulnerab"),
)
_MARKS: Final = ("E:", "E ", "W:", "W ")  # prefixes of lines that report a problem
_ALERT: Final = re.compile(
    rf"(?i:(?<![a-z])(?:{'|'.join(map(re.escape, _WORDS))}))|(?<=[a-z])(?:Error|Warning|Exception|Failure)"
)
_NUMBER: Final = re.compile(r"\d+")


class Line(NamedTuple):
    """A line of output.

    Attributes:
        text: Its text without the line end. Invalid UTF-8 is decoded with the error handler `surrogateescape`.
        start: The offset of its first byte in the output.
        end: The offset after its last byte.
        ended: Whether a line end follows. If not, the line continues, or the output ends here.
    """

    text: str
    start: int
    end: int
    ended: bool = True


def is_alert(text: str) -> bool:
    """Return whether a line seems to report an error or a warning."""
    lower = text.lower()
    for word in _WORDS:  # ten times as fast as using only the regular expression
        if word in lower:
            return _ALERT.search(text) is not None or text.lstrip().startswith(_MARKS)
    return text.lstrip().startswith(_MARKS)


def shape(text: str) -> str:
    """Return the text of a line without its numbers. Messages that differ only in their numbers have the same shape."""
    return _NUMBER.sub("#", text).strip()


def size_of(text: str) -> int:
    """Return the number of bytes that `text` was decoded from."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))
