"""A terminal of libghostty as VT bytes: what paints its screen, scrollback and state on a reset emulator of its size.

The parts, in the order in which they cannot spoil each other: what is behind the alternate screen, scrollback, the
rows of the screen, the saved cursor, colours, modes, title, the cursor, and what is unfinished (xterm's ctlseqs).
"""

import re
from bisect import bisect_right
from itertools import pairwise

from pyghostty._ffi import lib

from runtime.screen.ghostty import (
    CANCEL,
    Terminal,
    at,
    cell,
    cloned,
    cursor_look,
    extra,
    feed,
    format_vt,
    get,
    get_bytes,
    get_colour,
    get_palette,
    has_mode,
    is_alternate,
    last_cells,
    row_cells,
    row_flags,
    unfinished,
)
from runtime.screen.row_renderer import CONTINUES, LINKED, WRAPS, RowRenderer, palette, unpack

EXACT_LINES = 500  # of the scrollback, the newest, in which blanks are made sure of
SMEARED = 100  # of these, the newest, that are painted one by one: 0.1 ms each
SHORTENED = 128 << 10  # bytes; above that it would cost most of the time that painting takes
_MODES = ("modes", "scrolling_region", "tabstops", "keyboard")
_PEN = ("style", "hyperlink", "protection", "kitty_keyboard", "charsets")  # how the next character would look
_ALTERNATE_MODES = (1049, 1047, 47)
_REPAINTING = re.compile(rb"\x1b\[\?(?:1049|1047|47|3)h")  # would clear what is painted, or save the cursor again
_REGION = re.compile(rb"\x1b\[([0-9]+);[0-9]+r")
_ORIGIN = b"\x1b[?6h"
_PLAIN = b"\x1b[0m\x1b(B\x1b)B\x0f"  # no style, ASCII
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
# A background, underline, inverse, strike or overline that a blank would show, and a space under it.
_SMEAR = re.compile(rb"\x1b\[(?:4|7|9|53)[0-9;:]*m(?:\x1b\[[1-9][0-9;:]*m)*[^\x1b\n]* ")
_COLOURS = [
    (b"\x1b[%d;5;%dm" % (base + 8, index), b"\x1b[%bm" % palette(index, base)[1:])
    for base in (30, 40)
    for index in range(16)
]
_SHAPES = {  # DECSCUSR, steady; one less blinks
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK: 2,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: 4,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: 6,
}


def paint(terminal: Terminal, scrollback: int) -> bytes:
    """All but the scrollback's oldest rows, if there are more than `scrollback` of them.

    It ends with what has been read of a sequence that is not finished, so the output goes on right behind it.
    `terminal` must not be within a UTF-8 character.
    """
    modes, shape = _REPAINTING.sub(b"", extra(terminal, _MODES)), _shape(terminal)
    if shape:
        modes = modes.replace(b"\x1b[?12h", b"")  # whether it blinks is said by its shape
    state = _colours(terminal) + modes + _names(terminal) + shape
    behind = is_alternate(terminal)
    parts = [_rows(terminal, scrollback), b"", state, _cursor(terminal, modes), unfinished(terminal) or b""]
    with cloned(terminal, scrollback=scrollback if behind else 0) as clone:
        parts[1] = _saved_cursor(clone)
        if behind:
            mode = next((mode for mode in _ALTERNATE_MODES if has_mode(terminal, mode)), _ALTERNATE_MODES[0])
            feed(clone, b"\x1b[?%dl" % mode)
            cursor, rows = _cursor(clone), _rows(clone, scrollback)
            tabs = extra(terminal, ("tabstops",))  # xterm.js has some of its own for each screen
            parts.insert(0, b"%b%b%b%b\x1b[?%dh%b\x1b[H" % (rows, tabs, _saved_cursor(clone), cursor, mode, _PLAIN))
    return b"".join(parts)


def end_overlong(terminal: Terminal) -> None:
    """Cancel an unfinished sequence that is longer than what the terminal was told to keep: it cannot be painted."""
    if unfinished(terminal) is None:
        feed(terminal, CANCEL)


def _rows(terminal: Terminal, scrollback: int) -> bytes:
    """The newest rows of the scrollback, and the screen. Leaves the cursor anywhere and no style."""
    have = get(terminal, "SCROLLBACK_ROWS", "size_t")
    first = -min(have, scrollback)
    painted, joined = _scrollback(terminal, first) if first else (b"", False)
    return painted + RowRenderer(terminal).paint(0, get(terminal, "ROWS", "uint16_t") - 1, joined=joined)


def _scrollback(terminal: Terminal, first: int) -> tuple[bytes, bool]:
    """From the row `first` to the one above the screen, ready for the row below; whether it wraps into that.

    Most of it by libghostty's formatter; what that gets wrong is painted line by line.
    """
    flags = row_flags(terminal, first, 0)
    # Where a line begins, and at last where the one begins that is not to be painted.
    starts = [first]
    starts += [
        y for y, (above, row) in enumerate(pairwise(flags), first + 1) if not (row & CONTINUES and above & WRAPS)
    ]
    joined = starts[-1] != 0
    starts += [0] * joined
    odd = _odd_rows(terminal, flags, first) + _smeared(terminal, starts[-1 - EXACT_LINES :])
    joined = joined and -1 not in odd
    parts: list[bytes] = []
    done = 0
    for line in sorted({bisect_right(starts, y) - 1 for y in odd}):
        parts.append(_formatted(terminal, starts[done : line + 1]))
        parts.append(RowRenderer(terminal).paint(starts[line], starts[line + 1] - 1, joined=False) + b"\r\n")
        done = line + 1
    parts.append(_formatted(terminal, starts[done:]))
    painted = b"".join(parts)
    return (painted.removesuffix(b"\r\n") if joined else painted), joined


