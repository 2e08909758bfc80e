"""A terminal of libghostty as VT bytes: what paints its screen, scrollback and state on a reset emulator of its size.

libghostty's own formatter gives text, styles and modes, but in an order that a set mode can spoil, without the blank
rows at the end, coloured blanks, a pending wrap and the saved cursor. Those are added here (ECMA-48, xterm's ctlseqs).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from pyghostty import Terminal as Emulator
from pyghostty._ffi import check, ffi, lib, union_fn
from pyghostty.core import init_sized

_MODES = ("modes", "scrolling_region", "tabstops", "pwd", "keyboard")
_PEN = ("style", "hyperlink", "protection", "kitty_keyboard", "charsets")  # how the next character would look
_ALTERNATE_MODES = (1049, 1047, 47)
_REPAINTING = re.compile(rb"\x1b\[\?(?:1049|1047|47|3)h")  # would clear what is painted, or save the cursor again
_REGION = re.compile(rb"\x1b\[([0-9]+);[0-9]+r")
_ORIGIN = b"\x1b[?6h"
_CANCEL = b"\x18"  # CAN ends whatever sequence is unfinished
_PLAIN = b"\x1b[0m\x1b(B\x1b)B\x0f"  # no style, ASCII

Terminal = Any  # a GhosttyTerminal
_grid_ref = union_fn("ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)")


def paint(terminal: Terminal) -> bytes:
    """Everything, and at the end what has been read of a sequence that is not finished yet.

    So the output goes on right behind it. `terminal` must not be within a UTF-8 character.
    """
    modes = _REPAINTING.sub(b"", _extra(terminal, _MODES))
    parts = [modes, _cursor(terminal, modes), _unfinished(terminal)]
    with _clone(terminal) as clone:
        parts.insert(0, _cells(clone, terminal) + _saved_cursor(clone))
        if _get(terminal, "ACTIVE_SCREEN", "int") == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE:
            mode = next((mode for mode in _ALTERNATE_MODES if _mode(terminal, mode)), _ALTERNATE_MODES[0])
            _feed(clone, b"\x1b[?%dl" % mode)
            cursor, cells = _cursor(clone), _cells(clone, clone)
            parts.insert(0, b"%b%b%b\x1b[?%dh%b\x1b[H" % (cells, _saved_cursor(clone), cursor, mode, _PLAIN))
    return b"".join(parts)


def _cells(clone: Terminal, terminal: Terminal) -> bytes:
    """The scrollback and the screen of `terminal`; leaves the cursor anywhere and no style. `clone` is written to.

    Soft wraps are left to be made again by who reads it. Where a program has torn a wrapped line apart that is not
    what was there, so it is tried, and if need be each row ends with a line feed.
    """
    rows = _get(terminal, "ROWS", "uint16_t")
    blanks, erase = _blanks(terminal), b""
    if not _format(terminal, rows=(rows - 1, rows - 1)):
        # The formatter stops at the last row with text, and the rows above would come to lie too low: a mark is
        # painted on the last one, and erased.
        _feed(clone, b"\x1b[0m\x1b[4l\x1b[?6l\x1b[?69l\x1b[%d;1HX" % rows)
        erase = b"\x1b[%d;1H\x1b[X" % rows
    cells = _format(clone, unwrap=True)
    if not _shows(cells, clone):
        cells = _format(clone)
    return b"%b\x1b[0m%b%b" % (cells, erase, blanks)


def _shows(painted: bytes, terminal: Terminal) -> bool:
    """Whether these bytes paint the text of the terminal's screen."""
    cols, rows = _get(terminal, "COLS", "uint16_t"), _get(terminal, "ROWS", "uint16_t")
    with Emulator(cols, rows, scrollback=rows) as tried:
        tried.feed(painted)
        return _text(tried._t[0], rows) == _text(terminal, rows)


def _text(terminal: Terminal, rows: int) -> list[bytes]:
    text = _format(terminal, rows=(0, rows - 1), plain=True)
    return [line.rstrip() for line in text.rstrip().split(b"\n")]


