"""A private temporary directory, in memory where the system provides such a file system.

A killed runtime leaves its directory behind, and the next one removes it. A lock (flock(2)) marks the directory of a
live runtime, because process ids have no meaning between sandboxes that share the file system.
"""

import fcntl
import os
import tempfile
import time
from pathlib import Path

from hawse_runtime.core.remove_tree import remove_tree

MEMORY = Path("/dev/shm")  # not on a disk, and no other program cleans up there
PREFIX = ".hawse-own-"  # only for our directories: an unlocked directory with this prefix is removed
YOUNG = 60.0  # seconds; a younger directory may not be locked yet


class PrivateTempDir:
    """A directory that only this user can read. `close` removes it. Raises `OSError`."""

    def __init__(self, where: Path | None = None) -> None:
        """`where`: the parent directory; by default /dev/shm, or the directory for temporary files."""
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
    """Remove the directory of a dead runtime. A directory that cannot be opened belongs to another user."""
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
