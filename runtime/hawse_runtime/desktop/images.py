"""Encodes desktop images: PNG with zlib alone; JPEG and WebP with Pillow, if it is installed."""

import struct
import zlib
from io import BytesIO
from typing import Final

from hawse.api.desktops import ImageFormat
from hawse.wire import HawseError

LEVEL: Final = 3  # zlib's level; sufficient for screens, which have large areas of one colour
# Number of rows compressed at a time.
ROWS: Final = 64


def encode_image(pixels: bytearray, width: int, height: int, format: ImageFormat, quality: int) -> bytes:
    """Encode an image. Takes several milliseconds: call it in a thread.

    Args:
        pixels: Four bytes per pixel: red, green, blue, and an unused byte.
        width: The width in pixels.
        height: The height in pixels.
        format: The image format.
        quality: The quality for `jpeg` and `webp`, from 1 to 100.

    Raises:
        HawseError: `unavailable` for JPEG and WebP if Pillow is not installed.
    """
    if format == "png":
        return _png(pixels, width, height)
    try:
        from PIL import Image
    except ImportError:
        raise HawseError(
            "unavailable",
            f"{format} images require the Python package Pillow; use png, or run `pip install 'hawse[desktop]'`",
            admitted="yes",
        ) from None
    out = BytesIO()
    Image.frombuffer("RGB", (width, height), pixels, "raw", "RGBX", 0, 1).save(out, format, quality=quality)
    return out.getvalue()


def _png(pixels: bytearray, width: int, height: int) -> bytes:
    """Encode a PNG with three 8-bit channels (PNG specification, third edition)."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    compressor = zlib.compressobj(LEVEL)
    parts = []
    stride = 3 * width + 1  # each row starts with a filter type; 0 is no filter
    for top in range(0, height, ROWS):
        rows = min(ROWS, height - top)
        rgb = bytearray(3 * width * rows)
        part = pixels[4 * width * top : 4 * width * (top + rows)]
        for colour in range(3):
            rgb[colour::3] = part[colour::4]
        lines = bytearray(stride * rows)
        for row in range(rows):
            lines[row * stride + 1 : (row + 1) * stride] = rgb[row * 3 * width : (row + 1) * 3 * width]
        parts.append(compressor.compress(lines))
    parts.append(compressor.flush())
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", b"".join(parts)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
