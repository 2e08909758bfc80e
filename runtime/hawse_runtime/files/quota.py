"""Limits how many bytes the file methods can add to a directory: `--quota BYTES` (docs/decisions/0034).

Bytes are counted on first use, and recounted when the quota seems exhausted. Limiting programs as well would require a
fixed-size file system.
"""

import os
import threading
import time

from hawse.wire import HawseError
from hawse_runtime.posix.mount_points import mount_points_below

RECOUNT_INTERVAL = 1.0  # minimum number of seconds between counts


class Quota:
    """A thread-safe counter for the bytes in a directory."""

    def __init__(self, folder: str, limit: int | None = None, *, recount_interval: float = RECOUNT_INTERVAL) -> None:
        """Create a counter. Counting starts on first use.

        Args:
            folder: The directory's path.
            limit: The maximum number of bytes; None means no limit.
            recount_interval: The minimum number of seconds between counts.
        """
        self._recount_interval = recount_interval
        self._folder = folder
        self._limit = limit
        self._used: int | None = None
        self._counted = 0.0
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """Count `size` bytes to be written, or deleted bytes if negative. Raises `no_space` at the limit."""
        if self._limit is None:
            return
        with self._lock:
            age = time.monotonic() - self._counted
            if self._used is None or (self._used + size > self._limit and age > self._recount_interval):
                self._used, self._counted = _count(self._folder), time.monotonic()
            if size > 0 and self._used + size > self._limit:
                details = {"quota": self._limit, "used": self._used}
                raise HawseError("no_space", f"the quota of {self._limit} bytes is exhausted", details=details)
            self._used += size


def _count(folder: str) -> int:
    """Return the total size of all files in a directory, not counting mounted buckets."""
    used = 0
    served: set[str] | None = None
    for path, directories, files, fd in os.fwalk(folder):
        if served is None:
            served = {os.path.join(folder, *point.names) for point in mount_points_below(fd) if point.is_fuse}
        if served:
            directories[:] = [name for name in directories if os.path.join(path, name) not in served]
        for name in files:
            try:
                used += os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
            except OSError:
                pass  # the file was removed while counting
    return used
