"""asciicast v3 (docs.asciinema.org/manual/asciicast/v3): what happened in a terminal as lines of JSON. No I/O.

The first line is a header, every other an event `[seconds since the one before, code, data]`. Codes: `o` output,
`i` input, `r` a new size, `m` a marker, `x` the exit status.
"""

import codecs
import signal as signals
from typing import Any

import msgspec

from hawse.api.types import Exit

MEDIA_TYPE = "application/x-asciicast"


def header(cols: int, rows: int, *, timestamp: float, term: str, title: str | None, env: dict[str, str]) -> bytes:
    """The first line. `timestamp` in seconds since 1970."""
    value: dict[str, Any] = {
        "version": 3,
        "term": {"cols": cols, "rows": rows, "type": term},
        "timestamp": int(timestamp),
    }
    if title:
        value["title"] = title
    return msgspec.json.encode(value | {"env": env}) + b"\n"


class CastText:
    """Bytes of a stream, cut anywhere, as text: no character is split, and what is no UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> str:
        """All characters that are complete by now."""
        return self._decoder.decode(data)

    def end(self) -> str:
        """What is left of a character that will never be complete."""
        return self._decoder.decode(b"", True)


class CastClock:
    """From times to intervals: whole milliseconds, whose sum never drifts from the time that they stand for."""

    def __init__(self) -> None:
        self.elapsed = 0  # ms: the time of the latest event, as a player counts it

    def interval(self, at: float) -> int:
        """Milliseconds from the event before to one at `at` (seconds since the beginning)."""
        elapsed = max(self.elapsed, round(at * 1000))
        interval, self.elapsed = elapsed - self.elapsed, elapsed
        return interval


def event(interval: int, code: str, data: str) -> bytes:
    """One line; `interval` in milliseconds."""
    return b'[%d.%03d,"%b",%b]\n' % (interval // 1000, interval % 1000, code.encode(), msgspec.json.encode(data))


def exit_status(result: Exit) -> str:
    """As a shell says it: the code, or 128 and the number of the signal."""
    if result.code is not None:
        return str(result.code)
    try:
        return str(128 + signals.Signals[result.signal or ""].value)
    except KeyError:  # a signal without a name, such as a real-time one
        return "128"
