"""Stores recordings and their descriptions on disk, limits their total size, and repairs unfinished ones.

Programs in the sandbox may be able to change these files, so they are untrusted: only regular files are opened, sizes
are capped at the actual file size, and damaged lines are skipped.
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

TOTAL = 4 << 30  # maximum total size of a sandbox's recordings, in bytes
EACH = 1 << 30  # maximum size of a recording, in bytes
KEPT_LIMIT = 1000  # maximum number of recordings per sandbox, including any in progress
DESCRIPTION_SIZE = 8 << 10  # maximum size of a description, in bytes; its title has at most 200 characters
TAIL = 32 << 20  # number of bytes read from the end of a cast to repair it; more than can follow the last keyframe
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RecordingQuota:
    """Counts the bytes in all of a sandbox's recordings. Thread-safe."""

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
        """Add `size` bytes, which can be negative, without checking the limit."""
        with self._lock:
            self._used += size

    @property
    def available(self) -> int:
        """The number of bytes available."""
        return self._total - self._used


class RecordingStore:
    """A directory of recordings, each described by a file `ID.json`. All methods block on disk I/O."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def open(self, name: str, part: str, flags: int) -> int:
        """Open one of the recording's files and return its descriptor. `name` is the recording's id. Raises
        `OSError`.
        """
        return self.folder.open(part_name(name, part), flags)

    def load(self) -> Iterator[RecordingInfo]:
        """Yield recordings from earlier runtimes, oldest first. Unfinished recordings are repaired first."""
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
        """Yield the ids of all recordings with a description."""
        try:
            files = self.folder.names()
        except OSError as error:  # the path isn't a directory
            log.warning("! cannot read the recordings: %s", error)
            return
        for file in files:
            name, dot, suffix = file.rpartition(".")
            if dot and suffix == "json" and ID.fullmatch(name):
                yield name

    def _file(self, name: str, part: str, access: int = os.O_RDONLY) -> IO[bytes]:
        """Open one of a recording's existing files.

        Args:
            name: The recording's id.
            part: The file's suffix.
            access: `os.O_RDONLY` or `os.O_RDWR`.

        Raises:
            OSError: The file can't be opened.
            HawseError: The file isn't a regular file.
        """
        fd, _ = open_regular(lambda flags: self.open(name, part, flags), access)
        return open(fd, "r+b" if access == os.O_RDWR else "rb")

    def _description(self, name: str) -> RecordingInfo:
        """Read `ID.json`. Raises `ValueError` if it doesn't describe this recording."""
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
        """Return a file's size in bytes, or 0 if it can't be read."""
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
        except OSError as error:  # for example, a full disk; the recording is readable, and a later runtime retries
            log.warning("! cannot write the description of recording %s: %s", info.id, error)
        return info


def _cut_to_whole_lines(file: IO[bytes]) -> None:
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    file.truncate(start + file.read(TAIL).rfind(b"\n") + 1)


def _last_keyframe(file: IO[bytes], size: int) -> tuple[int, float]:
    """Return the offset and time of an index's last keyframe for a cast of `size` bytes, or zeros if it has none."""
    last = 0, 0.0
    for line in _lines(file):
        match _json(line):
            case {"at": int(at), "t": float() | int() as time} if last[0] < at <= size and 0 <= time < math.inf:
                last = at, float(time)
    return last


def _duration(file: IO[bytes], at: int, time: float) -> float:
    """Return the time of a cast's last event in seconds. `time` is when the event ending at offset `at` took place."""
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
