"""`file.read`: a file, block by block."""

import os
import stat
from collections.abc import Callable

from hawse.api.files import FileOpened, FileTransferResult
from hawse.wire import HawseError
from runtime.files.stat import type_of, version_of
from runtime.rpc.generator_stream import StreamEvent, Work

BLOCK = 256 << 10  # bytes read at a time, and held until they are sent
FLAGS = os.O_RDONLY | os.O_NONBLOCK  # a FIFO without a writer, or a device, does not hold us up


def open_regular(open_: Callable[[int], int]) -> tuple[int, os.stat_result]:
    """A regular file for reading: `open_` gets the flags. Raises `is_directory`, `invalid_params` if it is none."""
    fd = open_(FLAGS)
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise HawseError("is_directory", "it is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise HawseError("invalid_params", f"it is a {type_of(status)}", details={"path": "$.path"})
    except BaseException:
        os.close(fd)
        raise
    return fd, status


def read(
    open_: Callable[[int], int], *, offset: int = 0, length: int | None = None, version: str | None = None
) -> Work:
    """The bytes `offset` to `offset + length`, as far as there are any. What has no size (/proc) is read to its end."""
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
