"""`file.read`: read a regular file, block by block."""

import os
import stat
from collections.abc import Callable

from hawse.api.files import FileOpened, FileTransferResult
from hawse.wire import HawseError
from runtime.files.stat import type_of, version_of
from runtime.rpc.generator_stream import StreamEvent, Work

BLOCK = 256 << 10  # bytes read at a time, and held until they are sent


def open_regular(open_: Callable[[int], int]) -> tuple[int, os.stat_result]:
    """Open a regular file for reading. Anything else is not opened: a reader that comes and goes kills a FIFO's writer.

    Args:
        open_: Opens the file with the flags that it is given, and returns the descriptor.

    Returns:
        The descriptor, and the state of the file.

    Raises:
        HawseError: `is_directory`, or `invalid_params` if it is neither a regular file nor a directory.
        OSError: What `open_` raises.
    """
    path = open_(os.O_PATH)
    try:
        status = os.fstat(path)
        if stat.S_ISDIR(status.st_mode):
            raise HawseError("is_directory", "it is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise HawseError("invalid_params", f"it is a {type_of(status)}", details={"path": "$.path"})
        return os.open(f"/proc/self/fd/{path}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), status
    finally:
        os.close(path)


def read(
    open_: Callable[[int], int], *, offset: int = 0, length: int | None = None, version: str | None = None
) -> Work:
    """Yield an event `opened`, then the bytes from `offset` on, `length` of them or up to the end of the file.

    A file without a size, as in /proc, is read to its end.

    Args:
        open_: Opens the file, as for `open_regular`.
        offset: The first byte to read.
        length: The number of bytes to read; None: all.
        version: The version that the file must have; None: any.

    Raises:
        HawseError: `conflict` if the file has another version, or was cut short while it was read.
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
            data = os.pread(fd, BLOCK if stop is None else min(BLOCK, stop - at), at)
            if not data:
                break
            at += len(data)
            yield data
        early = stop is None or at < stop  # the end came before: fine for what never had a size
        if early and (status.st_size or os.fstat(fd).st_size):
            raise HawseError("conflict", "the file has changed", admitted="yes")
        return FileTransferResult(bytes=at - offset, version=now)
    finally:
        os.close(fd)


def _stop(size: int, offset: int, length: int | None) -> int | None:
    """Where to stop; None is the end, wherever it is."""
    if length is None:
        return size or None
    return min(size or offset + length, offset + length)
