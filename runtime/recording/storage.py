"""Stores recordings on disk: the description of each, the quota of all, and repairs after the runtime was killed."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from hawse.api.recordings import RecordingInfo
from runtime.recording.cast_writer import PARTS

log = logging.getLogger(__name__)

TOTAL = 4 << 30  # bytes of all recordings of a sandbox
EACH = 1 << 30  # bytes of one recording
TAIL = 32 << 20  # bytes at the end of a cast that a repair reads: more than there can be after the last keyframe
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RecordingQuota:
    """The bytes of all recordings of a sandbox. Thread-safe."""

    def __init__(self, total: int = TOTAL) -> None:
        self._total = total
        self._used = 0
        self._lock = Lock()

    def reserve(self, size: int) -> bool:
        """Add `size` bytes if they are available, and return whether they are."""
        with self._lock:
            if self._used + size > self._total:
                return False
            self._used += size
            return True

    def add(self, size: int) -> None:
        """Add `size` bytes, which may be negative, without checking the limit."""
        with self._lock:
            self._used += size

    @property
    def available(self) -> int:
        """Bytes by which recordings may still grow."""
        return self._total - self._used


class RecordingStore:
    """A folder of recordings. Each is described by `ID.json`. All methods but `path` block on disk I/O."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str, part: str) -> Path:
        return self.folder / f"{name}.{part}"

    def load(self) -> Iterator[RecordingInfo]:
        """Yield the recordings of earlier runtimes, oldest first, after repairing those left unfinished by a kill."""
        found = []
        for path in self.folder.glob("*.json") if self.folder.is_dir() else ():
            try:
                info = msgspec.json.decode(path.read_bytes(), type=RecordingInfo)
                if ID.fullmatch(info.id) and info.id == path.stem:
                    found.append(self._repaired(info))
            except (OSError, ValueError) as error:
                log.warning("! recording %s cannot be read: %s", path, error)
        yield from sorted(found, key=lambda info: info.started)

    def save(self, info: RecordingInfo) -> None:
        """Write `ID.json` atomically. Raises `OSError`."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.folder / f".{info.id}.json"
        temporary.write_bytes(msgspec.json.encode(info) + b"\n")
        os.replace(temporary, self.path(info.id, "json"))

    def delete(self, name: str) -> None:
        for part in ("json", *PARTS):
            self.path(name, part).unlink(missing_ok=True)

    def _repaired(self, info: RecordingInfo) -> RecordingInfo:
        if info.state != "recording":
            return info
        for part in ("cast", "index"):
            _cut_to_whole_lines(self.path(info.id, part))
        keyframe = self._last_keyframe(info.id)
        size, screens, index = (self.path(info.id, part).stat().st_size for part in PARTS)
        info = msgspec.structs.replace(
            info,
            state="finished",
            reason="killed",
            message="the runtime was killed",
            duration=_duration(self.path(info.id, "cast"), keyframe.get("at", 0), keyframe.get("t", 0.0)),
            size=size,
            screens=screens,
            index=index,
            truncated=True,
        )
        self.save(info)
        return info

    def _last_keyframe(self, name: str) -> dict[str, Any]:
        entries = map(msgspec.json.decode, self.path(name, "index").read_bytes().splitlines())
        return max((entry for entry in entries if "at" in entry), key=lambda entry: entry["at"], default={})


def _cut_to_whole_lines(path: Path) -> None:
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(0, size - TAIL)
        file.seek(start)
        file.truncate(start + file.read().rfind(b"\n") + 1)


def _duration(path: Path, at: int, time: float) -> float:
    """Return the time of the last event in seconds; `time` is that of the event that ends at offset `at`."""
    with path.open("rb") as file:
        file.seek(at)
        for line in file:
            if line.startswith(b"["):
                time += msgspec.json.decode(line)[0]
    return round(time, 3)
