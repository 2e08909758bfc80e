"""Where a stream of terminal output can be cut: never within an escape sequence or a character.

A snapshot is only right at such a place, because an emulator's half-read sequence is no part of it.
ECMA-48 section 5 (control functions), xterm's ctlseqs (strings), RFC 3629 (UTF-8).
"""

import re

HOLD_LIMIT = 64 * 1024  # bytes; a longer unfinished sequence (an image) is let through as it is

# What may stand at the end of the output and still want more bytes, from its ESC on.
_UNFINISHED = re.compile(
    rb"""\x1b(?:
        \Z                                  # the ESC itself
      | [\x20-\x2f]+\Z                      # nF: charset designations
      | \[ [\x20-\x3f]* \Z                  # CSI parameters
      | [\]PX^_] [^\x07\x18\x1a\x1b]* \Z    # OSC, DCS, SOS, PM, APC without their end
    )""",
    re.VERBOSE | re.DOTALL,
)
_STRING = re.compile(rb"\x1b[\]PX^_][^\x07\x18\x1a\x1b]*\x1b\Z", re.DOTALL)


def safe_cut(data: bytes) -> int:
    """The length of the longest prefix of `data` that ends outside any sequence and character.

    `data` must begin outside of them. What follows the cut is the beginning of one, and at most HOLD_LIMIT long.
    """
    cut = len(data) - _unfinished_utf8(data)
    escape = data.rfind(b"\x1b", max(0, cut - HOLD_LIMIT))
    if escape < 0:
        return cut
    if escape == cut - 1:  # perhaps half of the terminator of a string
        before = data.rfind(b"\x1b", max(0, cut - HOLD_LIMIT), escape)
        if before >= 0 and _STRING.match(data, before):
            return before
    if _UNFINISHED.match(data, escape):
        return escape
    return cut


def _unfinished_utf8(data: bytes) -> int:
    """How many bytes at the end begin a character that is not complete."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed and byte < 0xF8 else 0
    return 0
