"""Finds operating system commands (OSC, ECMA-48 8.3.89) in output that arrives in chunks of any size.

If a chunk contains no command, the only cost is one search for ESC ].
"""

import re
from typing import NamedTuple

LIMIT = 8 << 10  # maximum size of a payload, in bytes; longer commands (images, clipboard contents) are ignored

_INTRODUCER = b"\x1b]"
# BEL and ST (ESC \) terminate a command. CAN, SUB and any other ESC cancel it (DEC STD 070).
_END = re.compile(rb"[\x07\x18\x1a\x1b]")


class Osc(NamedTuple):
    """A command. `start` is the absolute offset of its ESC, `end` the offset just after its terminator."""

    start: int
    end: int
    payload: bytes


class OscScanner:
    """An incremental scanner. Pass it all output with `feed`. `offset` is the offset of the next byte."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset
        self._carry = b""  # the unfinished command: the introducer and up to LIMIT bytes
        self._overlong = False  # whether the scanner is inside a command too long to keep

    @property
    def held(self) -> int:
        """The number of bytes buffered until the next `feed`."""
        return len(self._carry)

    def feed(self, data: bytes) -> list[Osc]:
        """Return the commands that end within `data`, in order."""
        base = self.offset - len(self._carry)
        self.offset += len(data)
        if self._carry:
            data, self._carry = self._carry + data, b""
        at = self._skip(data) if self._overlong else _find(data)
        found: list[Osc] = []
        while at >= 0:
            end = _END.search(data, at + 2)
            stop = end.start() if end else len(data)
            if stop - at - 2 > LIMIT:
                self._overlong = end is None
            elif end is None or (data[stop] == 0x1B and stop + 1 == len(data)):
                self._carry = data[at:]
                return found
            elif (after := _terminated(data, stop)) is not None:
                found.append(Osc(base + at, base + after, data[at + 2 : stop]))
            at = data.find(_INTRODUCER, stop)
        if data.endswith(b"\x1b"):
            self._carry = b"\x1b"
        return found

    def _skip(self, data: bytes) -> int:
        """Skip the rest of an overlong command. Return the index of the next command, or -1 if `data` contains none."""
        end = _END.search(data)
        if end is None:
            return -1
        self._overlong = False
        return data.find(_INTRODUCER, end.start())


def _find(data: bytes) -> int:
    """Return the index of the first introducer, or -1. Looking for single bytes first is 20 times faster."""
    return data.find(_INTRODUCER) if b"\x1b" in data and b"]" in data else -1


def _terminated(data: bytes, stop: int) -> int | None:
    """Return the index just after a terminator at `stop`, or None if the byte at `stop` cancels the command."""
    if data[stop] == 0x07:
        return stop + 1
    return stop + 2 if data[stop : stop + 2] == b"\x1b\\" else None
