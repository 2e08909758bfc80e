"""A screen as text, ANSI or HTML, with its cursor and modes, for clients without an emulator. libghostty formats it."""

import re
from typing import Any

import msgspec
from pyghostty import Terminal as Emulator
from pyghostty._ffi import check, ffi, lib
from pyghostty.core import init_sized

from hawse.api.automation import ScreenFormat

CONTENT_LIMIT = 768 << 10  # bytes as JSON: a result has to fit into a control message

_EMIT = {
    "text": lib.GHOSTTY_FORMATTER_FORMAT_PLAIN,
    "ansi": lib.GHOSTTY_FORMATTER_FORMAT_VT,
    "html": lib.GHOSTTY_FORMATTER_FORMAT_HTML,
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
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK_HOLLOW: "block",  # the default, see runtime.screen
}
# The program chooses the target of a link. Targets that are unsafe in a page (javascript:, data:) are removed.
_UNSAFE_LINK = re.compile(r'<a href="(?!(?i:https?|ftp|mailto|file):)[^"]*">')


def view(emulator: Emulator, form: ScreenFormat, scrollback: int) -> dict[str, Any]:
    """Return the screen, and at most `scrollback` rows of scrollback above it, in the form of `terminal.screen`."""
    cols, rows = emulator.size
    above = min(scrollback, emulator.get("scrollback_rows", "size_t"))
    content, count = _content(emulator, form, rows + above)
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


def _content(emulator: Emulator, form: ScreenFormat, count: int) -> tuple[str, int]:
    """Return the last `count` rows and their number. While they exceed the limit, their number is halved."""
    while count:
        content = _format(emulator, form, count)
        if len(msgspec.json.encode(content)) <= CONTENT_LIMIT:
            return content, count
        count //= 2
    return "", 0


def _format(emulator: Emulator, form: ScreenFormat, count: int) -> str:
    cols, _ = emulator.size
    total = emulator.get("total_rows", "size_t")
    selection = init_sized("GhosttySelection")
    selection.start = emulator.ref(0, total - count, "screen")[0]
    selection.end = emulator.ref(cols - 1, total - 1, "screen")[0]
    options = init_sized("GhosttyFormatterTerminalOptions")
    options.emit, options.trim, options.selection = _EMIT[form], True, selection
    formatter, out, size = ffi.new("GhosttyFormatter*"), ffi.new("uint8_t**"), ffi.new("size_t*")
    check(lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, emulator._t[0], options[0]), "new formatter")
    try:
        check(lib.ghostty_formatter_format_alloc(formatter[0], ffi.NULL, out, size), "format")
        text = bytes(ffi.buffer(out[0], size[0])).decode(errors="replace") if size[0] else ""
    finally:
        lib.ghostty_formatter_free(formatter[0])
        if out[0] != ffi.NULL:
            lib.ghostty_free(ffi.NULL, out[0], size[0])
    if form == "text":
        return text + "\n" * (count - 1 - text.count("\n"))  # one line for each row, blank rows included
    return _UNSAFE_LINK.sub("<a>", text) if form == "html" else text


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
        check(lib.ghostty_render_state_update(state[0], emulator._t[0]), "render")
        check(
            lib.ghostty_render_state_get(state[0], lib.GHOSTTY_RENDER_STATE_DATA_CURSOR_VISUAL_STYLE, style),
            "cursor style",
        )
        return _SHAPES.get(style[0])
    finally:
        lib.ghostty_render_state_free(state[0])
