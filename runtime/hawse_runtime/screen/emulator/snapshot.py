"""Converts a libghostty terminal to VT bytes that recreate its screen, scrollback and state on a reset emulator.

The emulator must have the same size. The parts are ordered so that none changes an earlier one: the main screen behind
the alternate one, scrollback, the screen's rows, the saved cursor, colours, modes, title, the cursor, and any
unfinished sequence (xterm's ctlseqs).
"""

import logging
import re
from collections.abc import Callable

from hawse_runtime.screen.emulator.encoded_screens import ALTERNATE, PRIMARY, EncodedScreen, Place
from hawse_runtime.screen.emulator.ghostty import (
    CANCEL,
    Terminal,
    at,
    cell,
    cloned,
    column_cells,
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
    link_at,
    row_cells,
    screen_cells,
    unfinished,
)
from hawse_runtime.screen.emulator.libghostty import lib
from hawse_runtime.screen.emulator.mouse_modes import mouse_modes
from hawse_runtime.screen.emulator.row_renderer import unpack, with_short_colours
from hawse_runtime.screen.emulator.scrollback import paint_rows

log = logging.getLogger(__name__)

_MODES = ("modes", "scrolling_region", "tabstops", "keyboard")
_PEN = ("style", "hyperlink", "protection", "kitty_keyboard", "charsets")  # the style of the next character
_SAVING_MODE = 1049  # saves the cursor and switches to the alternate screen
_CLEARING_MODE = 1047
_ALTERNATE_MODES = (_SAVING_MODE, _CLEARING_MODE, 47)
_REPAINTING = re.compile(rb"\x1b\[\?(?:1049|1047|47|3)h")  # setting these modes would clear rows or save the cursor
_MOUSE = re.compile(rb"\x1b\[\?(?:9|100[02356]|101[56])h")  # only the most recently set one of these modes applies
_REGION = re.compile(rb"\x1b\[([0-9]+);[0-9]+r")
_ORIGIN = b"\x1b[?6h"
_PLAIN = b"\x1b[0m\x1b(B\x1b)B\x0f"  # turns off styles and selects ASCII for G0 and G1
_NO_PEN = b'\x1b]8;;\x1b\\\x1b[0"q\x1b*B\x1b+B'  # turns off links and protection, and selects ASCII for G2 and G3
# Resets modes to their defaults, the scroll region to the whole screen, and the cursor that DECRC restores.
_SOFT_RESET = b"\x1b[?1;6;45;66;1004;2004;2026l\x1b[4l\x1b[?7;25h\x1b[0 q\x1b[r" + _PLAIN + _NO_PEN + b"\x1b[H\x1b7"
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_SHAPES = {  # DECSCUSR values for steady shapes; subtract 1 for blinking ones
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK: 2,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: 4,
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: 6,
}


def paint(terminal: Terminal, scrollback: int) -> bytes:
    """Return VT bytes that paint the screen of `terminal` and its newest scrollback rows. Never raises.

    The parts of the snapshot are painted separately. If a part fails, it is replaced with a plainer form or left out,
    and the loss is logged: a plain screen is better than none.

    The bytes end with the start of any unfinished sequence, so that output can follow immediately.

    Args:
        terminal: The terminal. Its input must not end inside a UTF-8 character.
        scrollback: The maximum number of scrollback rows to paint.
    """
    make = Parts()
    modes = make("modes", lambda: _REPAINTING.sub(b"", extra(terminal, _MODES)))
    modes = make("mouse modes", lambda: _MOUSE.sub(b"", modes) + mouse_modes(terminal), lambda: modes)
    shape = make("cursor shape", lambda: _shape(terminal))
    if shape:
        modes = modes.replace(b"\x1b[?12h", b"")  # DECSCUSR also sets blinking
    behind, saved = make.both("main screen and saved cursor", lambda: _from_clone(terminal, scrollback))
    if not behind and is_alternate(terminal):
        behind = b"\x1b[?%dh" % _alternate_mode(terminal) + _PLAIN + b"\x1b[H"
    rows = make(
        "scrollback and styles",
        lambda: paint_rows(terminal, scrollback),
        lambda: paint_rows(terminal, 0),
        lambda: plain_rows(terminal),
    )
    colours = make("colours", lambda: _colours(terminal))
    names = make("title and directory", lambda: _names(terminal))
    cursor = make("cursor style", lambda: _cursor(terminal, modes=modes), lambda: cursor_position(terminal))
    make.log()
    return b"".join((behind, rows, saved, colours, modes, names, shape, cursor, unfinished(terminal) or b""))


