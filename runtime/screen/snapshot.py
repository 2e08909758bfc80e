"""A terminal of libghostty as VT bytes that paint its screen, scrollback and state on a reset emulator of its size.

The parts are ordered so that none changes an earlier one: the main screen behind the alternate one, scrollback,
the rows of the screen, the saved cursor, colours, modes, title, the cursor, the unfinished sequence (xterm's ctlseqs).
"""

import logging
import re
from bisect import bisect_right
from collections.abc import Callable
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
    screen_cells,
    unfinished,
)
from runtime.screen.row_renderer import CONTINUES, LINKED, WRAPS, RowRenderer, palette, unpack

log = logging.getLogger(__name__)

EXACT_LINES = 500  # the newest lines of the scrollback, in which the style of blanks is checked
SMEARED = 100  # the newest of these lines that are painted one by one: 0.1 ms each
SHORTENED = 128 << 10  # bytes; above that it would cost most of the time that painting takes
_MODES = ("modes", "scrolling_region", "tabstops", "keyboard")
_PEN = ("style", "hyperlink", "protection", "kitty_keyboard", "charsets")  # the style of the next character
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
    """Return the VT bytes that paint the screen of `terminal` and the newest rows of its scrollback. Never raises.

    Each part of the snapshot is made by itself. If making one fails, a plainer form takes its place or the part is left
    out, and what was given up is logged: a viewer that sees a plain screen is better served than one that sees none.

    The bytes end with what has been read of an unfinished sequence, so that the output can follow immediately.

    Args:
        terminal: Must not be within a UTF-8 character.
        scrollback: The number of rows of scrollback to paint at most.
    """
    make = Parts()
    modes = make("modes", lambda: _REPAINTING.sub(b"", extra(terminal, _MODES)))
    shape = make("cursor shape", lambda: _shape(terminal))
    if shape:
        modes = modes.replace(b"\x1b[?12h", b"")  # DECSCUSR includes whether the cursor blinks
    behind, saved = make.both("main screen and saved cursor", lambda: _from_clone(terminal, scrollback))
    if not behind and is_alternate(terminal):
        behind = b"\x1b[?%dh" % _alternate_mode(terminal) + _PLAIN + b"\x1b[H"
    rows = make(
        "scrollback and styles",
        lambda: _rows(terminal, scrollback),
        lambda: _rows(terminal, 0),
        lambda: plain_rows(terminal),
    )
    colours = make("colours", lambda: _colours(terminal))
    names = make("title and directory", lambda: _names(terminal))
    cursor = make("cursor style", lambda: _cursor(terminal, modes), lambda: cursor_position(terminal))
    make.log()
    return b"".join((behind, rows, saved, colours, modes, names, shape, cursor, unfinished(terminal) or b""))


def end_overlong(terminal: Terminal) -> None:
    """Cancel an unfinished sequence that is longer than the terminal keeps, because it cannot be painted."""
    if unfinished(terminal) is None:
        feed(terminal, CANCEL)


def erase_cut_characters(terminal: Terminal) -> None:
    """Erase wide characters whose second half a resize has cut off at the right margin.

    libghostty leaves the first half behind where it does not reflow (alternate screen, DECAWM reset), and then cannot
    encode the screen.
    """
    cut = [y for y, packed in enumerate(last_cells(terminal, list(range(get(terminal, "ROWS", "uint16_t"))))) if packed
           and unpack(packed).wide == lib.GHOSTTY_CELL_WIDE_WIDE]  # fmt: skip
    if not cut or unfinished(terminal) != b"":
        return
    modes = extra(terminal, _MODES)
    origin = _ORIGIN in modes
    erase = b"".join(b"\x1b[%d;%dH\x1b[X" % (y + 1, get(terminal, "COLS", "uint16_t")) for y in cut)
    restore = (_ORIGIN if origin else b"") + _cursor(terminal, modes)
    feed(terminal, _PLAIN + (b"\x1b[?6l" if origin else b"") + erase + restore)


