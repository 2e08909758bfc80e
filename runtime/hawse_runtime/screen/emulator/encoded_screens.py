"""Reads both screens' cursors from libghostty's encoding of a terminal (`src/terminal/snapshot/screen.zig`).

libghostty's C interface exposes neither the hidden screen's cursor nor whether a cursor was saved.
"""

import struct
from typing import NamedTuple

PRIMARY, ALTERNATE = 0, 1
_ENVELOPE = 10  # number of bytes before the first record
_RECORD = struct.Struct("<HII")  # tag, payload length, checksum
_SCREEN = 2  # tag of a screen record
_HEADER = struct.Struct("<HHQHHBB34xB")  # key, pages, history, cursor x, y, style, flags, whether a cursor is saved
_SAVED = struct.Struct("<HH16xB")  # x, y, flags
_PENDING, _SAVED_PENDING = 1, 2  # flags for a pending wrap


class Place(NamedTuple):
    """A cursor position."""

    x: int
    y: int
    pending_wrap: bool


class EncodedScreen(NamedTuple):
    """A screen's cursors. `saved` is None if no cursor was saved (DECSC)."""

    cursor: Place
    saved: Place | None


def encoded_screens(data: bytes | memoryview) -> dict[int, EncodedScreen]:
    """Return the cursors of `PRIMARY` and, if it has ever been shown, of `ALTERNATE`. Raises `struct.error`."""
    screens: dict[int, EncodedScreen] = {}
    at = _ENVELOPE
    while at < len(data):
        tag, size, _ = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        if tag == _SCREEN:
            key, _, _, x, y, _, flags, has_saved = _HEADER.unpack_from(data, at)
            saved = None
            if has_saved:
                saved_x, saved_y, saved_flags = _SAVED.unpack_from(data, at + _HEADER.size)
                saved = Place(saved_x, saved_y, bool(saved_flags & _SAVED_PENDING))
            screens[key] = EncodedScreen(Place(x, y, bool(flags & _PENDING)), saved)
        at += size
    return screens
