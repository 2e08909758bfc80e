"""The subset of libghostty's C interface needed for snapshots, as declared in pyghostty's `_cdef.py`.

The functions take handles and return plain Python values. This module knows nothing about snapshots.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hawse_runtime.screen.emulator.encoded_screens import EncodedScreen, encoded_screens
from hawse_runtime.screen.emulator.libghostty import check, ffi, init_sized, lib, pyghostty, union_fn

CANCEL = b"\x18"  # CAN cancels an unfinished sequence

Terminal = Any  # a GhosttyTerminal
_SCREEN = lib.GHOSTTY_POINT_TAG_SCREEN
_TERMINAL_EXTRA = ("modes", "scrolling_region", "tabstops", "keyboard")
_grid_ref = union_fn("ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)")


def handle(emulator: pyghostty.Terminal) -> Terminal:
    """Return an open emulator's handle. pyghostty has no public name for it."""
    return emulator._t[0]


def get(terminal: Terminal, name: str, ctype: str) -> Any:
    out = ffi.new(f"{ctype}*")
    check(lib.ghostty_terminal_get(terminal, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}"), out), name)
    return out[0]


def get_bytes(terminal: Terminal, name: str) -> bytes:
    """Return a string property of the terminal, or b"" if it is not set."""
    out = ffi.new("GhosttyString*")
    if lib.ghostty_terminal_get(terminal, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}"), out) or not out.len:
        return b""
    return bytes(ffi.buffer(out.ptr, out.len))


def get_colour(terminal: Terminal, name: str) -> tuple[int, int, int] | None:
    out = ffi.new("GhosttyColorRgb*")
    if lib.ghostty_terminal_get(terminal, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}"), out):
        return None
    return out.r, out.g, out.b


def get_palette(terminal: Terminal, name: str) -> bytes:
    """Return the 256 palette colours as bytes: red, green, blue."""
    out = ffi.new("GhosttyColorRgb[256]")
    check(lib.ghostty_terminal_get(terminal, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{name}"), out), name)
    return bytes(ffi.buffer(out))


def has_mode(terminal: Terminal, mode: int) -> bool:
    """Return whether a DEC private mode is set."""
    config = ffi.new("GhosttyTerminalModeConfig*", {"mode": mode})
    check(lib.ghostty_terminal_get(terminal, lib.GHOSTTY_TERMINAL_DATA_MODE, config), "mode")
    return bool(config.value)


def is_alternate(terminal: Terminal) -> bool:
    return bool(get(terminal, "ACTIVE_SCREEN", "int") == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)


def feed(terminal: Terminal, data: bytes) -> None:
    lib.ghostty_terminal_vt_write(terminal, data, len(data))


def unfinished(terminal: Terminal) -> bytes | None:
    """Return the bytes of any unfinished sequence, or None if it is too long for the terminal to keep."""
    with _allocated() as (out, size):
        if lib.ghostty_terminal_continuation_alloc(terminal, ffi.NULL, out, size) != lib.GHOSTTY_SUCCESS:
            return None
        return bytes(ffi.buffer(out[0], size[0])) if size[0] else b""


# ---- cells


def at(terminal: Terminal, x: int, y: int) -> Any:
    """Return a reference (GhosttyGridRef*) to a cell. Row 0 is the screen's top row; rows above it are negative."""
    point, ref = ffi.new("GhosttyPointS*"), init_sized("GhosttyGridRef")
    point.tag, point.value.x = _SCREEN, x
    point.value.y = get(terminal, "SCROLLBACK_ROWS", "size_t") + y
    check(_grid_ref(terminal, point[0], ref), "grid ref")
    return ref


def row_flags(terminal: Terminal, first: int, last: int) -> list[int]:
    """Return the packed flags of rows `first` to `last` (see `row_mask`)."""
    point, ref, row = ffi.new("GhosttyPointS*"), init_sized("GhosttyGridRef"), ffi.new("GhosttyRow*")
    point.tag, value, row_of = _SCREEN, point.value, lib.ghostty_grid_ref_row
    flags = []
    offset = get(terminal, "SCROLLBACK_ROWS", "size_t")
    for y in range(first + offset, last + offset + 1):
        value.y = y
        _grid_ref(terminal, point[0], ref)
        row_of(ref, row)
        flags.append(row[0])
    return flags


def column_cells(terminal: Terminal, x: int, rows: list[int]) -> list[int]:
    """Return the packed cells in column `x` of the given rows. Column -1 is the last one."""
    point, ref, out = ffi.new("GhosttyPointS*"), init_sized("GhosttyGridRef"), ffi.new("GhosttyCell*")
    point.tag, point.value.x = _SCREEN, x if x >= 0 else get(terminal, "COLS", "uint16_t") + x
    offset, cells = get(terminal, "SCROLLBACK_ROWS", "size_t"), []
    for y in rows:
        point.value.y = y + offset
        _grid_ref(terminal, point[0], ref)
        lib.ghostty_grid_ref_cell(ref, out)
        cells.append(out[0])
    return cells


def row_mask(name: str) -> int:
    """Return a flag's bit in a row's packed flags."""
    value, key = ffi.new("bool*"), getattr(lib, f"GHOSTTY_ROW_DATA_{name}")
    for bit in range(64):
        if lib.ghostty_row_get(1 << bit, key, value) == lib.GHOSTTY_SUCCESS and value[0]:
            return 1 << bit
    raise LookupError(name)


def cell(packed: int, name: str, ctype: str) -> Any:
    out = ffi.new(f"{ctype}*")
    check(lib.ghostty_cell_get(packed, getattr(lib, f"GHOSTTY_CELL_DATA_{name}"), out), name)
    return out[0]


def row_cells(ref: Any, cols: int) -> list[int]:
    """Return the packed cells of the row that contains `ref`."""
    out, cell_of, cells = ffi.new("GhosttyCell*"), lib.ghostty_grid_ref_cell, []
    for x in range(cols):
        ref.x = x
        cell_of(ref, out)
        cells.append(out[0])
    return cells


def screen_cells(terminal: Terminal) -> list[list[int]]:
    """Return the packed cells of all rows on the screen. Much faster than calling `row_cells` for each row."""
    state, rows = ffi.new("GhosttyRenderState*"), ffi.new("GhosttyRenderStateRowIterator*")
    check(lib.ghostty_render_state_new(ffi.NULL, state), "new render state")
    try:
        check(lib.ghostty_render_state_update(state[0], terminal), "render")
        check(lib.ghostty_render_state_row_iterator_new(ffi.NULL, rows), "new row iterator")
        try:
            check(lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, rows), "rows")
            cells, read = ffi.new("GhosttyCellsView*"), []
            while lib.ghostty_render_state_row_iterator_next(rows[0]):
                raw = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW
                check(lib.ghostty_render_state_row_get(rows[0], raw, cells), "cells")
                read.append(ffi.unpack(cells.ptr, cells.len))
            return read
        finally:
            lib.ghostty_render_state_row_iterator_free(rows[0])
    finally:
        lib.ghostty_render_state_free(state[0])


def page_of(ref: Any) -> int:
    """Return the number of the libghostty page that contains a cell. Style numbers are unique only within a page."""
    return int(ffi.cast("uintptr_t", ref.node))


def style_at(ref: Any) -> Any:
    """Return a cell's style as a GhosttyStyle."""
    style = init_sized("GhosttyStyle")
    check(lib.ghostty_grid_ref_style(ref, style), "style")
    return style


def characters_at(ref: Any) -> str:
    """Return a cell's text: a character with its combining characters."""
    out, size = ffi.new("uint32_t[64]"), ffi.new("size_t*")
    result = lib.ghostty_grid_ref_graphemes(ref, out, 64, size)
    if result == lib.GHOSTTY_OUT_OF_SPACE:
        out = ffi.new("uint32_t[]", size[0])
        result = lib.ghostty_grid_ref_graphemes(ref, out, size[0], size)
    check(result, "graphemes")
    return "".join(map(chr, ffi.unpack(out, size[0])))


def link_at(ref: Any) -> bytes:
    """Return the URI of a cell's hyperlink."""
    size = ffi.new("size_t*")
    lib.ghostty_grid_ref_hyperlink_uri(ref, ffi.NULL, 0, size)
    out = ffi.new("uint8_t[]", max(1, size[0]))
    check(lib.ghostty_grid_ref_hyperlink_uri(ref, out, len(out), size), "hyperlink")
    return bytes(ffi.buffer(out, size[0]))


# ---- the whole terminal


def format_vt(
    terminal: Terminal,
    extra: tuple[str, ...] = (),
    *,
    rows: tuple[int, int] | None = None,
    at_cell: tuple[int, int] | None = None,
) -> bytes:
    """Return the formatter's VT bytes for rows (first, last), ignoring soft wraps, or for a single cell (x, y)."""
    options = init_sized("GhosttyFormatterTerminalOptions")
    options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
    options.unwrap = True
    first = last = at_cell or (0, 0)
    if rows is not None:
        first, last = (0, rows[0]), (get(terminal, "COLS", "uint16_t") - 1, rows[1])
    selection = init_sized("GhosttySelection")
    selection.start, selection.end = at(terminal, *first)[0], at(terminal, *last)[0]
    options.selection = selection
    for name in extra:
        setattr(options.extra if name in _TERMINAL_EXTRA else options.extra.screen, name, True)
    formatter = ffi.new("GhosttyFormatter*")
    check(lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, terminal, options[0]), "new formatter")
    try:
        with _allocated() as (out, size):
            check(lib.ghostty_formatter_format_alloc(formatter[0], ffi.NULL, out, size), "format")
            return bytes(ffi.buffer(out[0], size[0])) if size[0] else b""
    finally:
        lib.ghostty_formatter_free(formatter[0])


def extra(terminal: Terminal, names: tuple[str, ...]) -> bytes:
    """Return the formatter's VT bytes for parts of the terminal's state, without the cell that the formatter adds."""
    first = format_vt(terminal, at_cell=(0, 0))
    outputs = (format_vt(terminal, (name,), at_cell=(0, 0)) for name in names)
    return b"".join(
        part.removeprefix(first) if part.startswith(first) else part.removesuffix(first) for part in outputs
    )


def cursor_look(terminal: Terminal) -> tuple[int, bool]:
    """Return the cursor's GhosttyRenderStateCursorVisualStyle, and whether the cursor blinks."""
    state, style, blinks = ffi.new("GhosttyRenderState*"), ffi.new("int*"), ffi.new("bool*")
    check(lib.ghostty_render_state_new(ffi.NULL, state), "new render state")
    try:
        check(lib.ghostty_render_state_update(state[0], terminal), "render")
        lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_CURSOR_VISUAL_STYLE, style)
        lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_CURSOR_BLINKING, blinks)
    finally:
        lib.ghostty_render_state_free(state[0])
    return style[0], blinks[0]


