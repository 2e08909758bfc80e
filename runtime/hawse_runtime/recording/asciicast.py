"""Encodes asciicast v3 (docs.asciinema.org/manual/asciicast/v3): a terminal session as lines of JSON. Does no I/O.

The first line is a header; each other line is an event `[seconds since the previous event, code, data]`. The codes are
`o` for output, `i` input, `r` a new size, `m` a marker, and `x` the exit status.
"""

import codecs
import signal as signals
from typing import Any

import msgspec

from hawse.api.types import Exit

MEDIA_TYPE = "application/x-asciicast"


def header(cols: int, rows: int, *, timestamp: float, term: str, title: str | None, env: dict[str, str]) -> bytes:
    """Encode the first line.

    Args:
        cols: The columns of the terminal at the start.
        rows: The rows of the terminal at the start.
        timestamp: The start, in seconds since 1970.
        term: The value of TERM.
        title: The title of the recording, if any.
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
    """Incremental UTF-8 decoder. Invalid bytes become U+FFFD; characters can be split between calls."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """Return all complete characters."""
        return self._decoder.decode(data)

    def end(self) -> str:
        """End the stream: return U+FFFD if its last character is incomplete, otherwise an empty string."""
        return self._decoder.decode(b"", True)


class CastClock:
    """Converts times to intervals in whole milliseconds. Rounding errors do not accumulate."""

    def __init__(self) -> None:
        self.elapsed = 0  # milliseconds: the time of the latest event, which is the sum of all intervals

    def interval(self, at: float) -> int:
        """Return the milliseconds from the previous event to `at` (seconds since the start); 0 if `at` is earlier."""
        elapsed = max(self.elapsed, round(at * 1000))
        interval, self.elapsed = elapsed - self.elapsed, elapsed
        return interval


def event(interval: int, code: str, data: str) -> bytes:
    """Encode one event.

    Args:
        interval: Milliseconds since the previous event.
        code: One of `o`, `i`, `r`, `m`, `x`.
        data: Its text.
    """
    return b'[%d.%03d,"%b",%b]\n' % (interval // 1000, interval % 1000, code.encode(), msgspec.json.encode(data))


def exit_status(result: Exit) -> str:
    """Return the exit status as a shell reports it: the exit code, or 128 + the number of the signal."""
    if result.code is not None:
        return str(result.code)
    try:
        return str(128 + signals.Signals[result.signal or ""].value)
    except KeyError:  # a signal without a name, such as a real-time signal
        return "128"
