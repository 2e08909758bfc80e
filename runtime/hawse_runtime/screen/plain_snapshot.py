"""Snapshots without an emulator: the last lines of output as plain text.

A plain snapshot is used if a screen can't be painted, because a snapshot must never fail.
"""

import re

BYTES = 256 << 10  # number of output bytes to read
_SEQUENCE = re.compile(
    rb"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"  # control strings, such as titles and images
    rb"|\x1b\[[0-?]*[ -/]*(?:[@-~]|\Z)"
    rb"|\x1b[ -/]*(?:[0-~]|\Z)"
    rb"|\xc2[\x80-\x9f]"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


def plain_lines(output: bytes, count: int) -> list[bytes]:
    """Return the last lines of `output`, without control characters or sequences.

    Args:
        output: The end of a terminal's output.
        count: The maximum number of lines.
    """
    lines = _SEQUENCE.sub(b"", output[-BYTES:]).split(b"\n")[-count:]
    return [line.rstrip(b"\r").rpartition(b"\r")[2] for line in lines]  # keep the text after the last CR


def plain_snapshot(output: bytes, rows: int) -> bytes:
    """Return bytes that display the last `rows` lines of `output` on a freshly reset terminal."""
    return b"\r\n".join(plain_lines(output, rows))
