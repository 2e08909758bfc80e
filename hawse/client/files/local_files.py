"""Transfers of whole files between the local disk and a sandbox. The local disk is accessed in threads."""

import asyncio
import errno
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from hawse.api.files import FileStatResult, FileTransferResult
from hawse.client.files.transfer_streams import FileReader, FileWriter
from hawse.sparse_files import has_holes, write_sparse

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

SPARSE: Final = hasattr(os, "pwrite")  # not available on Windows
FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
Progress = Callable[[int, int], object]  # called with the number of bytes transferred so far and the total number
CHUNK = 1 << 20  # number of bytes to read from the local disk at a time
VERSION = r"[0-9a-f]+(?:-[0-9a-f]+){3}"  # a sandbox file's version, as it appears in the name of its `.part` file
# Permission bits kept on received files, excluding set-user-ID: programs from a sandbox must not get this user's
# rights.
MODE: Final = 0o777


async def upload(
    local: Path, open_write: Callable[[os.stat_result], FileWriter], progress: Progress | None
) -> FileTransferResult:
    """Send a local file.

    Args:
        local: The file.
        open_write: Opens the file in the sandbox, given the local file's `stat` result.
        progress: Called after each chunk.

    Raises:
        OSError: The local file cannot be read.
    """
    file = await asyncio.to_thread(open, local, "rb")
    try:
        status = os.fstat(file.fileno())
        size, sent = status.st_size, 0
        async with open_write(status) as remote:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                await remote.write(chunk)
                sent += len(chunk)
                if progress is not None:
                    progress(sent, size)
        return remote.result
    finally:
        file.close()


async def download(
    info: FileStatResult,
    open_read: Callable[[int], FileReader],
    local: Path,
    progress: Progress | None,
    *,
    preserve: bool = False,
) -> int:
    """Download a file and return its size.

    If the download fails, the received bytes are kept beside `local`, and the next download picks up from there.
    Partial downloads of other versions are removed unless they are still in progress.

    Args:
        info: The version of the file to fetch.
        open_read: Opens the file at an offset.
        local: The local destination.
        progress: Called after each chunk.
        preserve: Whether to preserve the remote file's mode, modification time and holes.

    Raises:
        OSError: The local file cannot be written. The number is EBUSY if another download to this file is in progress.
    """
    part = local.with_name(f"{_prefix(local)}{info.version}.part")
    fd = await asyncio.to_thread(_open_part, part, local)
    try:
        write = write_sparse if SPARSE and preserve and has_holes(info.size, info.allocated) else _write
        received = os.fstat(fd).st_size
        async with open_read(received) as source:
            async for chunk in source:
                await asyncio.to_thread(write, fd, chunk, received)
                received += len(chunk)
                if progress is not None:
                    progress(received, info.size)
        if preserve:
            _set_mode(fd, info.mode & MODE)
            if info.mtime_ns is not None:
                os.utime(fd if os.utime in os.supports_fd else part, ns=(time.time_ns(), info.mtime_ns))
        await asyncio.to_thread(_replace, part, local)
    finally:
        await asyncio.to_thread(os.close, fd)
    await asyncio.to_thread(_remove_old_parts, local)
    return received


def steps(advance: Callable[[int], object]) -> Progress:
    """Return a `Progress` that calls `advance` with the number of bytes since its previous call."""
    before = 0

    def report(done: int, whole: int) -> None:
        nonlocal before
        advance(done - before)
        before = done

    return report


def digest(text: str) -> str:
    """Return a 16-character digest that represents a file name or version in the name of a `.part` file."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _prefix(local: Path) -> str:
    """Return the prefix shared by the names of all `.part` files for this file."""
    return f".hawse-{digest(local.name)}-"


def _write(fd: int, data: bytes, at: int) -> None:
    """Append all of `data` to a file, which is `at` bytes long."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _replace(part: Path, local: Path) -> None:
    try:
        os.replace(part, local)
    except OSError:  # for example, `local` is a directory; later downloads would fail as well
        os.unlink(part)
        raise


def _open_part(part: Path, local: Path) -> int:
    """Open a `.part` file for appending, and lock it for this download. Symlinks are not followed."""
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_APPEND | FLAGS, 0o666)
    try:
        _lock(fd)
    except OSError as error:
        os.close(fd)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLOCK):  # the error is not about the lock
            raise
        raise OSError(errno.EBUSY, "another download to this file is in progress", str(local)) from error
    return fd


def _lock(fd: int) -> None:
    """Lock a file for this process until it is closed. Raises `OSError` if another process has locked it."""
    if sys.platform == "win32":
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _set_mode(fd: int, mode: int) -> None:
    if sys.platform != "win32":
        os.fchmod(fd, mode)


def _remove_old_parts(local: Path) -> None:
    """Remove partial downloads of other versions unless they are still in progress."""
    old = re.compile(rf"{re.escape(_prefix(local))}{VERSION}\.part")
    with os.scandir(local.parent) as entries:
        found = [entry.path for entry in entries if old.fullmatch(entry.name)]
    for path in found:
        with suppress(OSError):
            os.close(_open_part(Path(path), local))  # opening fails if the file is in use
            os.unlink(path)
