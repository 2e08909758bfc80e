"""A private temporary directory, which is in memory if the system provides an in-memory file system.

If a runtime is killed, it leaves its directory behind, and the next runtime removes it. A lock (flock(2)) marks a live
runtime's directory, because process ids can't be compared across sandboxes that share the file system.
"""

import fcntl
import os
import tempfile
import time
from pathlib import Path

from hawse_runtime.core.remove_tree import remove_tree

MEMORY = Path("/dev/shm")  # a file system in memory that no other program cleans up
PREFIX = ".hawse-own-"  # reserved for runtimes, which remove any unlocked directory with this prefix
YOUNG = 60.0  # minimum age for removal, in seconds; a younger directory may not be locked yet


class PrivateTempDir:
    """A directory that only this user can access. `close` removes it."""

    def __init__(self, where: Path | None = None) -> None:
        """Create the directory in `where`, by default in /dev/shm or the system's temporary directory. Raises
        `OSError`.
        """
        if where is None:
            where = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
        for left in where.glob(f"{PREFIX}*"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        self._fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        remove_tree(self.path)
        os.close(self._fd)


def _remove_if_left(folder: Path) -> None:
    """Remove the directory if its runtime has exited. Directories that can't be opened belong to other users."""
    try:
        if time.time() - folder.lstat().st_mtime < YOUNG:
            return
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(folder)
    except OSError:
        pass
    finally:
        os.close(fd)