@contextmanager
def cloned(terminal: Terminal, *, scrollback: int) -> Iterator[tuple[Terminal, dict[int, EncodedScreen]]]:
    """Yield a copy of the terminal, along with the cursors of its screens.

    The copy has no unfinished sequence. If `scrollback` is 0, it has no scrollback.

    Raises `GhosttyError` if libghostty cannot encode the state.
    """
    decoder, clone = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
    with _allocated() as (out, size):
        _encode(terminal, out, size)
        screens = encoded_screens(memoryview(ffi.buffer(out[0], size[0])))
        check(lib.ghostty_snapshot_decoder_new_buf(ffi.NULL, decoder, out[0], size[0]), "new decoder")
        try:
            if scrollback:
                check(lib.ghostty_snapshot_decoder_decode(decoder[0], clone), "decode")
            else:
                check(lib.ghostty_snapshot_decoder_ready(decoder[0], clone), "decode")
        finally:
            lib.ghostty_snapshot_decoder_free(decoder[0])
    try:
        feed(clone[0], CANCEL)
        yield clone[0], screens
    finally:
        lib.ghostty_terminal_free(clone[0])


def _encode(terminal: Terminal, out: Any, size: Any) -> None:
    """Encode `terminal` into memory, which the caller must free.

    libghostty can't encode some sequences that its parser accepts (APC, PM and SOS strings with bytes of 0x80 and
    above). Such a sequence is cancelled before encoding and then fed back in.
    """
    result = lib.ghostty_snapshot_encode_alloc(terminal, ffi.NULL, out, size)
    pending = unfinished(terminal) if result != lib.GHOSTTY_SUCCESS else None
    if pending:
        feed(terminal, CANCEL)
        try:
            result = lib.ghostty_snapshot_encode_alloc(terminal, ffi.NULL, out, size)
        finally:
            feed(terminal, pending)
    check(result, "encode")


@contextmanager
def _allocated() -> Iterator[tuple[Any, Any]]:
    """Yield the output pointers for a call that allocates memory: one to the bytes and one to their number."""
    out, size = ffi.new("uint8_t**"), ffi.new("size_t*")
    try:
        yield out, size
    finally:
        if out[0] != ffi.NULL:
            lib.ghostty_free(ffi.NULL, out[0], size[0])
