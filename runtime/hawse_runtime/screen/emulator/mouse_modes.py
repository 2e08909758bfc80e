"""Determines a terminal's mouse modes: which events it reports, and how they are encoded.

Only the most recently set mode applies. libghostty stores it, but exposes only the set of active modes. The mode is
therefore derived from the encoder's output for test events.
"""

from typing import Any

from hawse_runtime.screen.emulator.ghostty import Terminal
from hawse_runtime.screen.emulator.libghostty import check, ffi, init_sized, lib

PIXEL = 25  # a position inside a cell of CELL by CELL pixels
CELL = 10


def mouse_modes(terminal: Terminal) -> bytes:
    """Return the sequences that select the active protocol and encoding on a freshly reset terminal."""
    encoder, event = ffi.new("GhosttyMouseEncoder*"), ffi.new("GhosttyMouseEvent*")
    check(lib.ghostty_mouse_encoder_new(ffi.NULL, encoder), "new mouse encoder")
    try:
        check(lib.ghostty_mouse_event_new(ffi.NULL, event), "new mouse event")
        try:
            lib.ghostty_mouse_encoder_setopt_from_terminal(encoder[0], terminal)
            _set_cells(encoder[0])
            return _modes(encoder[0], event[0])
        finally:
            lib.ghostty_mouse_event_free(event[0])
    finally:
        lib.ghostty_mouse_encoder_free(encoder[0])


def _modes(encoder: Any, event: Any) -> bytes:
    press, release, motion = (getattr(lib, f"GHOSTTY_MOUSE_ACTION_{name}") for name in ("PRESS", "RELEASE", "MOTION"))
    left = lib.GHOSTTY_MOUSE_BUTTON_LEFT
    if not _encode(encoder, event, press, left):
        protocol = b""
    elif not _encode(encoder, event, release, left):
        protocol = b"\x1b[?9h"
    elif not _encode(encoder, event, motion, left):
        protocol = b"\x1b[?1000h"
    else:
        protocol = b"\x1b[?1003h" if _encode(encoder, event, motion, None) else b"\x1b[?1002h"
    tracking = ffi.new("int*", lib.GHOSTTY_MOUSE_TRACKING_NORMAL)  # the encoding doesn't depend on the protocol
    lib.ghostty_mouse_encoder_setopt(encoder, lib.GHOSTTY_MOUSE_ENCODER_OPT_EVENT, tracking)
    pressed = _encode(encoder, event, press, left)
    if pressed.startswith(b"\x1b[<"):
        return protocol + (b"\x1b[?1016h" if b";%d;" % PIXEL in pressed else b"\x1b[?1006h")
    return protocol if pressed.startswith(b"\x1b[M") else protocol + b"\x1b[?1015h"


def _encode(encoder: Any, event: Any, action: int, button: int | None) -> bytes:
    lib.ghostty_mouse_encoder_reset(encoder)
    lib.ghostty_mouse_event_set_action(event, action)
    if button is None:
        lib.ghostty_mouse_event_clear_button(event)
    else:
        lib.ghostty_mouse_event_set_button(event, button)
    position = ffi.new("GhosttyMousePosition*", {"x": PIXEL, "y": PIXEL})
    lib.ghostty_mouse_event_set_position(event, position[0])
    out, size = ffi.new("char[64]"), ffi.new("size_t*")
    check(lib.ghostty_mouse_encoder_encode(encoder, event, out, len(out), size), "encode mouse event")
    return bytes(ffi.buffer(out, size[0]))


def _set_cells(encoder: Any) -> None:
    size = init_sized("GhosttyMouseEncoderSize")
    size.screen_width = size.screen_height = CELL * 10
    size.cell_width = size.cell_height = CELL
    lib.ghostty_mouse_encoder_setopt(encoder, lib.GHOSTTY_MOUSE_ENCODER_OPT_SIZE, size)
