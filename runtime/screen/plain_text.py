"""Plain text that a screen need not read: what it would only scroll out of its reach.

Lines by the million that a program prints are the dearest that an emulator can be fed, and all but the last few
thousand leave no trace. Which bytes are so plain that this is true is the whole of what this module knows.
"""

SHORTEST = 128 << 10  # bytes: less is fed sooner than looked at
PLAIN = bytes(range(0x20, 0x7F)) + b"\a\t\n\r"  # no control function, and no state but the cursor's (ECMA-48)


def is_plain(data: bytes) -> bool:
    return b"\x1b" not in data and not data.translate(None, PLAIN)  # to look for one byte costs next to nothing


def skippable(data: bytes, lines: int) -> int:
    """How much of the beginning of plain `data` is gone when it has been read, if a screen keeps `lines` lines.

    What is left begins with CR LF, so that it does not matter in which column the cursor is; 0 if all of it counts.
    """
    size, seen, counted = 2 * lines, len(data), 0  # bytes that may hold so many lines
    while size < len(data):
        at = data.find(b"\r\n", len(data) - size, seen)
        if at >= 0:
            counted += data.count(b"\n", at, seen)
            seen = at
            if counted > lines:
                return at
        size *= 2
    return 0
