"""Reads the events of desktop recordings."""

import base64
import zlib

from hawse_runtime.desktop.rfb import Rect
from hawse_runtime.recording.rectangles import HEAD


def rectangles(line: str) -> list[tuple[Rect, bytes]]:
    """Return the rectangles of an event, with three bytes per pixel."""
    data = base64.b64decode(line)
    found = []
    while data:
        *rect, size = HEAD.unpack_from(data)
        found.append((Rect(*rect), zlib.decompress(data[HEAD.size : HEAD.size + size])))
        data = data[HEAD.size + size :]
    return found
