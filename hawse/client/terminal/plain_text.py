"""The plain text of a line of terminal output, without escape sequences or control characters (ECMA-48)."""

import re

_NOISE = re.compile(
    rb"\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|[\]PX^_][^\x07\x18\x1a\x1b]*(?:[\x07\x18\x1a]|\x1b\\)?|[\x20-\x2f]*[\x30-\x7e]?)"
    rb"|[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]"
)


def plain(line: bytes) -> bytes:
    """Return `line` without escape sequences or control characters, except TAB and any CR within the line."""
    return _NOISE.sub(b"", line).lstrip(b"\r")
