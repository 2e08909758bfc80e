"""Desktop recording events: zlib-compressed rectangles of the screen, as text. This module does no I/O.

An event is a line of Base64 that contains rectangles. A rectangle starts with four 2-byte numbers: x, y, width and
height, in pixels. Then come a 4-byte number, which is the size of the zlib data, and the data itself: the pixels from
left to right and top to bottom, three bytes each (red, green, blue). Numbers are big-endian. Rectangles don't depend on
earlier ones.
"""

import base64
import struct
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

from hawse_runtime.desktop.rfb import Rect, ScreenSize

LEVEL: Final = 1  # zlib's level; low, because a recording uses the CPU all the time
BAND: Final = 256 << 10  # maximum number of pixel data bytes in a rectangle of several rows
EVENT: Final = 256 << 10  # an event is complete once its rectangles take up this many bytes
HEAD: Final = struct.Struct(">4HI")


class Patch(NamedTuple):
    """Part of the screen, with four bytes per pixel (red, green, blue, unused)."""

    rect: Rect
    pixels: bytes | bytearray | memoryview


def bands(size: ScreenSize, pixels: bytearray) -> list[Patch]:
    """Divide a whole screen into rectangles of at most `BAND` bytes."""
    stride = 4 * size.width
    rows = max(1, BAND // stride)
    view = memoryview(pixels)
    tops = range(0, size.height, rows)
    heights = [min(rows, size.height - top) for top in tops]
    return [
        Patch(Rect(0, top, size.width, height), view[top * stride : (top + height) * stride])
        for top, height in zip(tops, heights, strict=True)
    ]


def encode(patches: Iterable[Patch]) -> list[str]:
    """Encode rectangles as events. Takes several milliseconds per megabyte: call it in a thread."""
    events: list[str] = []
    parts: list[bytes] = []
    size = 0
    for rect, pixels in patches:
        rgb = bytearray(3 * rect.width * rect.height)
        for colour in range(3):
            rgb[colour::3] = pixels[colour::4]
        data = zlib.compress(rgb, LEVEL)
        parts += [HEAD.pack(*rect, len(data)), data]
        size += HEAD.size + len(data)
        if size >= EVENT:
            events.append(_line(parts))
            parts, size = [], 0
    if parts:
        events.append(_line(parts))
    return events


def _line(parts: list[bytes]) -> str:
    return base64.b64encode(b"".join(parts)).decode() + "\n"
