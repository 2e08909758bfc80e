"""Stores recordings and their descriptions on disk, limits their total size, and repairs them after a kill.

Programs in the sandbox may be able to change these files, so the files are untrusted: only regular files are opened,
sizes are capped at the actual file size, and damaged lines are skipped.
"""

import logging
import math
import os
import re
from collections.abc import Iterator
from itertools import islice
from threading import Lock
from typing import IO, Any

import msgspec

from hawse.api.recordings import RecordingInfo
from hawse.wire import HawseError
from hawse_runtime.core.folder import Folder
from hawse_runtime.files.read import open_regular
from hawse_runtime.recording.cast_writer import PARTS, part_name

log = logging.getLogger(__name__)

TOTAL = 4 << 30  # total bytes of all recordings of a sandbox
EACH = 1 << 30  # bytes of one recording
KEPT_LIMIT = 1000  # maximum recordings of a sandbox, including the ones in progress
DESCRIPTION_SIZE = 8 << 10  # bytes of a description, whose title has at most 200 characters
TAIL = 32 << 20  # bytes at the end of a cast that a repair reads; more than can follow the last keyframe
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RecordingQuota:
    """Counts the bytes of all recordings of a sandbox. Thread-safe."""

    def __init__(self, total: int = TOTAL) -> None:
        self._total = total
        self._used = 0
        self._lock = Lock()

    def reserve(self, size: int) -> bool:
        """Add `size` bytes if they are available. Return whether they were."""
        with self._lock:
            if self._used + size > self._total:
                return False
            self._used += size
            return True

    def add(self, size: int) -> None:
        """Add `size` bytes without checking the limit. `size` can be negative."""
        with self._lock:
            self._used += size

    @property
    def available(self) -> int:
        """The number of bytes that are available."""
        return self._total - self._used


class RecordingStore:
    """A directory of recordings. The file `ID.json` describes each one. All methods block on disk I/O."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def open(self, name: str, part: str, flags: int) -> int:
        """Open a file of the recording `name`, and return the descriptor. Raises `OSError`."""
        return self.folder.open(part_name(name, part), flags)

    def load(self) -> Iterator[RecordingInfo]:
        """Yield the recordings of earlier runtimes, oldest first. Unfinished ones are repaired before."""
        found = []
        for name in islice(self._names(), KEPT_LIMIT):
            try:
                info = self._description(name)
                found.append(self._repaired(info) if info.state == "recording" else self._bounded(info))
            except (OSError, ValueError, RecursionError, HawseError) as error:
                log.warning("! cannot read recording %s: %s", name, error)
        yield from sorted(found, key=lambda info: info.started)

    def save(self, info: RecordingInfo) -> None:
        """Write `ID.json` atomically. Raises `OSError`."""
        self.folder.make()
        self.folder.write(part_name(info.id, "json"), msgspec.json.encode(info) + b"\n")

    def delete(self, name: str) -> None:
        for part in ("json", *PARTS):
            self.folder.unlink(part_name(name, part))

    def _names(self) -> Iterator[str]:
        """Yield the ids of recordings that have a description."""
        try:
            files = self.folder.names()
        except OSError as error:  # the path is not a directory
            log.warning("! cannot read the recordings: %s", error)
            return
        for file in files:
            name, dot, suffix = file.rpartition(".")
            if dot and suffix == "json" and ID.fullmatch(name):
                yield name

    def _file(self, name: str, part: str, access: int = os.O_RDONLY) -> IO[bytes]:
        """Open an existing file of a recording.

        Args:
            name: The id of the recording.
            part: The suffix of the file.
            access: `os.O_RDONLY` or `os.O_RDWR`.

        Raises:
            OSError: The file cannot be opened.
            HawseError: The file is not regular.
        """
        fd, _ = open_regular(lambda flags: self.open(name, part, flags), access)
        return open(fd, "r+b" if access == os.O_RDWR else "rb")

    def _description(self, name: str) -> RecordingInfo:
        """Read `ID.json`. Raises `ValueError` if the file does not describe this recording."""
        with self._file(name, "json") as file:
            text = file.read(DESCRIPTION_SIZE + 1)
        if len(text) > DESCRIPTION_SIZE:
            raise ValueError(f"the description has more than {DESCRIPTION_SIZE} bytes")
        info = msgspec.json.decode(text, type=RecordingInfo)
        if info.id != name:
            raise ValueError("the description belongs to another recording")
        numbers = (info.cols, info.rows, info.started, info.duration, info.size, info.screens, info.index)
        if not all(0 <= number < math.inf for number in (*numbers, info.markers, info.lost)):
            raise ValueError("a number in the description is negative or infinite")
        return info

    def _bounded(self, info: RecordingInfo) -> RecordingInfo:
        """Return `info` with sizes capped at the actual file sizes."""
        size, screens, index = (self._size(info.id, part) for part in PARTS)
        if info.size <= size and info.screens <= screens and info.index <= index:
            return info
        size, screens, index = min(size, info.size), min(screens, info.screens), min(index, info.index)
        return msgspec.structs.replace(info, size=size, screens=screens, index=index, truncated=True)

    def _size(self, name: str, part: str) -> int:
        """Return the size of a file in bytes, or 0 if the file cannot be read."""
        try:
            with self._file(name, part) as file:
                return os.fstat(file.fileno()).st_size
        except (OSError, HawseError):
            return 0

    def _repaired(self, info: RecordingInfo) -> RecordingInfo:
        for part in ("cast", "index"):
            with self._file(info.id, part, os.O_RDWR) as file:
                _cut_to_whole_lines(file)
        size, screens, index = (self._size(info.id, part) for part in PARTS)
        if size > EACH:
            raise ValueError(f"the file has {size} bytes; a recording can have at most {EACH}")
        with self._file(info.id, "index") as file:
            at, time = _last_keyframe(file, size)
        with self._file(info.id, "cast") as file:
            duration = _duration(file, at, time)
        info = msgspec.structs.replace(
            info,
            state="finished",
            reason="killed",
            message="the runtime was killed",
            duration=duration,
            size=size,
            screens=screens,
            index=index,
            truncated=True,
        )
        try:
            self.save(info)
        except OSError as error:  # such as a full disk; the recording is readable, and a later runtime retries
            log.warning("! cannot write the description of recording %s: %s", info.id, error)
        return info


def _cut_to_whole_lines(file: IO[bytes]) -> None:
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    file.truncate(start + file.read(TAIL).rfind(b"\n") + 1)


def _last_keyframe(file: IO[bytes], size: int) -> tuple[int, float]:
    """Return the offset and time of an index's last keyframe for a cast of `size` bytes; zeros without a keyframe."""
    last = 0, 0.0
    for line in _lines(file):
        match _json(line):
            case {"at": int(at), "t": float() | int() as time} if last[0] < at <= size and 0 <= time < math.inf:
                last = at, float(time)
    return last


def _duration(file: IO[bytes], at: int, time: float) -> float:
    """Return the time of a cast's last event in seconds. `time` is the time of the event that ends at offset `at`."""
    file.seek(at)
    for line in _lines(file):
        match _json(line):
            case [float() | int() as interval, str(), str()] if 0 <= interval < math.inf:
                time += interval
    return round(time, 3) if math.isfinite(time) else 0.0


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file. Lines longer than `TAIL` are split."""
    while line := file.readline(TAIL):
        yield line


def _json(line: bytes) -> Any:
    """Decode a line. Returns None if the line is damaged."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return None
