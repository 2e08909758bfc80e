"""How much the file methods may add: `--quota BYTES` for all that is in a directory (docs/decisions/0034).

It is counted when it is first needed, and again when it seems used up. What programs write in between is not seen:
against them only a file system of its own helps.
"""

import os
import threading
import time

from hawse.wire import HawseError

RECOUNT = 1.0  # seconds between two counts


class Quota:
    """Used in threads."""

    def __init__(self, folder: str, limit: int | None = None) -> None:
        """`limit`: bytes, None for none."""
        self._folder = folder
        self._limit = limit
        self._used: int | None = None
        self._counted = 0.0
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """`size` bytes are about to be written (below 0: were deleted). Raises `no_space`."""
        if self._limit is None:
            return
        with self._lock:
            if self._used is None or (self._used + size > self._limit and time.monotonic() - self._counted > RECOUNT):
                self._used, self._counted = _count(self._folder), time.monotonic()
            if size > 0 and self._used + size > self._limit:
                details = {"quota": self._limit, "used": self._used}
                raise HawseError("no_space", f"the quota of {self._limit} bytes is used up", details=details)
            self._used += size


def _count(folder: str) -> int:
    """The sizes of all files in it."""
    used = 0
    for _, _, files, fd in os.fwalk(folder):
        for name in files:
            try:
                used += os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
            except OSError:
                pass  # it is gone
    return used
