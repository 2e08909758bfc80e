"""Finds plain text that a screen does not have to read, because it would scroll out of the scrollback.

Millions of lines are the most expensive input of an emulator, and all but the last few thousand leave no trace. This
module decides which bytes are plain enough for that.
"""

SHORTEST = 128 << 10  # bytes: it takes less time to feed fewer bytes than to search them
PLAIN = (
    bytes(range(0x20, 0x7F)) + b"\a\t\n\r"
)  # no control functions; they change only the position of the cursor (ECMA-48)


def is_plain(data: bytes) -> bool:
    return b"\x1b" not in data and not data.translate(None, PLAIN)  # the search for one byte is cheap


def skippable(data: bytes, lines: int) -> int:
    """Return how many leading bytes of plain `data` leave no trace on a screen that keeps `lines` lines.

    The remaining bytes start with CR LF, so that the column of the cursor does not matter. 0: all bytes are needed.
    """
    size, seen, counted = 2 * lines, len(data), 0  # the bytes that can contain that many lines
    while size < len(data):
        at = data.find(b"\r\n", len(data) - size, seen)
        if at >= 0:
            counted += data.count(b"\n", at, seen)
            seen = at
            if counted > lines:
                return at
        size *= 2
    return 0