def _blanks(terminal: Terminal) -> bytes:
    """Erases, run by run, what is blank in rows that have colours or styles: the formatter gives blanks none of their
    own, but the style of what stands before them."""
    parts: list[bytes] = []
    blanks: dict[int, bytes | None] = {}
    for y, cells in enumerate(_rows(terminal), 1):
        for cell in set(cells) - blanks.keys():
            blanks[cell] = _blank(cell)
        x = 1
        after_style = False
        for cell, run in groupby(cells):
            size = len(list(run))
            colour = blanks[cell]
            if colour or (colour is not None and after_style):
                parts.append(b"\x1b[%d;%dH\x1b[0%bm\x1b[%dX" % (y, x, colour, size))
            after_style = bool(colour) or (_has_style(cell) if colour is None else after_style)
            x += size
    return b"".join(parts) + b"\x1b[0m" if parts else b""


def _blank(cell: int) -> bytes | None:
    """The SGR parameters of a blank cell's background, None for a cell that is not blank."""
    tag = _cell(cell, "CONTENT_TAG", "int")
    if tag == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
        return b";48;5;%d" % _cell(cell, "COLOR_PALETTE", "uint8_t")
    if tag == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
        rgb = _cell(cell, "COLOR_RGB", "GhosttyColorRgb")
        return b";48;2;%d;%d;%d" % (rgb.r, rgb.g, rgb.b)
    return b"" if cell == 0 else None


def _has_style(cell: int) -> bool:
    return bool(_cell(cell, "HAS_STYLING", "bool"))


