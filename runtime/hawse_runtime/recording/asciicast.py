"""Encodes asciicast v3 (docs.asciinema.org/manual/asciicast/v3), a terminal session as lines of JSON. Does no I/O.

The first line is a header. Each other line is an event `[seconds since the previous event, code, data]`. The codes
are `o` for output, `i` for input, `r` for a new size, `m` for a marker and `x` for the exit status.
"""

import codecs
import signal as signals
from typing import Any

import msgspec

from hawse.api.types import Exit

MEDIA_TYPE = "application/x-asciicast"


def header(cols: int, rows: int, *, timestamp: float, term: str, title: str | None, env: dict[str, str]) -> bytes:
    """Encode the header line.

    Args:
        cols: The terminal's number of columns when the recording starts.
        rows: The terminal's number of rows when the recording starts.
        timestamp: When the recording starts, in seconds since 1970.
        term: The terminal's value of TERM.
        title: The recording's title, if any.
        env: Environment variables for players to show.
    """
    value: dict[str, Any] = {
        "version": 3,
        "term": {"cols": cols, "rows": rows, "type": term},
        "timestamp": int(timestamp),
    }
    if title:
        value["title"] = title
    return msgspec.json.encode(value | {"env": env}) + b"\n"


class CastText:
    """An incremental UTF-8 decoder. Invalid bytes become U+FFFD. Characters can be split across calls."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """Return all complete characters."""
        return self._decoder.decode(data)

    def end(self) -> str:
        """Finish decoding. Return U+FFFD if the last character is incomplete; otherwise, ""."""
        return self._decoder.decode(b"", True)


class CastClock:
    """Converts times to intervals in whole milliseconds, without accumulating rounding errors."""

    def __init__(self) -> None:
        self.elapsed = 0  # milliseconds from the start to the latest event: the sum of all intervals

    def interval(self, at: float) -> int:
        """Return the milliseconds since the previous event, never negative. `at` is in seconds since the start."""
        elapsed = max(self.elapsed, round(at * 1000))
        interval, self.elapsed = elapsed - self.elapsed, elapsed
        return interval


def event(interval: int, code: str, data: str) -> bytes:
    """Encode one event.

    Args:
        interval: The number of milliseconds since the previous event.
        code: The event's code: `o`, `i`, `r`, `m` or `x`.
        data: The event's text.
    """
    return b'[%d.%03d,"%b",%b]\n' % (interval // 1000, interval % 1000, code.encode(), msgspec.json.encode(data))


def exit_status(result: Exit) -> str:
    """Return the exit status as in a shell: the exit code, or 128 plus the signal number."""
    if result.code is not None:
        return str(result.code)
    try:
        return str(128 + signals.Signals[result.signal or ""].value)
    except KeyError:  # signals without names, such as real-time signals
        return "128"
