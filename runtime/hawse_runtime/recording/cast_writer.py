"""Writes a recording's files: the cast, the keyframes for seeking, and an index.

    ID.cast      asciicast v3, for any player
    ID.screens   the keyframes, one after another: VT bytes that paint the screen at an offset of the cast
    ID.index     a JSON line per keyframe and per marker

All methods block on disk I/O: call them in a thread, one at a time. Only whole lines are written, so even after a
crash, a file is valid up to its last complete line.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from hawse_runtime.core.folder import Folder
from hawse_runtime.recording.asciicast import CastClock, CastText, event

PARTS = ("cast", "screens", "index")
KEYFRAME = "k"  # internal code for the event that marks a keyframe's position
LAST_LINE = 256  # number of bytes reserved for the last line, which states why the recording is truncated


class CastEvent(NamedTuple):
    """An event `at` seconds after the start, with an asciicast code. `data` is bytes for `o` and `i`, else text."""

    at: float
    code: str
    data: bytes | str


class KeyframePlace(NamedTuple):
    """A keyframe's position in the cast. Its screen is not available yet."""

    at: int  # number of bytes in the cast before the keyframe
    seconds: float
    cols: int
    rows: int


class QuotaError(Exception):
    """Raised when the size limit for the recording or the sandbox is reached. All earlier events are in the file."""


class CastWriter:
    """Appends to a recording's files."""

    def __init__(self, folder: Folder, name: str, *, limit: int, reserve: Callable[[int], bool]) -> None:
        """Create a writer. The files are created by `open`.

        Args:
            folder: The directory for the files.
            name: The recording's id, which is each file's name without its suffix.
            limit: The maximum total size of the recording's files, in bytes.
            reserve: Reserves bytes in the sandbox's quota. Returns False if they are not available.
        """
        self.limit = limit
        self.sizes = dict.fromkeys(PARTS, 0)  # number of readable bytes, which are whole lines
        self.reserved = 0  # bytes granted by `reserve`; exceeds `sizes` after a failed write
        self.keyframes = 0
        self.markers = 0
        self._folder = folder
        self._name = name
        self._fds: dict[str, int] = {}
        self._reserve = reserve
        self._clock = CastClock()
        self._output, self._input = CastText(), CastText()
        self._cols = self._rows = 0  # the terminal size at the cast's end
        self._place: KeyframePlace | None = None

    @property
    def duration(self) -> float:
        """The recording's duration in seconds: the sum of all intervals."""
        return self._clock.elapsed / 1000

    @property
    def size(self) -> int:
        return sum(self.sizes.values())

    @property
    def awaits_keyframe(self) -> bool:
        """Whether a keyframe's position has been written, but not its screen."""
        return self._place is not None

    def open(self, header: bytes, cols: int, rows: int) -> None:
        """Create the files and write the cast's header line.

        Args:
            header: The header line.
            cols: The terminal's number of columns when the recording starts.
            rows: The terminal's number of rows when the recording starts.

        Raises:
            OSError: A file can't be created, for example because it already exists.
            QuotaError: The header exceeds the limit.
        """
        self._folder.make()
        for part in PARTS:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            self._fds[part] = self._folder.open(part_name(self._name, part), flags)
        self._append("cast", header)
        self._cols, self._rows = cols, rows

    def write(self, entries: Sequence[CastEvent]) -> None:
        """Append events. If this raises `OSError` or `QuotaError`, the file ends after the last line that fit."""
        lines: list[bytes] = []
        for entry in entries:
            if entry.code == KEYFRAME:
                self._append("cast", b"".join(lines))
                lines.clear()
                self._place = KeyframePlace(self.sizes["cast"], self.duration, self._cols, self._rows)
            else:
                lines.append(self._line(entry))
        self._append("cast", b"".join(lines))

    def write_keyframe(self, data: bytes) -> None:
        """Write the screen for the recorded keyframe position. If `data` is empty, drop the keyframe.

        Raises:
            OSError: The keyframe can't be written.
            QuotaError: The keyframe exceeds the limit.
        """
        place, self._place = self._place, None
        if place is None or not data:
            return
        start = self.sizes["screens"]
        self._append("screens", data)
        entry = {"t": place.seconds, "at": place.at, "screen": start, "size": len(data)}
        self._append("index", _index(entry | {"cols": place.cols, "rows": place.rows}))
        self.keyframes += 1

    def write_start(self) -> None:
        """Record in the index that players can start from the cast's current end, because a whole screen follows.

        Raises:
            OSError: The index can't be written.
            QuotaError: The entry exceeds the limit.
        """
        entry = {"t": self.duration, "at": self.sizes["cast"], "screen": 0, "size": 0}
        self._append("index", _index(entry | {"cols": self._cols, "rows": self._rows}))
        self.keyframes += 1

    def end(self, entry: CastEvent | None) -> None:
        """Flush incomplete characters and append `entry` as the last event, using the bytes reserved for it."""
        incomplete = [
            CastEvent(self.duration, code, text.end()) for code, text in (("o", self._output), ("i", self._input))
        ]
        last = [entry for entry in incomplete if entry.data] + ([entry] if entry else [])
        self._put("cast", b"".join(map(self._line, last)))

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def _line(self, entry: CastEvent) -> bytes:
        """Encode `entry` as a line in the cast. Returns b"" if it contains only an incomplete character."""
        at, code, data = entry
        if isinstance(data, bytes):
            data = (self._output if code == "o" else self._input).feed(data)
            if not data:
                return b""
        if code == "r":
            cols, _, rows = data.partition("x")
            self._cols, self._rows = int(cols), int(rows)
        line = event(self._clock.interval(at), code, data)
        if code == "m":
            self.markers += 1
            self._append("index", _index({"t": self.duration, "label": data}))
        return line

    # ---- bytes

    def _append(self, part: str, data: bytes) -> None:
        """Append `data`. If it exceeds the limit, append the lines that fit and raise `QuotaError`."""
        room = self.limit - LAST_LINE - self.size
        if len(data) > room or not self._take(len(data)):
            if part == "cast":
                self._put_some(data[: max(room, 0)])
            raise QuotaError
        self._put(part, data)

    def _put_some(self, data: bytes) -> None:
        lines = data[: data.rfind(b"\n") + 1]
        if lines and self._take(len(lines)):
            self._put("cast", lines)

    def _take(self, size: int) -> bool:
        """Reserve `size` bytes in the quota. Return whether they were available."""
        granted = self._reserve(size)
        self.reserved += size * granted
        return granted

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


def part_name(name: str, part: str) -> str:
    """Return the file name for a part of the recording `name`."""
    return f"{name}.{part}"


def _index(entry: dict[str, Any]) -> bytes:
    return msgspec.json.encode(entry) + b"\n"