class Parts:
    """Makes the parts of one snapshot and records which could not be made."""

    def __init__(self) -> None:
        self.given_up: list[str] = []

    def __call__(self, name: str, *forms: Callable[[], bytes]) -> bytes:
        """Return the first of `forms` that can be made, or nothing. `name` is what is lost without the first one."""
        for form in forms:
            try:
                return form()
            except Exception as error:  # after any failure, the rest of the screen can still be painted
                self._note(name, error)
        return b""

    def both(self, name: str, form: Callable[[], tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
        """As `__call__`, for two parts that are made together."""
        try:
            return form()
        except Exception as error:
            self._note(name, error)
            return b"", b""

    def _note(self, name: str, error: Exception) -> None:
        self.given_up.append(f"{name} ({type(error).__name__}: {error})")
        log.debug("! snapshot: %s", name, exc_info=error)

    def log(self) -> None:
        if self.given_up:
            log.warning("! a snapshot is shown without %s", ", ".join(self.given_up))


def _from_clone(terminal: Terminal, scrollback: int) -> tuple[bytes, bytes]:
    """Paint the parts that can be read only by changing the terminal, using a copy of it.

    Returns:
        The main screen, if it is behind the alternate one, up to the switch to that; and the saved cursor.
    """
    alternate = is_alternate(terminal)
    with cloned(terminal, scrollback=scrollback if alternate else 0) as clone:
        saved = _saved_cursor(clone)
        if not alternate:
            return b"", saved
        mode = _alternate_mode(terminal)
        feed(clone, b"\x1b[?%dl" % mode)
        cursor, rows = _cursor(clone), _rows(clone, scrollback)
        tabs = extra(terminal, ("tabstops",))  # xterm.js has tab stops for each screen
        return b"%b%b%b%b\x1b[?%dh%b\x1b[H" % (rows, tabs, _saved_cursor(clone), cursor, mode, _PLAIN), saved


def _alternate_mode(terminal: Terminal) -> int:
    """Return the private mode with which the program switched to the alternate screen."""
    return next((mode for mode in _ALTERNATE_MODES if has_mode(terminal, mode)), _ALTERNATE_MODES[0])


def plain_rows(terminal: Terminal) -> bytes:
    """Return the characters of the screen without styles, as a fallback."""
    rows = ([unpack(packed) for packed in row] for row in screen_cells(terminal))
    return b"\r\n".join(
        b"".join(cell.text or b"?" for cell in row if cell.wide != lib.GHOSTTY_CELL_WIDE_SPACER_TAIL).rstrip()
        for row in rows
    )


def cursor_position(terminal: Terminal) -> bytes:
    """Place the cursor without a style, as a fallback."""
    x, y = get(terminal, "CURSOR_X", "uint16_t"), get(terminal, "CURSOR_Y", "uint16_t")
    return b"\x1b[%d;%dH%b" % (y + 1, x + 1, _PLAIN)


def _rows(terminal: Terminal, scrollback: int) -> bytes:
    """Paint the newest rows of the scrollback, and the screen. The cursor ends anywhere, without a style."""
    have = get(terminal, "SCROLLBACK_ROWS", "size_t")
    first = -min(have, scrollback)
    painted, joined = _scrollback(terminal, first) if first else (b"", False)
    return painted + RowRenderer(terminal).paint(0, get(terminal, "ROWS", "uint16_t") - 1, joined=joined)


def _scrollback(terminal: Terminal, first: int) -> tuple[bytes, bool]:
    """Paint the rows from `first` to the one above the screen. Also return whether they wrap into the screen.

    libghostty's formatter makes most of it; lines that it formats wrongly are painted one by one.
    """
    flags = row_flags(terminal, first, 0)
    # The first row of each line, and at the end the first row of the line that is not painted here.
    starts = [first]
    starts += [
        y for y, (above, row) in enumerate(pairwise(flags), first + 1) if not (row & CONTINUES and above & WRAPS)
    ]
    joined = starts[-1] != 0
    starts += [0] * joined
    odd = _odd_rows(terminal, flags, first)
    exact = {bisect_right(starts, y) - 1 for y in odd}
    smeared = _smeared(terminal, starts, exact)
    joined = joined and -1 not in odd and len(starts) - 2 not in smeared
    exact |= smeared
    parts: list[bytes] = []
    done = 0
    for line in sorted(exact):
        parts.append(_formatted(terminal, starts[done : line + 1]))
        parts.append(_painted(terminal, starts[line : line + 2]))
        done = line + 1
    parts.append(_formatted(terminal, starts[done:]))
    painted = b"".join(parts)
    return (painted.removesuffix(b"\r\n") if joined else painted), joined


def _odd_rows(terminal: Terminal, flags: list[int], first: int) -> list[int]:
    """Return the rows that the formatter formats wrongly: it omits links, and it ends some lines elsewhere.

    This happens where a row wraps but has lost its last character, or wraps into a row that is no continuation.
    """
    wrapping = [y for y, row in enumerate(flags[:-1], first) if row & WRAPS]
    ends = zip(wrapping, map(unpack, last_cells(terminal, wrapping)), strict=True)
    torn = [y for y, end in ends if end.blank and (end.wide == lib.GHOSTTY_CELL_WIDE_NARROW or y == -1)]
    left = [y for y, (row, below) in enumerate(pairwise(flags), first) if row & WRAPS and not below & CONTINUES]
    return torn + left + [y for y, row in enumerate(flags[:-1], first) if row & LINKED]


def _smeared(terminal: Terminal, starts: list[int], exact: set[int]) -> set[int]:
    """Return the lines in which the formatter may have given blanks the colours of the word before them.

    Only the newest lines are checked, without those that are painted exactly anyway: the formatter breaks these
    elsewhere, so that lines cannot be counted across them.
    """
    found: list[int] = []
    last = len(starts) - 1
    edges = [max(last - EXACT_LINES, 0) - 1, *sorted(line for line in exact if line >= last - EXACT_LINES), last]
    for before, after in pairwise(edges):
        text = _format_lines(terminal, starts[before + 1 : after + 1])
        lines = {before + 1 + text.count(b"\n", 0, match.start()) for match in _SMEAR.finditer(text)}
        found += sorted(line for line in lines if line < after)
    return set(found[-SMEARED:])


def _formatted(terminal: Terminal, starts: list[int]) -> bytes:
    """Return the lines that start in these rows except the last one, each with its line feed."""
    if len(starts) < 2:
        return b""
    text = _format_lines(terminal, starts)
    ends = len(starts) - 1 - text.count(b"\r\n")  # the formatter ends at the last line that has text
    if ends < 1:  # it has found too many lines
        return b"".join(_painted(terminal, [*line]) for line in pairwise(starts))
    return b"%b\x1b[0m%b" % (_with_short_colours(text), b"\r\n" * ends)


def _painted(terminal: Terminal, line: list[int]) -> bytes:
    """Paint one line, given its first row and the row after it, with its line feed."""
    return RowRenderer(terminal).paint(line[0], line[1] - 1, joined=False) + b"\r\n"


def _format_lines(terminal: Terminal, starts: list[int]) -> bytes:
    return format_vt(terminal, rows=(starts[0], starts[-1] - 1)) if len(starts) > 1 else b""


def _with_short_colours(text: bytes) -> bytes:
    """Replace 38;5;1, which libghostty's formatter writes, by the shorter 31, which means the same."""
    if len(text) > SHORTENED:
        return text
    for long, short in _COLOURS:
        text = text.replace(long, short)
    return text


def _colours(terminal: Terminal) -> bytes:
    """Return the colours that the program has set (OSC 4, 10, 11, 12)."""
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
    """Return the title (OSC 2) and the working directory (OSC 7)."""
    texts = ((number, _CONTROL.sub(b"", get_bytes(terminal, name))) for number, name in ((2, "TITLE"), (7, "PWD")))
    return b"".join(b"\x1b]%d;%b\x1b\\" % (number, text) for number, text in texts if text)


def _shape(terminal: Terminal) -> bytes:
    """Return the cursor's shape (DECSCUSR) unless it is the default (see `runtime.screen`)."""
    shape, blinks = cursor_look(terminal)
    return b"\x1b[%d q" % (_SHAPES[shape] - blinks) if shape in _SHAPES else b""


def _saved_cursor(clone: Terminal) -> bytes:
    """Paint the saved cursor (DECSC), which is read by restoring it in `clone`."""
    feed(clone, b"\x1b8")
    return _cursor(clone) + b"\x1b7"


def _cursor(terminal: Terminal, modes: bytes = b"") -> bytes:
    """Place the cursor with its style. A pending wrap is recreated by printing the last character again."""
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
    """Return whether this cell is the second half of a wide character."""
    packed = row_cells(at(terminal, 0, y), x + 1)[x]
    return bool(cell(packed, "WIDE", "int") == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL)
