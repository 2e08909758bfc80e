"""Writes to an existing file, starting at an offset. Used for resuming interrupted uploads."""

import os

from hawse.wire import HawseError
from hawse_runtime.files.atomic_replace import make_parents
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import set_mtime


class InPlaceWrite:
    """A regular file opened for writing at an offset. Finish with `commit` or `discard`. All methods block."""

    def __init__(self, place: RootedPath, offset: int, *, parents: bool = False) -> None:
        """Open the file or, at offset 0, create it if it doesn't exist.

        Args:
            place: The file, or a symlink to it.
            offset: The offset of the first byte to write.
            parents: Whether to create missing parent directories. Used only at offset 0.

        Raises:
            HawseError: `conflict` if the file is shorter than `offset`, `is_directory` if it is a directory, or
                `invalid_params` if it is neither a directory nor a regular file.
        """
        self.fd, size = self._open(place, parents) if offset == 0 else _existing(place)
        if size < offset:
            os.close(self.fd)
            message = f"the file has only {size} bytes, fewer than the offset {offset}"
            raise HawseError("conflict", message, details={"size": size})
        os.lseek(self.fd, offset, os.SEEK_SET)

    def commit(self, mode: int | None = None, mtime_ns: int | None = None) -> os.stat_result:
        """Truncate the file after the last byte written, and close it.

        Args:
            mode: The permission bits; None leaves them unchanged.
            mtime_ns: The modification time in nanoseconds since 1970; None means the current time.
        """
        try:
            os.ftruncate(self.fd, os.lseek(self.fd, 0, os.SEEK_CUR))
            if mode is not None:
                os.fchmod(self.fd, mode)
            if mtime_ns is not None:
                set_mtime(self.fd, mtime_ns)
            return os.fstat(self.fd)
        finally:
            os.close(self.fd)

    def discard(self) -> None:
        """Close the file, keeping the bytes written so far."""
        os.close(self.fd)

    def _open(self, place: RootedPath, parents: bool) -> tuple[int, int]:
        if parents:
            make_parents(place)
        try:
            return place.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW), 0
        except FileExistsError:
            return _existing(place)


def _existing(place: RootedPath) -> tuple[int, int]:
    fd, status = open_regular(place.open, os.O_RDWR)
    return fd, status.st_size
