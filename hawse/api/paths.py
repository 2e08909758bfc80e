r"""Encodes paths as text: a byte that is not valid UTF-8 becomes NUL and two hexadecimal digits (decision 0033).

On Linux, a file name can contain any byte except `/` and NUL, while a JSON string is Unicode. The encoding is
unambiguous because a path cannot contain a NUL: valid UTF-8 stays as it is, and `caf\xe9` (Latin-1) becomes
`"caf\u0000e9"`. In Python, such a byte is a surrogate character, as returned by `os.fsdecode`.
"""

import re

_SURROGATE = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile("\0(?:([89a-f][0-9a-f])|)")


def to_text(path: str) -> str:
    """Encode `path`, which is a path as returned by `os.fsdecode`."""
    return path if path.isascii() else _SURROGATE.sub(lambda m: f"\0{ord(m[0]) - 0xDC00:02x}", path)


def from_text(text: str) -> str:
    """Decode `text` to a path for `os` functions.

    Raises:
        ValueError: A NUL is not followed by the two hexadecimal digits of a non-ASCII byte.
    """
    return _ESCAPE.sub(_byte, text) if "\0" in text else text


def _byte(match: re.Match[str]) -> str:
    if match[1] is None:
        raise ValueError("a path contains a NUL byte")
    return chr(0xDC00 + int(match[1], 16))
