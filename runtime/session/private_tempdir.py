"""A temporary folder that is ours alone for as long as we live, in memory where there is such a place.

Who is killed cannot clean up; so whoever makes the next one does. A lock says who lives (flock(2)): a process id would
mean nothing where several sandboxes share the memory.
"""

import fcntl
import os
import tempfile
import time
from pathlib import Path

from runtime.core.remove_tree import remove_tree

MEMORY = Path("/dev/shm")  # nobody else cleans up there, and it is no disk
PREFIX = ".hawse-own-"  # that nobody else has: what is called so and is not locked is removed
YOUNG = 60.0  # seconds; before it is so old, a folder may have been made and not be locked yet


class PrivateTempDir:
    """Make it, use `path`, `close` it. Raises `OSError`. Nobody else may look into it."""

    def __init__(self, where: Path | None = None) -> None:
        """`where`: for tests; by default memory, or else where temporary files go."""
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
    """Remove a folder of somebody who is gone. What cannot be looked at is somebody else's."""
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
