"""A snapshot that is made without an emulator: the last lines of the output as plain text.

It takes the place of a screen that cannot be painted, because a snapshot never fails.
"""

import re

BYTES = 256 << 10  # of output that are read
_SEQUENCE = re.compile(
    rb"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z)"  # strings: titles, images
    rb"|\x1b\[[0-?]*[ -/]*(?:[@-~]|\Z)"
    rb"|\x1b[ -/]*(?:[0-~]|\Z)"
    rb"|\xc2[\x80-\x9f]"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


def plain_lines(output: bytes, count: int) -> list[bytes]:
    """Return the last lines of `output` without control characters and sequences.

    Args:
        output: The end of a terminal's output.
        count: The number of lines at most.
    """
    lines = _SEQUENCE.sub(b"", output[-BYTES:]).split(b"\n")[-count:]
    return [line.rstrip(b"\r").rpartition(b"\r")[2] for line in lines]  # what was printed last over a line


def plain_snapshot(output: bytes, rows: int) -> bytes:
    """Return bytes that print the last `rows` lines of `output` on a reset terminal."""
    return b"\r\n".join(plain_lines(output, rows))