def end_overlong(terminal: Terminal) -> None:
    """Cancel an unfinished sequence that is too long for the terminal to keep, because it cannot be painted."""
    if unfinished(terminal) is None:
        feed(terminal, CANCEL)


def erase_cut_characters(terminal: Terminal) -> None:
    """Erase wide characters whose second half a resize has cut off at the right margin.

    Where libghostty doesn't reflow (alternate screen, DECAWM reset), it keeps the first half and then can't encode the
    screen.
    """
    ends = column_cells(terminal, -1, list(range(get(terminal, "ROWS", "uint16_t"))))
    cut = [y for y, packed in enumerate(ends) if packed and unpack(packed).wide == lib.GHOSTTY_CELL_WIDE_WIDE]
    if not cut or unfinished(terminal) != b"":
        return
    modes = extra(terminal, _MODES)
    origin = _ORIGIN in modes
    cols = get(terminal, "COLS", "uint16_t")
    erase = b"".join(b"\x1b[%d;%dH\x1b[X" % (y + 1, cols) for y in cut)
    place = _place(terminal)
    erased = place.x == cols - 1 and place.y in cut
    restore = (_ORIGIN if origin else b"") + _cursor(terminal, place, modes, erased=erased)
    feed(terminal, _PLAIN + (b"\x1b[?6l" if origin else b"") + erase + restore)


def soft_reset(terminal: Terminal) -> None:
    """Reset the state that DECSTR resets in xterm.js, without moving the cursor."""
    feed(terminal, _cursor(terminal).join((_SOFT_RESET, _PLAIN + _NO_PEN)))


