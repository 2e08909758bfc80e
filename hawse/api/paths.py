r"""How a path travels: as text, in which a byte that is no UTF-8 stands as NUL and two hex digits (decision 0033).

A name on Linux is any bytes but `/` and NUL, and JSON is Unicode. What is text travels as it is, since no path holds
a NUL: `caf\xe9` (Latin-1) is `"caf\u0000e9"`. In Python such a byte is a surrogate, as `os.fsdecode` makes them.
"""

import re

_SURROGATE = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile("\0(?:([89a-f][0-9a-f])|)")


def to_text(path: str) -> str:
    """A path as it travels. `path`: as `os.fsdecode` makes it."""
    return path if path.isascii() else _SURROGATE.sub(lambda m: f"\0{ord(m[0]) - 0xDC00:02x}", path)


def from_text(text: str) -> str:
    """The path that travelled as `text`, for Python's `os`. Raises `ValueError` at a NUL that escapes nothing."""
    return _ESCAPE.sub(_byte, text) if "\0" in text else text


def _byte(match: re.Match[str]) -> str:
    if match[1] is None:
        raise ValueError("a NUL byte in a path")
    return chr(0xDC00 + int(match[1], 16))
