"""Formats a screen as text, ANSI or HTML, along with its cursor and modes, for clients without an emulator."""

import re
from collections.abc import Generator
from typing import Any

import msgspec

from hawse.api.terminals import ScreenFormat
from hawse_runtime.screen.emulator.ghostty import handle
from hawse_runtime.screen.emulator.libghostty import Emulator, check, ffi, init_sized, lib

CONTENT_LIMIT = 768 << 10  # maximum size of the JSON, in bytes; a result must fit into a control message
STEP = 32_000  # number of cells formatted per step, which takes 1 to 5 ms

_EMIT = {
    "text": lib.GHOSTTY_FORMATTER_FORMAT_PLAIN,
    "ansi": lib.GHOSTTY_FORMATTER_FORMAT_VT,
    "html": lib.GHOSTTY_FORMATTER_FORMAT_HTML,
}
_NEWLINE = {"text": "\n", "ansi": "\r\n", "html": "\n"}
_AROUND = {  # markup that libghostty puts around all rows
    "text": ("", ""),
    "ansi": ("", ""),
    "html": ('<div style="font-family: monospace; white-space: pre;">', "</div>"),
}
_MODES = {  # DEC private modes (xterm's ctlseqs)
    "application_cursor": 1,
    "reverse": 5,
    "origin": 6,
    "autowrap": 7,
    "application_keypad": 66,
    "focus": 1004,
    "bracketed_paste": 2004,
    "synchronized": 2026,
}
_MOUSE = {1003: "any", 1002: "drag", 1000: "press", 9: "x10"}
_MOUSE_FORMATS = {1016: "sgr_pixels", 1006: "sgr", 1015: "urxvt", 1005: "utf8"}
_SHAPES = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: "bar",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK: "block",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: "underline",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK_HOLLOW: "block",  # the default shape
}
# Link targets are chosen by programs. Unsafe ones (javascript:, data:) are removed.
_UNSAFE_LINK = re.compile(r'<a href="(?!(?i:https?|ftp|mailto|file):)[^"]*">')


def view(emulator: Emulator, form: ScreenFormat, scrollback: int) -> Generator[None, None, dict[str, Any]]:
    """Return the screen and at most `scrollback` rows above it, in the format of `terminal.screen`.

    Yields every few milliseconds. The emulator must not change until the generator has finished.
    """
    cols, rows = emulator.size
    above = min(scrollback, emulator.get("scrollback_rows", "size_t"))
    content, count = yield from _content(emulator, form, rows + above)
    x, y = emulator.cursor
    return {
        "format": form,
        "content": content,
        "truncated": count < rows + above,
        "scrollback": max(count - rows, 0),
        "cols": cols,
        "rows": rows,
        "cursor": {"x": x, "y": y, "visible": bool(emulator.get("cursor_visible", "bool")), "shape": _shape(emulator)},
        "alternate": emulator.get("active_screen", "int") == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE,
        "modes": _modes(emulator),
    }


def _content(emulator: Emulator, form: ScreenFormat, count: int) -> Generator[None, None, tuple[str, int]]:
    """Return the last `count` rows, or fewer to stay within `CONTENT_LIMIT`, and the number of rows returned."""
    newline, (opening, closing) = _NEWLINE[form], _AROUND[form]
    end = emulator.get("total_rows", "size_t")
    first = end - count
    pieces: list[str] = []  # the pieces of text, last rows first
    left = CONTENT_LIMIT - len(msgspec.json.encode(opening + closing))
    step = max(1, STEP // emulator.size[0])
    while end > first:
        step = min(step, end - first)
        piece = _rows(emulator, form, end - step, end)
        size = len(msgspec.json.encode(newline + piece)) - 2  # not counting the JSON string's quotes
        if size <= left:
            left -= size
            end -= step
            pieces.append(piece)
        elif step == 1:
            break
        else:
            step //= 2
        yield
    taken = count - (end - first)
    content = newline.join(reversed(pieces))
    if form != "text":
        content = content.rstrip(newline)
    return (opening + content + closing if taken else ""), taken


def _rows(emulator: Emulator, form: ScreenFormat, start: int, end: int) -> str:
    """Return the rows from `start` to `end` (exclusive), separated by newlines."""
    text = _format(emulator, form, start, end)
    opening, closing = _AROUND[form]
    text = text.removeprefix(opening).removesuffix(closing)
    if form == "html":
        text = _UNSAFE_LINK.sub("<a>", text)
    return text + _NEWLINE[form] * (end - start - 1 - text.count("\n"))  # libghostty omits trailing blank rows


def _format(emulator: Emulator, form: ScreenFormat, start: int, end: int) -> str:
    cols, _ = emulator.size
    selection = init_sized("GhosttySelection")
    selection.start = emulator.ref(0, start, "screen")[0]
    selection.end = emulator.ref(cols - 1, end - 1, "screen")[0]
    options = init_sized("GhosttyFormatterTerminalOptions")
    options.emit, options.trim, options.selection = _EMIT[form], True, selection
    formatter, out, size = ffi.new("GhosttyFormatter*"), ffi.new("uint8_t**"), ffi.new("size_t*")
    check(lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, handle(emulator), options[0]), "new formatter")
    try:
        check(lib.ghostty_formatter_format_alloc(formatter[0], ffi.NULL, out, size), "format")
        return bytes(ffi.buffer(out[0], size[0])).decode(errors="replace") if size[0] else ""
    finally:
        lib.ghostty_formatter_free(formatter[0])
        if out[0] != ffi.NULL:
            lib.ghostty_free(ffi.NULL, out[0], size[0])


def _modes(emulator: Emulator) -> dict[str, Any]:
    return {
        **{name: emulator.mode(number) for name, number in _MODES.items()},
        "insert": emulator.mode(4, ansi=True),
        "mouse": next((name for number, name in _MOUSE.items() if emulator.mode(number)), None),
        "mouse_format": next((name for number, name in _MOUSE_FORMATS.items() if emulator.mode(number)), "x10"),
        "kitty_keyboard": emulator.get("kitty_keyboard_flags", "uint8_t"),
    }


def _shape(emulator: Emulator) -> str | None:
    state, style = ffi.new("GhosttyRenderState*"), ffi.new("GhosttyRenderStateCursorVisualStyle*")
    check(lib.ghostty_render_state_new(ffi.NULL, state), "new render state")
    try:
        check(lib.ghostty_render_state_update(state[0], handle(emulator)), "render")
        check(
            lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_CURSOR_VISUAL_STYLE, style),
            "cursor style",
        )
        return _SHAPES.get(style[0])
    finally:
        lib.ghostty_render_state_free(state[0])