def _rows(terminal: Terminal) -> Iterator[list[int]]:
    """The cells of the visible rows, as libghostty packs them."""
    state, rows = ffi.new("GhosttyRenderState*"), ffi.new("GhosttyRenderStateRowIterator*")
    check(lib.ghostty_render_state_new(ffi.NULL, state), "new render state")
    try:
        check(lib.ghostty_render_state_update(state[0], terminal), "render")
        check(lib.ghostty_render_state_row_iterator_new(ffi.NULL, rows), "new row iterator")
        try:
            check(lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, rows), "rows")
            cells = ffi.new("GhosttyCellsView*")
            while lib.ghostty_render_state_row_iterator_next(rows[0]):
                check(
                    lib.ghostty_render_state_row_get(rows[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, cells),
                    "cells",
                )
                yield ffi.unpack(cells.ptr, cells.len)
        finally:
            lib.ghostty_render_state_row_iterator_free(rows[0])
    finally:
        lib.ghostty_render_state_free(state[0])


def _saved_cursor(clone: Terminal) -> bytes:
    """Saves (DECSC) what `clone` has saved, by restoring it there."""
    _feed(clone, b"\x1b8")
    return _cursor(clone) + b"\x1b7"


def _cursor(terminal: Terminal, modes: bytes = b"") -> bytes:
    """Puts the cursor where it is, with its style; a pending wrap is made by printing the last character again."""
    x, y = _get(terminal, "CURSOR_X", "uint16_t"), _get(terminal, "CURSOR_Y", "uint16_t")
    region = _REGION.search(modes)
    top = int(region[1]) - 1 if region and _ORIGIN in modes else 0
    last = b""
    if _get(terminal, "CURSOR_PENDING_WRAP", "bool"):
        if _is_second_half(terminal, x, y):
            x -= 1
        last = _format(terminal, cell=(x, y))
    return b"\x1b[%d;%dH%b%b%b" % (y - top + 1, x + 1, _PLAIN, last, _extra(terminal, _PEN))


def _is_second_half(terminal: Terminal, x: int, y: int) -> bool:
    """Whether this cell belongs to the wide character before it."""
    cell = ffi.new("GhosttyCell*")
    check(lib.ghostty_grid_ref_cell(_at(terminal, x, y), cell), "cell")
    return bool(_cell(cell[0], "WIDE", "int") == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL)


def end_overlong(terminal: Terminal) -> None:
    """Cancel an unfinished sequence that is longer than what the terminal was told to keep: it cannot be painted."""
    with _allocated() as (out, size):
        if lib.ghostty_terminal_continuation_alloc(terminal, ffi.NULL, out, size) != lib.GHOSTTY_SUCCESS:
            _feed(terminal, _CANCEL)


def _unfinished(terminal: Terminal) -> bytes:
    """What has been read of a sequence that is not complete."""
    with _allocated() as (out, size):
        check(lib.ghostty_terminal_continuation_alloc(terminal, ffi.NULL, out, size), "continuation")
        return bytes(ffi.buffer(out[0], size[0])) if size[0] else b""


# ---- libghostty


def _get(terminal: Terminal, name: str, ctype: str) -> Any:
    out = ffi.new(f"{ctype}*")
    check(lib.ghostty_terminal_get(terminal, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}"), out), name)
    return out[0]


def _cell(cell: int, name: str, ctype: str) -> Any:
    out = ffi.new(f"{ctype}*")
    check(lib.ghostty_cell_get(cell, getattr(lib, f"GHOSTTY_CELL_DATA_{name}"), out), name)
    return out[0]


def _mode(terminal: Terminal, mode: int) -> bool:
    config = ffi.new("GhosttyTerminalModeConfig*", {"mode": mode})
    check(lib.ghostty_terminal_get(terminal, lib.GHOSTTY_TERMINAL_DATA_MODE, config), "mode")
    return bool(config.value)


def _extra(terminal: Terminal, names: tuple[str, ...]) -> bytes:
    """What the formatter says of the terminal's state, without the cell that it says it before or behind."""
    cell = _format(terminal, cell=(0, 0))
    said = (_format(terminal, (name,), cell=(0, 0)) for name in names)
    return b"".join(part.removeprefix(cell) if part.startswith(cell) else part.removesuffix(cell) for part in said)


def _format(
    terminal: Terminal,
    extra: tuple[str, ...] = (),
    *,
    rows: tuple[int, int] | None = None,
    cell: tuple[int, int] | None = None,
    unwrap: bool = False,
    plain: bool = False,
) -> bytes:
    """The formatter's VT bytes: of all there is, of rows of the screen (first, last), or of its cell (x, y)."""
    options = init_sized("GhosttyFormatterTerminalOptions")
    options.emit = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN if plain else lib.GHOSTTY_FORMATTER_FORMAT_VT
    options.unwrap = unwrap
    if cell is not None or rows is not None:
        first = last = cell or (0, 0)
        if rows is not None:
            first, last = (0, rows[0]), (_get(terminal, "COLS", "uint16_t") - 1, rows[1])
        selection = init_sized("GhosttySelection")
        selection.start, selection.end = _at(terminal, *first)[0], _at(terminal, *last)[0]
        options.selection = selection
    for name in extra:
        setattr(options.extra if name in _MODES else options.extra.screen, name, True)
    formatter = ffi.new("GhosttyFormatter*")
    check(lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, terminal, options[0]), "new formatter")
    try:
        with _allocated() as (out, size):
            check(lib.ghostty_formatter_format_alloc(formatter[0], ffi.NULL, out, size), "format")
            return bytes(ffi.buffer(out[0], size[0])) if size[0] else b""
    finally:
        lib.ghostty_formatter_free(formatter[0])


def _at(terminal: Terminal, x: int, y: int) -> Any:
    """A reference to a cell of the screen."""
    point, ref = ffi.new("GhosttyPointS*"), init_sized("GhosttyGridRef")
    point.tag = lib.GHOSTTY_POINT_TAG_ACTIVE
    point.value.x, point.value.y = x, y
    check(_grid_ref(terminal, point[0], ref), "grid ref")
    return ref


def _feed(terminal: Terminal, data: bytes) -> None:
    lib.ghostty_terminal_vt_write(terminal, data, len(data))


@contextmanager
def _clone(terminal: Terminal) -> Iterator[Terminal]:
    """Another terminal in the same state, except that no sequence is unfinished."""
    decoder, clone = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
    with _allocated() as (out, size):
        check(lib.ghostty_snapshot_encode_alloc(terminal, ffi.NULL, out, size), "encode")
        check(lib.ghostty_snapshot_decoder_new_buf(ffi.NULL, decoder, out[0], size[0]), "new decoder")
        try:
            check(lib.ghostty_snapshot_decoder_decode(decoder[0], clone), "decode")
        finally:
            lib.ghostty_snapshot_decoder_free(decoder[0])
    try:
        _feed(clone[0], _CANCEL)
        yield clone[0]
    finally:
        lib.ghostty_terminal_free(clone[0])


@contextmanager
def _allocated() -> Iterator[tuple[Any, Any]]:
    """Room for what a call of libghostty allocates: (pointer to the bytes, pointer to their number)."""
    out, size = ffi.new("uint8_t**"), ffi.new("size_t*")
    try:
        yield out, size
    finally:
        if out[0] != ffi.NULL:
            lib.ghostty_free(ffi.NULL, out[0], size[0])
