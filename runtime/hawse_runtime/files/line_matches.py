"""Finds matching lines in a file and converts them for a result."""

import os
from collections.abc import Generator
from typing import Any

from hawse.api.files import SearchMatch
from hawse.api.paths import to_text

TEXT_LIMIT = 2000  # maximum length of a line in a result, in bytes
# Maximum number of spans per line in a result.
SPANS_LIMIT = 100
BLOCK = 256 << 10  # bytes per read
LINE_LIMIT = 1 << 20  # maximum length of a line in bytes; longer lines are split for matching

Line = tuple[int, bytes, list[tuple[int, int]]]  # line number, text, and match spans in bytes


def search_match(path: str, line: Line) -> SearchMatch:
    """Truncate a line for a result, and convert its spans from bytes to characters. `path` is a Python file name."""
    number, text, spans = line
    cut = text[:TEXT_LIMIT]
    shown = cut.decode(errors="replace")
    within = [(start, min(end, len(cut))) for start, end in spans[:SPANS_LIMIT] if start <= len(cut)]
    places = [(_characters(cut, start), _characters(cut, end)) for start, end in within]
    truncated = len(cut) < len(text) or len(spans) > SPANS_LIMIT
    return SearchMatch(path=to_text(path), line=number, text=shown, spans=places, truncated=truncated)


def lines_with(
    regexp: Any, fd: int, *, block: int = BLOCK, line_limit: int = LINE_LIMIT
) -> Generator[Line | None, None, None]:
    """Yield a file's matching lines, and None after each block. Binary files yield no lines.

    Args:
        regexp: The compiled pattern.
        fd: The file's descriptor.
        block: The number of bytes per read.
        line_limit: The maximum length of a line, in bytes; longer lines are split for matching.
    """
    rest, number = b"", 1
    while True:
        data = os.read(fd, block)
        text = rest + data
        if b"\0" in data:
            return
        end = len(text) if not data or len(text) > line_limit else text.rfind(b"\n") + 1
        yield from _in_block(regexp, text[:end], number)
        number += text.count(b"\n", 0, end)
        rest = text[end:]
        if not data:
            return
        yield None


def _in_block(regexp: Any, text: bytes, number: int) -> Generator[Line, None, None]:
    at = 0  # the offset where line `number` starts
    while at < len(text) and (match := regexp.search(text, at)) is not None:
        begin = text.rfind(b"\n", at, match.start()) + 1 or at
        if begin >= len(text):
            return
        number += text.count(b"\n", at, begin)
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        line = text[begin:end]
        spans = [found.span() for found in regexp.finditer(line)]  # a match can't span several lines
        if spans:
            yield number, line.removesuffix(b"\r"), spans
        at, number = end + 1, number + 1


def _characters(text: bytes, at: int) -> int:
    return len(text[:at].decode(errors="replace"))
