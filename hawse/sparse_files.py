"""Sparse files, which have holes: zeros that take up no disk space."""

import os
from typing import Final

BLOCK: Final = 4096  # size in bytes; file systems have no smaller holes
_ZEROS: Final = bytes(BLOCK)


def has_holes(size: int, allocated: int | None) -> bool:
    """Return whether a file of `size` bytes that occupies `allocated` bytes on disk has holes; None if unknown."""
    return allocated is not None and allocated < size


def write_sparse(fd: int, data: bytes | memoryview, at: int) -> None:
    """Write all of `data` at an offset. Aligned blocks of zeros beyond the end of the file become holes.

    Args:
        fd: The file.
        data: The bytes to write.
        at: The offset of the first byte. For a descriptor in append mode, it must be the size of the file.

    Raises:
        OSError: The bytes cannot be written.
    """
    view, end = memoryview(data), os.fstat(fd).st_size
    start = 0  # start of the bytes not written yet
    position = min(-at % BLOCK, len(view))
    while position + BLOCK <= len(view):
        if at + position < end or view[position : position + BLOCK] != _ZEROS:
            position += BLOCK
            continue
        _write(fd, view[start:position], at + start)
        while position + BLOCK <= len(view) and view[position : position + BLOCK] == _ZEROS:
            position += BLOCK
        os.ftruncate(fd, at + position)
        start = position
    _write(fd, view[start:], at + start)


def _write(fd: int, data: memoryview, at: int) -> None:
    while data:
        written = os.pwrite(fd, data, at)
        data, at = data[written:], at + written