class Parts:
    """Paints the parts of a snapshot and records failures."""

    def __init__(self) -> None:
        self.given_up: list[str] = []

    def __call__(self, name: str, *forms: Callable[[], bytes]) -> bytes:
        """Return the result of the first of `forms` that succeeds, or b"". `name` identifies the part in the log."""
        for form in forms:
            try:
                return form()
            except Exception as error:  # whatever failed, the rest of the screen can still be painted
                self._note(name, error)
        return b""

    def both(self, name: str, form: Callable[[], tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
        """Return two parts painted by `form`, or b"" for both if it fails. `name` identifies them in the log."""
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
            log.warning("! a snapshot lacks %s", ", ".join(self.given_up))


def _from_clone(terminal: Terminal, scrollback: int) -> tuple[bytes, bytes]:
    """Paint the state that cannot be read without modifying the terminal. Works on a copy.

    Returns:
        The main screen with a switch to the alternate screen, if that is the visible one; and the saved cursor.
    """
    alternate = is_alternate(terminal)
    with cloned(terminal, scrollback=scrollback if alternate else 0) as (clone, screens):
        saved = _saved_cursor(clone, screens[ALTERNATE if alternate else PRIMARY])
        if not alternate:
            return b"", saved
        main = screens[PRIMARY]
        mode = _alternate_mode(terminal)
        if mode == _SAVING_MODE and main.saved != main.cursor:
            mode = _CLEARING_MODE  # `_SAVING_MODE` would overwrite the saved cursor
        feed(clone, b"\x1b[?47l")
        rows, main_saved = paint_rows(clone, scrollback), _saved_cursor(clone, main)
        tabs = extra(terminal, ("tabstops",))  # xterm.js has separate tab stops on each screen
        cursor = _cursor(clone, main.cursor)
        return b"%b%b%b%b\x1b[?%dh%b\x1b[H" % (rows, tabs, main_saved, cursor, mode, _PLAIN), saved


def _alternate_mode(terminal: Terminal) -> int:
    """Return the private mode that switched the terminal to the alternate screen."""
    return next((mode for mode in _ALTERNATE_MODES if has_mode(terminal, mode)), _ALTERNATE_MODES[0])


def plain_rows(terminal: Terminal) -> bytes:
    """Return the screen's characters without styles. Used when painting fails."""
    rows = ([unpack(packed) for packed in row] for row in screen_cells(terminal))
    return b"\r\n".join(
        b"".join(cell.text or b"?" for cell in row if cell.wide != lib.GHOSTTY_CELL_WIDE_SPACER_TAIL).rstrip()
        for row in rows
    )


def cursor_position(terminal: Terminal) -> bytes:
    """Move the cursor without setting a style. Used when painting fails."""
    x, y, _ = _place(terminal)
    return b"\x1b[%d;%dH%b" % (y + 1, x + 1, _PLAIN)


def _colours(terminal: Terminal) -> bytes:
    """Return the sequences for colours set by programs (OSC 4, 10, 11, 12)."""
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
    """Return the sequences for the title (OSC 2) and the working directory (OSC 7)."""
    texts = ((number, _CONTROL.sub(b"", get_bytes(terminal, name))) for number, name in ((2, "TITLE"), (7, "PWD")))
    return b"".join(b"\x1b]%d;%b\x1b\\" % (number, text) for number, text in texts if text)


def _shape(terminal: Terminal) -> bytes:
    """Return the sequence for the cursor's shape (DECSCUSR), unless it is the default shape set by `Screen`."""
    shape, blinks = cursor_look(terminal)
    return b"\x1b[%d q" % (_SHAPES[shape] - blinks) if shape in _SHAPES else b""


def _saved_cursor(clone: Terminal, screen: EncodedScreen) -> bytes:
    """Paint the visible screen's saved cursor (DECSC). Restores that cursor in `clone` in order to read it."""
    if screen.saved is None:
        return b""
    feed(clone, b"\x1b8")
    return _cursor(clone, screen.saved) + b"\x1b7"


def _place(terminal: Terminal) -> Place:
    """Return the cursor's position."""
    x, y = get(terminal, "CURSOR_X", "uint16_t"), get(terminal, "CURSOR_Y", "uint16_t")
    return Place(x, y, get(terminal, "CURSOR_PENDING_WRAP", "bool"))


def _cursor(terminal: Terminal, place: Place | None = None, modes: bytes = b"", *, erased: bool = False) -> bytes:
    """Move the cursor and set its style. To recreate a pending wrap, reprint the last character.

    If the cell is empty, print a space, because a pending wrap carries over to the other screen.

    Args:
        terminal: The terminal to read the characters and the style from.
        place: The target position; by default, the cursor's position.
        modes: The modes that precede these bytes, including the scroll region.
        erased: Whether the cell at the target position has been erased.
    """
    x, y, pending_wrap = place or _place(terminal)
    region = _REGION.search(modes)
    top = int(region[1]) - 1 if region and _ORIGIN in modes else 0
    last = b""
    if pending_wrap:
        if _is_second_half(terminal, x, y):
            x -= 1
        last = b" " if erased else format_vt(terminal, at_cell=(x, y)) or b" "
        if link := link_at(at(terminal, x, y)):
            last = b"\x1b]8;;%b\x1b\\%b\x1b]8;;\x1b\\" % (link, last)
    pen = with_short_colours(extra(terminal, _PEN))
    return b"\x1b[%d;%dH%b%b%b" % (y - top + 1, x + 1, _PLAIN, last, pen)


def _is_second_half(terminal: Terminal, x: int, y: int) -> bool:
    """Return whether a cell is the second half of a wide character."""
    packed = row_cells(at(terminal, 0, y), x + 1)[x]
    return bool(cell(packed, "WIDE", "int") == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL)
