"""Paints the screen and the newest scrollback rows for a snapshot.

libghostty's formatter paints most of the scrollback. Lines that it would get wrong are detected and rendered one by one
with `RowRenderer`, as are the rows on the screen.
"""

import re
from bisect import bisect_right
from itertools import pairwise

from hawse_runtime.screen.emulator.ghostty import Terminal, at, column_cells, format_vt, get, row_flags
from hawse_runtime.screen.emulator.row_renderer import (
    CONTINUES,
    LINKED,
    WRAPS,
    RowRenderer,
    coloured,
    unpack,
    with_short_colours,
    wrapped_by,
)

EXACT_LINES = 500  # number of newest scrollback lines where the style of blanks is checked
SMEARED = 100  # maximum number of lines with wrongly styled blanks to paint one by one, newest first; each takes 0.1 ms
# A style that is visible on a blank (background, underline, inverse, strikethrough or overline), followed by a space.
_SMEAR = re.compile(rb"\x1b\[(?:4|7|9|53)[0-9;:]*m(?:\x1b\[[1-9][0-9;:]*m)*[^\x1b\n]* ")


def paint_rows(terminal: Terminal, scrollback: int) -> bytes:
    """Paint the screen and the newest scrollback rows. Leaves no style set, and the cursor in an arbitrary position."""
    have = get(terminal, "SCROLLBACK_ROWS", "size_t")
    first = -min(have, scrollback)
    painted, joined = _scrollback(terminal, first) if first else (b"", False)
    return painted + RowRenderer(terminal).paint(0, get(terminal, "ROWS", "uint16_t") - 1, joined=joined)


def _scrollback(terminal: Terminal, first: int) -> tuple[bytes, bool]:
    """Paint the scrollback from row `first` on. Also return whether its last line continues on the screen.

    libghostty's formatter paints most rows. Lines that it would get wrong are painted one by one.
    """
    flags = row_flags(terminal, first, 0)
    # The first row of each line, followed by the first row that is not painted here.
    starts = [first]
    starts += [y for y, above in enumerate(flags[:-1], first + 1) if not above & WRAPS]
    joined = starts[-1] != 0
    starts += [0] * joined
    odd = _odd_rows(terminal, flags, first)
    exact = {bisect_right(starts, y) - 1 for y in odd}
    smeared = _smeared(terminal, starts, exact)
    exact |= smeared
    parts: list[bytes] = []
    done = 0
    for line in sorted(exact):
        parts.append(_formatted(terminal, starts[done : line + 1], wraps=False))
        parts.append(_painted(terminal, starts[line : line + 2], wraps=joined and line == len(starts) - 2))
        done = line + 1
    parts.append(_formatted(terminal, starts[done:], wraps=joined))
    painted = b"".join(parts)
    return (painted.removesuffix(b"\r\n") if joined else painted), joined


def _odd_rows(terminal: Terminal, flags: list[int], first: int) -> list[int]:
    """Return the rows that the formatter would get wrong: rows with links, and rows that it wraps incorrectly.

    A wrap is painted incorrectly in these cases:
    - The wrapping row has lost its last character, or the wide character that did not fit.
    - The next row doesn't continue the wrapping row, or has lost its first character.
    - The next row's first character has a background that the end of that row lacks. When the terminal wraps, it
      would fill the whole row with that background.
    """
    wrapping = [y for y, row in enumerate(flags[:-1], first) if row & WRAPS]
    ends = column_cells(terminal, -1, wrapping)
    below = [y + 1 for y in wrapping]
    starts, ends_below = column_cells(terminal, 0, below), column_cells(terminal, -1, below)
    torn = []
    for y, *cells in zip(wrapping, ends, starts, ends_below, strict=True):
        end, start, end_below = map(unpack, cells)
        filled = start.style and end_below.blank and not end_below.background and coloured(at(terminal, 0, y + 1))
        if start.blank or filled or (end.blank and (y == -1 or not wrapped_by(start, end))):
            torn.append(y)
    left = [y for y, (row, below) in enumerate(pairwise(flags), first) if row & WRAPS and not below & CONTINUES]
    return torn + left + [y for y, row in enumerate(flags[:-1], first) if row & LINKED]


def _smeared(terminal: Terminal, starts: list[int], exact: set[int]) -> set[int]:
    """Return the lines where the formatter may have given blanks the colours of the preceding word.

    Checks only the newest lines, and skips the lines in `exact`, which are always painted one by one. The formatter
    breaks those lines in different places, so its lines can't be counted across them.
    """
    found: list[int] = []
    last = len(starts) - 1
    edges = [max(last - EXACT_LINES, 0) - 1, *sorted(line for line in exact if line >= last - EXACT_LINES), last]
    for before, after in pairwise(edges):
        text = _format_lines(terminal, starts[before + 1 : after + 1])
        lines = {before + 1 + text.count(b"\n", 0, match.start()) for match in _SMEAR.finditer(text)}
        found += sorted(line for line in lines if line < after)
    return set(found[-SMEARED:])


def _formatted(terminal: Terminal, starts: list[int], *, wraps: bool) -> bytes:
    """Return the bytes that paint all lines except the last one. Each line is followed by a line feed.

    Args:
        terminal: The terminal to paint.
        starts: The first row of each line.
        wraps: Whether the last line wraps into the row after it.
    """
    if len(starts) < 2:
        return b""
    text = _format_lines(terminal, starts)
    ends = len(starts) - 1 - text.count(b"\r\n")  # the formatter stops after the last line with text
    if ends < 1:  # the formatter has produced too many lines
        return b"".join(_painted(terminal, [*line], wraps=wraps and line[1] == starts[-1]) for line in pairwise(starts))
    return b"%b\x1b[0m%b" % (with_short_colours(text), b"\r\n" * ends)


def _painted(terminal: Terminal, line: list[int], *, wraps: bool) -> bytes:
    """Paint one line with its line feed. `line` contains the line's first row and the next line's first row."""
    return RowRenderer(terminal).paint(line[0], line[1] - 1, joined=False, wraps=wraps) + b"\r\n"


def _format_lines(terminal: Terminal, starts: list[int]) -> bytes:
    return format_vt(terminal, rows=(starts[0], starts[-1] - 1)) if len(starts) > 1 else b""
