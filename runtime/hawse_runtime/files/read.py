"""`file.read`: reads a regular file block by block."""

import os
import stat
from collections.abc import Callable

from hawse.api.files import FileOpened, FileTransferResult
from hawse.wire import HawseError
from hawse_runtime.files.stat import type_of, version_of
from hawse_runtime.posix.proc import reopen
from hawse_runtime.rpc.generator_stream import StreamEvent, Work


def open_regular(open_: Callable[[int], int], access: int = os.O_RDONLY) -> tuple[int, os.stat_result]:
    """Open a regular file. No other type is ever opened, because closing a FIFO would send SIGPIPE to its writer.

    Args:
        open_: Opens the file with the given flags and returns its descriptor.
        access: `os.O_RDONLY` or `os.O_RDWR`.

    Returns:
        The file's descriptor and its state.

    Raises:
        HawseError: `is_directory`, or `invalid_params` if the file is neither a regular file nor a directory.
        OSError: Raised by `open_`.
    """
    path = open_(os.O_PATH)
    try:
        status = os.fstat(path)
        if stat.S_ISDIR(status.st_mode):
            raise HawseError("is_directory", "the path is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise HawseError("invalid_params", f"the path is a {type_of(status)}", details={"path": "$.path"})
        return reopen(path, access | os.O_NONBLOCK), status
    finally:
        os.close(path)


def read(
    open_: Callable[[int], int],
    *,
    offset: int = 0,
    length: int | None = None,
    version: str | None = None,
    block: Callable[[], int],
) -> Work:
    """Yield an `opened` event and `length` bytes starting at `offset`.

    A file that reports no size, as in /proc, is read to its end.

    Args:
        open_: Opens the file. See `open_regular`.
        offset: The offset of the first byte to read.
        length: The number of bytes to read; None means up to the end of the file.
        version: The required version of the file; None means any version.
        block: Returns how many bytes to read at a time. They are held in memory until sent.

    Raises:
        HawseError: `conflict` if the file has a different version or was truncated while being read.
    """
    fd, status = open_regular(open_)
    try:
        now = version_of(status)
        if version not in (None, now):
            raise HawseError("conflict", "the file has changed", details={"version": now})
        mode = stat.S_IMODE(status.st_mode)
        yield StreamEvent("opened", FileOpened(size=status.st_size, version=now, mode=mode, mtime=status.st_mtime))
        at, stop = offset, _stop(status.st_size, offset, length)
        while stop is None or at < stop:
            data = os.pread(fd, block() if stop is None else min(block(), stop - at), at)
            if not data:
                break
            at += len(data)
            yield data
        early = stop is None or at < stop  # a file that reports no size may end early
        if early and (status.st_size or os.fstat(fd).st_size):
            raise HawseError("conflict", "the file has changed", admitted="yes")
        return FileTransferResult(bytes=at - offset, version=now)
    finally:
        os.close(fd)


def _stop(size: int, offset: int, length: int | None) -> int | None:
    """Return the offset where reading stops, or None to read to the end of the file."""
    if length is None:
        return size or None
    return min(size or offset + length, offset + length)
