"""A directory for the runtime's private files, with a path that may be relative to an open descriptor.

In an isolated sandbox, recordings and spilled output are stored in a directory that programs cannot see.
The runtime resolves paths the way programs do, so it can only access that directory through a descriptor
(docs/decisions/0085).
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from hawse_runtime.core.remove_tree import remove_tree


class Folder:
    """A directory that may not exist yet. All methods block on disk I/O and raise `OSError`."""

    def __init__(self, path: str | Path, base: int | None = None) -> None:
        """Refer to a directory without opening it.

        Args:
            path: The directory's path.
            base: The descriptor of the directory that `path` is relative to, owned by the caller. If None, `path` is
                resolved as usual.
        """
        self._path = os.fspath(path)
        self._base = base

    def __str__(self) -> str:
        return self._path

    def make(self) -> None:
        """Create the directory with mode 0700 unless it exists."""
        if self._base is None:
            os.makedirs(self._path, mode=0o700, exist_ok=True)
        else:
            with suppress(FileExistsError):
                os.mkdir(self._path, mode=0o700, dir_fd=self._base)

    def folder(self, name: str) -> "Folder":
        """Return the subdirectory `name`."""
        return Folder(self._join(name), self._base)

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open the file `name`, never through a symbolic link, and return its descriptor."""
        return os.open(self._join(name), flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=self._base)

    def names(self) -> list[str]:
        """Return the names in the directory, sorted, or an empty list if it doesn't exist."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._base)
        except FileNotFoundError:
            return []
        try:
            return sorted(os.listdir(fd))  # without sorting, the order would depend on the file system
        finally:
            os.close(fd)

    def descriptor(self) -> int:
        """Open the directory for fchdir(2) and return its descriptor."""
        return os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._base)

    def read(self, name: str) -> bytes:
        with open(self.open(name, os.O_RDONLY), "rb") as file:
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        """Replace the file `name` atomically: after a crash, its contents are either the old or the new ones."""
        new = f".{name}.new"
        self.unlink(new)  # a leftover could be a FIFO, and opening one would block
        with open(self.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
        os.replace(self._join(new), self._join(name), src_dir_fd=self._base, dst_dir_fd=self._base)

    def size(self, name: str) -> int:
        return os.stat(self._join(name), dir_fd=self._base, follow_symlinks=False).st_size

    def unlink(self, name: str) -> None:
        """Remove the file `name` if it exists."""
        with suppress(FileNotFoundError):
            os.unlink(self._join(name), dir_fd=self._base)

    def remove(self) -> None:
        """Remove the directory and its contents. Entries that can't be removed are left in place. Never raises."""
        if self._base is None:
            remove_tree(self._path)
        else:
            shutil.rmtree(self._path, ignore_errors=True, dir_fd=self._base)

    def _join(self, name: str) -> str:
        return f"{self._path}/{name}"
