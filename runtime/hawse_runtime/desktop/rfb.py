"""Encodes the RFB messages sent by this package (RFC 6143, with extensions from https://github.com/rfbproto/rfbproto).

This module does no I/O.
"""

import struct
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

VERSION: Final = b"RFB 003.008\n"
NO_SECURITY: Final = 1

# Encodings and pseudo-encodings
RAW: Final = 0
DESKTOP_SIZE: Final = -223
EXTENDED_DESKTOP_SIZE: Final = -308
EXTENDED_CLIPBOARD: Final = 0xC0A1E5CE - (1 << 32)

# Server messages
FRAMEBUFFER_UPDATE: Final = 0
BELL: Final = 2
SERVER_CUT_TEXT: Final = 3

# Extended clipboard flags
TEXT: Final = 1 << 0
CAPS: Final = 1 << 24
REQUEST: Final = 1 << 25
PEEK: Final = 1 << 26
NOTIFY: Final = 1 << 27
PROVIDE: Final = 1 << 28

CLIPBOARD_MAX: Final = 256 << 10  # maximum size of the clipboard's text, in bytes; the same as in TigerVNC
CUT_TEXT_MAX: Final = 1 << 20  # maximum size of a cut-text message, in bytes
PIXELS_MAX: Final = 3840 * 2160  # maximum number of pixels on a desktop


class ScreenSize(NamedTuple):
    width: int  # in pixels
    height: int


class Rect(NamedTuple):
    """A rectangle on a screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    def within(self, size: ScreenSize) -> "Rect | None":
        """Return the part of the rectangle that is on a screen of the given size, or None if there is none."""
        width, height = min(self.width, size.width - self.x), min(self.height, size.height - self.y)
        return Rect(self.x, self.y, width, height) if width > 0 and height > 0 else None

    def contains(self, other: "Rect") -> bool:
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.x + other.width <= self.x + self.width
            and other.y + other.height <= self.y + self.height
        )


def set_pixel_format() -> bytes:
    """Encode a request for four bytes per pixel: red, green, blue and an unused byte."""
    return struct.pack(">B3xBBBBHHHBBB3x", 0, 32, 24, 0, 1, 255, 255, 255, 0, 8, 16)


def set_encodings(encodings: Iterable[int]) -> bytes:
    listed = list(encodings)
    return struct.pack(f">BxH{len(listed)}i", 2, len(listed), *listed)


def update_request(rect: Rect, *, incremental: bool) -> bytes:
    return struct.pack(">BB4H", 3, incremental, *rect)


def key_event(keysym: int, *, down: bool) -> bytes:
    return struct.pack(">BBxxI", 4, down, keysym)


def pointer_event(x: int, y: int, buttons: int) -> bytes:
    """Encode a pointer event. `buttons` is a mask of the pressed buttons; 8, 16, 32 and 64 are the wheel (8 is up)."""
    return struct.pack(">BBHH", 5, buttons, x, y)


def set_desktop_size(size: ScreenSize) -> bytes:
    return struct.pack(">BxHHBxIHHHHI", 251, *size, 1, 0, 0, 0, *size, 0)


def clipboard_message(flags: int, data: bytes = b"") -> bytes:
    """Encode an extended clipboard message: a cut-text message with a negative length."""
    return struct.pack(">B3xiI", 6, -(4 + len(data)), flags) + data


def clipboard_caps() -> bytes:
    """Encode the clipboard capabilities. They tell the server to send clipboard text only on request."""
    return clipboard_message(CAPS | REQUEST | PEEK | NOTIFY | PROVIDE | TEXT, bytes(4))


def provide_text(text: str) -> bytes:
    """Encode the clipboard's contents, with CR LF as line endings."""
    data = text.replace("\r\n", "\n").replace("\n", "\r\n").encode(errors="replace") + b"\0"
    return clipboard_message(PROVIDE | TEXT, zlib.compress(struct.pack(">I", len(data)) + data))


def provided_text(data: bytes) -> str:
    """Decode the clipboard's text from the part of a message after the flags. Raises `ValueError` if it is invalid."""
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(data, 4 + CLIPBOARD_MAX)
    except zlib.error as error:
        raise ValueError(f"the clipboard's compressed data is invalid: {error}") from None
    if len(plain) < 4 or (size := int.from_bytes(plain[:4], "big")) > len(plain) - 4:
        raise ValueError("the clipboard's text is incomplete or too long")
    text = plain[4 : 4 + size].decode(errors="replace")
    return text.removesuffix("\0").replace("\r\n", "\n")
