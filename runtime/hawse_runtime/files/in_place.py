"""Continues a file in place from an offset, for interrupted uploads."""

import os

from hawse.wire import HawseError
from hawse_runtime.files.atomic_replace import make_parents
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import set_mtime


class InPlaceWrite:
    """A regular file, open for writing at an offset; `commit` or `discard` ends it. For threads: all methods block."""

    def __init__(self, place: RootedPath, offset: int, *, parents: bool = False) -> None:
        """Open the file. At offset 0, it is created if it does not exist.

        Args:
            place: The file, or a symlink to it.
            offset: The first byte to write.
            parents: Whether to create missing parent directories, at offset 0.

        Raises:
            HawseError: `conflict` if the file is shorter than `offset`, `is_directory`, `invalid_params` if it is
                neither a regular file nor a directory.
        """
        self.fd, size = self._open(place, parents) if offset == 0 else _existing(place)
        if size < offset:
            os.close(self.fd)
            message = f"the file has {size} bytes, less than the offset {offset}"
            raise HawseError("conflict", message, details={"size": size})
        os.lseek(self.fd, offset, os.SEEK_SET)

    def commit(self, mode: int | None = None, mtime_ns: int | None = None) -> os.stat_result:
        """Truncate the file after the last written byte, and close it.

        Args:
            mode: Its permission bits; None: unchanged.
            mtime_ns: The modification time, in nanoseconds since 1970; None: now.
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
        """Close the file. Written bytes stay."""
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