def _odd_rows(terminal: Terminal, flags: list[int], first: int) -> list[int]:
    """Those with links, which the formatter leaves out, and those that wrap but have lost their last character."""
    wrapping = [y for y, row in enumerate(flags[:-1], first) if row & WRAPS]
    ends = zip(wrapping, map(unpack, last_cells(terminal, wrapping)), strict=True)
    torn = [y for y, end in ends if end.blank and (end.wide == lib.GHOSTTY_CELL_WIDE_NARROW or y == -1)]
    return torn + [y for y, row in enumerate(flags[:-1], first) if row & LINKED]


def _smeared(terminal: Terminal, starts: list[int]) -> list[int]:
    """Where the formatter may have given blanks between words the colours of the first: where such lines begin."""
    text = _format_lines(terminal, starts)
    found = {text.count(b"\n", 0, match.start()) for match in _SMEAR.finditer(text)}
    return [starts[line] for line in sorted(found)[-SMEARED:]]


def _formatted(terminal: Terminal, starts: list[int]) -> bytes:
    """The lines that begin in these rows, but for the last, each with its line feed."""
    if len(starts) < 2:
        return b""
    text = _format_lines(terminal, starts)
    ends = len(starts) - 1 - text.count(b"\r\n")  # the formatter stops at the last line with text
    return b"%b\x1b[0m%b" % (_with_short_colours(text), b"\r\n" * ends)


def _format_lines(terminal: Terminal, starts: list[int]) -> bytes:
    return format_vt(terminal, rows=(starts[0], starts[-1] - 1)) if len(starts) > 1 else b""


def _with_short_colours(text: bytes) -> bytes:
    """libghostty's formatter writes 38;5;1 for what most programs write as 31; both look the same."""
    if len(text) > SHORTENED:
        return text
    for long, short in _COLOURS:
        text = text.replace(long, short)
    return text


def _colours(terminal: Terminal) -> bytes:
    """Those that the program has set itself (OSC 4, 10, 11, 12)."""
    parts: list[bytes] = []
    now, default = get_palette(terminal, "COLOR_PALETTE"), get_palette(terminal, "COLOR_PALETTE_DEFAULT")
    if now != default:
        for i in range(0, len(now), 3):
            if now[i : i + 3] != default[i : i + 3]:
                parts.append(b"\x1b]4;%d;rgb:%02x/%02x/%02x\x1b\\" % (i // 3, *now[i : i + 3]))
    for number, name in ((10, "COLOR_FOREGROUND"), (11, "COLOR_BACKGROUND"), (12, "COLOR_CURSOR")):
        colour = get_colour(terminal, name)
        if colour is not None:
            parts.append(b"\x1b]%d;rgb:%02x/%02x/%02x\x1b\\" % (number, *colour))
    return b"".join(parts)


def _names(terminal: Terminal) -> bytes:
    """Title (OSC 2) and working directory (OSC 7)."""
    said = ((number, _CONTROL.sub(b"", get_bytes(terminal, name))) for number, name in ((2, "TITLE"), (7, "PWD")))
    return b"".join(b"\x1b]%d;%b\x1b\\" % (number, text) for number, text in said if text)


def _shape(terminal: Terminal) -> bytes:
    """The cursor's (DECSCUSR), unless it is the default, which `runtime.screen` makes one that nobody can ask for."""
    shape, blinks = cursor_look(terminal)
    return b"\x1b[%d q" % (_SHAPES[shape] - blinks) if shape in _SHAPES else b""


def _saved_cursor(clone: Terminal) -> bytes:
    """Saves (DECSC) what `clone` has saved, by restoring it there."""
    feed(clone, b"\x1b8")
    return _cursor(clone) + b"\x1b7"


def _cursor(terminal: Terminal, modes: bytes = b"") -> bytes:
    """Puts the cursor where it is, with its style; a pending wrap is made by printing the last character again."""
    x, y = get(terminal, "CURSOR_X", "uint16_t"), get(terminal, "CURSOR_Y", "uint16_t")
    region = _REGION.search(modes)
    top = int(region[1]) - 1 if region and _ORIGIN in modes else 0
    last = b""
    if get(terminal, "CURSOR_PENDING_WRAP", "bool"):
        if _is_second_half(terminal, x, y):
            x -= 1
        last = format_vt(terminal, at_cell=(x, y))
    pen = _with_short_colours(extra(terminal, _PEN))
    return b"\x1b[%d;%dH%b%b%b" % (y - top + 1, x + 1, _PLAIN, last, pen)


def _is_second_half(terminal: Terminal, x: int, y: int) -> bool:
    """Whether this cell belongs to the wide character before it."""
    packed = row_cells(at(terminal, 0, y), x + 1)[x]
    return bool(cell(packed, "WIDE", "int") == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL)
