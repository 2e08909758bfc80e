"""File systems mounted below a directory, as seen by this process (proc_pid_mountinfo(5))."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from hawse_runtime.posix.proc import read_link, read_proc


class MountPoint(NamedTuple):
    """A file system mounted below a directory.

    Attributes:
        names: The path relative to that directory, as a sequence of names.
        type: The file system type, such as `fuse.rclone`.
    """

    names: tuple[str, ...]
    type: str

    @property
    def is_fuse(self) -> bool:
        """Whether the file system is implemented by a user-space program, as for a mounted bucket."""
        return self.type.partition(".")[0] in ("fuse", "fuseblk")


def mount_points_below(directory: int) -> list[MountPoint]:
    """Return the mounts below an open directory, not including the directory itself. Blocks: call it in a thread.

    Raises:
        OSError: /proc cannot be read.
    """
    top = os.fsencode(read_link(f"self/fd/{directory}")).rstrip(b"/") + b"/"
    return [
        MountPoint(tuple(os.fsdecode(path[len(top) :]).split("/")), os.fsdecode(type))
        for path, type in _mounted(read_proc("self/mountinfo"))
        if path.startswith(top) and path != top
    ]


def _mounted(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each mount's path and file system type."""
    for line in text.splitlines():
        fields, _, rest = line.partition(b" - ")
        yield re.sub(rb"\\([0-7]{3})", _unescaped, fields.split(b" ")[4]), rest.split(b" ")[0]


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)])
