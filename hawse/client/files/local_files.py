"""Transfers of whole files between the local disk and a sandbox. Threads access the local disk."""

import asyncio
import errno
import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from hawse.api.files import FileStatResult, FileTransferResult
from hawse.client.files.transfer_streams import FileReader, FileWriter

Progress = Callable[[int, int], object]  # bytes so far, bytes in all
CHUNK = 1 << 20  # bytes read from the local disk at a time
VERSION = r"[0-9a-f]+(?:-[0-9a-f]+){3}"  # of a file in a sandbox, in the name of its part


async def upload(local: Path, remote: FileWriter, progress: Progress | None) -> FileTransferResult:
    """Send a local file; `progress` is called after each chunk."""
    file = await asyncio.to_thread(open, local, "rb")
    try:
        size, sent = os.fstat(file.fileno()).st_size, 0
        async with remote:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                await remote.write(chunk)
                sent += len(chunk)
                if progress is not None:
                    progress(sent, size)
        return remote.result
    finally:
        file.close()


async def download(
    info: FileStatResult, open_read: Callable[[int], FileReader], local: Path, progress: Progress | None
) -> int:
    """Fetch a file; return its size.

    If this fails, the bytes received so far stay beside `local`, and the next download continues after them. The parts
    of other versions, which no download continues, are removed.

    Args:
        info: The version of the file to fetch.
        open_read: Opens the file at an offset.
        local: Where to put it.
        progress: Is called after each chunk.

    Raises:
        OSError: The local file cannot be written; EBUSY: another download to it is in progress.
    """
    part = local.with_name(f"{local.name}.{info.version}.part")
    file = await asyncio.to_thread(_open_part, part, local)
    try:
        received = file.tell()
        async with open_read(received) as source:
            async for chunk in source:
                await asyncio.to_thread(file.write, chunk)
                received += len(chunk)
                if progress is not None:
                    progress(received, info.size)
        await asyncio.to_thread(file.flush)
        await asyncio.to_thread(os.replace, part, local)
    finally:
        await asyncio.to_thread(file.close)
    await asyncio.to_thread(_remove_old_parts, local)
    return received


def _open_part(part: Path, local: Path) -> BinaryIO:
    """Open a part to append to it, for this download alone. A symlink of its name is not followed."""
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        if error.errno != errno.EWOULDBLOCK:
            raise
        raise OSError(errno.EBUSY, "another download to this file is in progress", str(local)) from error
    return os.fdopen(fd, "ab")


def _remove_old_parts(local: Path) -> None:
    """Remove the parts of earlier versions, except those that a download is writing."""
    old = re.compile(rf"{re.escape(local.name)}\.{VERSION}\.part")
    with os.scandir(local.parent) as entries:
        found = [entry.path for entry in entries if old.fullmatch(entry.name)]
    for path in found:
        with suppress(OSError):
            _open_part(Path(path), local).close()  # raises if it is in use
            os.unlink(path)
