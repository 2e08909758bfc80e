"""File states, in the form used by the protocol."""

import os
import stat
import time
from typing import Any

from hawse.api.files import FileEntry, FileType
from hawse.api.paths import to_text

_TYPES: tuple[tuple[Any, FileType], ...] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "symlink"),
    (stat.S_ISFIFO, "fifo"),
    (stat.S_ISSOCK, "socket"),
)


def version_of(status: os.stat_result) -> str:
    """Return a string that changes whenever the file is written to or replaced."""
    return f"{status.st_dev:x}-{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"


def set_mtime(file: int | str, mtime_ns: int) -> None:
    """Set the modification time for a path or descriptor, in nanoseconds since 1970."""
    os.utime(file, ns=(time.time_ns(), mtime_ns))


def type_of(status: os.stat_result) -> FileType:
    return next((name for is_kind, name in _TYPES if is_kind(status.st_mode)), "device")


def entry(path: str, status: os.stat_result, target: str | None = None) -> FileEntry:
    """Return an entry for a listing. `path` and `target` are Python file names."""
    return FileEntry(path=to_text(path), target=None if target is None else to_text(target), **fields(status))


def fields(status: os.stat_result) -> dict[str, Any]:
    """Return an entry's fields, except for its path."""
    return {
        "type": type_of(status),
        "size": status.st_size,
        "mode": stat.S_IMODE(status.st_mode),
        "mtime": status.st_mtime,
        "uid": status.st_uid,
        "gid": status.st_gid,
        "mtime_ns": status.st_mtime_ns,
        "allocated": status.st_blocks * 512,
    }
