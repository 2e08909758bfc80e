"""The recordings that are on the disk: what is known of each, how much room there is, and repairs after a kill."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from hawse.api.recordings import RecordingEndReason
from runtime.recording.cast_writer import PARTS

log = logging.getLogger(__name__)

TOTAL = 4 << 30  # bytes that all recordings of a sandbox may have
EACH = 1 << 30  # bytes that one may have
TAIL = 32 << 20  # bytes of a cast that are read again after a kill: more than there is behind any keyframe
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RecordingFile(msgspec.Struct, kw_only=True):
    """A recording as docs/wire.md shows it. Kept in `ID.json`."""

    id: str
    terminal: str
    instance: str
    title: str | None = None
    input: bool = False
    cols: int
    rows: int
    started: float  # seconds since 1970
    state: str = "recording"  # or "finished"
    reason: RecordingEndReason | None = None  # why it has ended
    message: str = ""
    duration: float = 0.0  # seconds
    size: int = 0  # bytes of the cast
    screens: int = 0  # bytes
    index: int = 0  # bytes
    markers: int = 0
    lost: int = 0  # bytes that are not in it
    truncated: bool = False  # it has less than happened


class RecordingQuota:
    """How many bytes the recordings may still grow by. Asked from several threads."""

    def __init__(self, total: int = TOTAL) -> None:
        self._total = total
        self._used = 0
        self._lock = Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            if self._used + size > self._total:
                return False
            self._used += size
            return True

    def count(self, size: int) -> None:
        """So many bytes more (or less) are there, whether there is room or not."""
        with self._lock:
            self._used += size

    @property
    def left(self) -> int:
        return self._total - self._used


class RecordingStore:
    """One folder of recordings. All of it waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str, part: str) -> Path:
        return self.folder / f"{name}.{part}"

    def load(self) -> Iterator[RecordingFile]:
        """What an earlier runtime has left, oldest first; those that it was killed in are repaired."""
        found = []
        for path in self.folder.glob("*.json") if self.folder.is_dir() else ():
            try:
                info = msgspec.json.decode(path.read_bytes(), type=RecordingFile)
                if ID.fullmatch(info.id) and info.id == path.stem:
                    found.append(self._repaired(info))
            except (OSError, ValueError) as error:
                log.warning("! the recording %s cannot be read: %s", path, error)
        yield from sorted(found, key=lambda info: info.started)

    def save(self, info: RecordingFile) -> None:
        """At once and atomically. Raises `OSError`."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.folder / f".{info.id}.json"
        temporary.write_bytes(msgspec.json.encode(info) + b"\n")
        os.replace(temporary, self.path(info.id, "json"))

    def delete(self, name: str) -> None:
        for part in ("json", *PARTS):
            self.path(name, part).unlink(missing_ok=True)

    def _repaired(self, info: RecordingFile) -> RecordingFile:
        if info.state != "recording":
            return info
        for part in ("cast", "index"):
            _cut_to_whole_lines(self.path(info.id, part))
        place = self._last_keyframe(info.id)
        info.duration = _duration(self.path(info.id, "cast"), place.get("at", 0), place.get("t", 0.0))
        info.state, info.reason, info.truncated = "finished", "killed", True
        info.message = "the runtime was killed"
        info.size, info.screens, info.index = (self.path(info.id, part).stat().st_size for part in PARTS)
        self.save(info)
        return info

    def _last_keyframe(self, name: str) -> dict[str, Any]:
        places = map(msgspec.json.decode, self.path(name, "index").read_bytes().splitlines())
        return max((place for place in places if "at" in place), key=lambda place: place["at"], default={})


def _cut_to_whole_lines(path: Path) -> None:
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(0, size - TAIL)
        file.seek(start)
        file.truncate(start + file.read().rfind(b"\n") + 1)


def _duration(path: Path, at: int, time: float) -> float:
    """The time of the last event, from that of the one that ends at `at`."""
    with path.open("rb") as file:
        file.seek(at)
        for line in file:
            if line.startswith(b"["):
                time += msgspec.json.decode(line)[0]
    return round(time, 3)
