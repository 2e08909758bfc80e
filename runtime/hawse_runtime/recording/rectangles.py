"""The events of a desktop recording: zlib-compressed rectangles of its screen, as text. Does no I/O.

An event is a line of Base64. It contains rectangles, each as four numbers of two bytes (x, y, width, height in
pixels), a number of four bytes, and that many bytes of zlib: the pixels from left to right and from top to bottom,
three bytes each (red, green, blue). Numbers are big-endian. Each rectangle is independent of earlier ones.
"""

import base64
import struct
import zlib
from collections.abc import Iterable
from typing import Final, NamedTuple

from hawse_runtime.desktop.rfb import Rect, ScreenSize

LEVEL: Final = 1  # of zlib: low, because a recording uses the processor continuously
BAND: Final = 256 << 10  # maximum bytes of pixels in a rectangle of more than one row
EVENT: Final = 256 << 10  # bytes of rectangles that complete an event
HEAD: Final = struct.Struct(">4HI")


class Patch(NamedTuple):
    """A part of the screen: four bytes for each pixel (red, green, blue, unused)."""

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
    """Encode rectangles as events. Takes milliseconds for each megabyte, so call it in a thread."""
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
