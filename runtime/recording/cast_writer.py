"""The files of one recording: the cast itself, screens to begin at when one seeks, and the index of both.

    ID.cast      asciicast v3, for any player
    ID.screens   VT bytes, one behind the other: each paints the screen as it was somewhere in the cast
    ID.index     a line of JSON for each of those screens, and for each marker

Everything here waits for the disk, so it runs in threads, one call at a time. Only whole lines are written: a file is
valid up to its last line, whatever happens.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from runtime.recording.asciicast import CastClock, CastText, event
from runtime.screen.screen import Screen

PARTS = ("cast", "screens", "index")
KEYFRAME_EVERY = 512 << 10  # bytes of the cast from one screen to the next: what a player has to read to seek
KEYFRAME_SECONDS = 0.25  # but in a flood not more often than this
KEYFRAME_AT_LAST = 8 << 20  # and not more seldom than after so many bytes
KEYFRAME_SHARE = 4  # a screen costs at most a quarter of the cast before it
SCROLLBACK = 1000  # lines that a screen of the recording remembers
LAST_LINE = 256  # bytes kept free for the one that says why there is no more


class IndexEntry(NamedTuple):
    """Something that happened `at` seconds after the beginning. `data`: bytes for `o` and `i`."""

    at: float
    code: str
    data: bytes | str


class QuotaError(Exception):
    """The recording may not grow any more. All that came before is in the file."""


class CastWriter:
    """Appends to the files of one recording. `reserve(bytes)` says whether the sandbox has room for more."""

    def __init__(self, folder: Path, name: str, *, limit: int, reserve: Callable[[int], bool]) -> None:
        self.sizes = dict.fromkeys(PARTS, 0)  # bytes of whole lines: what may be read
        self.keyframes = 0
        self.markers = 0
        self._paths = {part: folder / f"{name}.{part}" for part in PARTS}
        self._fds: dict[str, int] = {}
        self._limit = limit
        self._reserve = reserve
        self._clock = CastClock()
        self._output, self._input = CastText(), CastText()
        self._screen: Screen | None = None
        self._keyframe_at = 0  # where in the cast the latest screen belongs
        self._keyframe_ms = 0
        self._keyframe_size = 0

    @property
    def duration(self) -> float:
        """Seconds, as a player counts them."""
        return self._clock.elapsed / 1000

    @property
    def size(self) -> int:
        return sum(self.sizes.values())

    def open(self, header: bytes, cols: int, rows: int) -> None:
        """Make the files, with the cast's first line. Raises `OSError`, `QuotaError`."""
        self._paths["cast"].parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part, path in self._paths.items():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fds[part] = os.open(path, flags, 0o600)
        self._append("cast", header)
        self._keyframe_at = self.sizes["cast"]
        self._screen = Screen(cols, rows, scrollback=SCROLLBACK)

    def write(self, entries: Sequence[IndexEntry]) -> None:
        """Raises `OSError`, `QuotaError`; then the file ends with the last line that was written as a whole."""
        lines: list[bytes] = []
        pending = 0
        for entry in entries:
            line = self._line(entry)
            lines.append(line)
            pending += len(line)
            if self._keyframe_due(pending):
                self._append("cast", b"".join(lines))
                lines.clear()
                pending = 0
                self._keyframe()
        self._append("cast", b"".join(lines))

    def end(self, entry: IndexEntry | None) -> None:
        """Nothing more comes: `entry` is the last one, and written although there may be no room left."""
        rest = [IndexEntry(self.duration, code, text.end()) for code, text in (("o", self._output), ("i", self._input))]
        last = [part for part in rest if part.data] + ([entry] if entry else [])
        self._put("cast", b"".join(map(self._line, last)))

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def _line(self, entry: IndexEntry) -> bytes:
        """The line of the cast; empty where there is nothing to say yet."""
        at, code, data = entry
        screen = self._screen
        assert screen is not None
        if isinstance(data, bytes):
            data = (self._output if code == "o" else self._input).feed(data)
            if not data:
                return b""
        if code == "o":
            screen.feed(data.encode())
        elif code == "r":
            cols, _, rows = data.partition("x")
            screen.resize(int(cols), int(rows))
        line = event(self._clock.interval(at), code, data)
        if code == "m":
            self.markers += 1
            self._append("index", _index({"t": self.duration, "label": data}))
        return line

    # ---- screens

    def _keyframe_due(self, pending: int) -> bool:
        behind = self.sizes["cast"] + pending - self._keyframe_at
        if behind < max(KEYFRAME_EVERY, KEYFRAME_SHARE * self._keyframe_size):
            return False
        return behind >= KEYFRAME_AT_LAST or self._clock.elapsed - self._keyframe_ms >= KEYFRAME_SECONDS * 1000

    def _keyframe(self) -> None:
        """Keep the screen as it is at the cast's end; its bytes may be followed by what the cast says from there."""
        assert self._screen is not None
        data = self._screen.snapshot()
        start = self.sizes["screens"]
        place = {"t": self.duration, "at": self.sizes["cast"], "screen": start, "size": len(data)}
        self._append("screens", data)
        self._append("index", _index(place | {"cols": self._screen.cols, "rows": self._screen.rows}))
        self.keyframes += 1
        self._keyframe_at, self._keyframe_ms = self.sizes["cast"], self._clock.elapsed
        self._keyframe_size = len(data)

    # ---- bytes

    def _append(self, part: str, data: bytes) -> None:
        """All of it, or, where there is no more room, the whole lines that fit."""
        room = self._limit - LAST_LINE - self.size
        if len(data) > room or not self._reserve(len(data)):
            if part == "cast":
                self._put_some(data[: max(room, 0)])
            raise QuotaError
        self._put(part, data)

    def _put_some(self, data: bytes) -> None:
        lines = data[: data.rfind(b"\n") + 1]
        if lines and self._reserve(len(lines)):
            self._put("cast", lines)

    def _put(self, part: str, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._fds[part], rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fds[part], self.sizes[part])
            raise
        self.sizes[part] += len(data)


def _index(place: dict[str, Any]) -> bytes:
    return msgspec.json.encode(place) + b"\n"
