"""An upload that another process can resume. It writes to a `.part` file beside the remote file, and finally renames it
to replace the remote file.

The name of the `.part` file is derived from the remote name and from the local file's device, inode, size and
modification time. Uploads of different versions therefore never share a `.part` file. If the upload fails, the `.part`
file is kept unless resuming would fail for the same reason. The next upload removes `.part` files for the same remote
name that haven't been written to for a day.
"""

import asyncio
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from hawse.api.files import FileTransferResult
from hawse.client.base.call_errors import ConflictError, NotFoundError
from hawse.client.files.changes import PathLike
from hawse.client.files.local_files import CHUNK, Progress, digest
from hawse.sparse_files import has_holes
from hawse.wire import HawseError

if TYPE_CHECKING:
    from hawse.client.files.files import Files

STALE: Final = 86_400.0  # seconds without a change before the `.part` file of another upload is removed
# Errors that would recur when resuming, because the file system or directory refuses the file. The `.part` file is then
# removed.
LASTING: Final = frozenset(
    {"no_space", "too_large", "permission_denied", "is_directory", "not_directory", "conflict", "invalid_params"}
)
CHECKED: Final = 64 << 10  # number of bytes to compare at the end of a `.part` file, where a crash can leave zeros


def _read_at(file: BinaryIO, size: int, offset: int) -> bytes:
    """Read bytes at an offset without moving the file position."""
    position = file.tell()
    try:
        file.seek(offset)
        return file.read(size)
    finally:
        file.seek(position)


class ResumableUpload:
    """Sends one local file."""

    def __init__(self, files: "Files", local: Path, remote: PathLike) -> None:
        """Prepare an upload.

        Args:
            files: The sandbox's files.
            local: The file to send.
            remote: The file in the sandbox. If it exists, it must be a regular file.
        """
        self._files = files
        self._local = local
        self._remote = os.fsdecode(remote)

    async def run(self, mode: int | None, progress: Progress | None, *, preserve: bool = False) -> FileTransferResult:
        """Send the missing bytes, and replace the file. Arguments and errors are the same as for `Files.upload`."""
        file = await asyncio.to_thread(open, self._local, "rb")
        try:
            status = os.fstat(file.fileno())
            part = self._part(status)
            sent = await self._arrived(file, part, status.st_size)
            await asyncio.to_thread(file.seek, sent)
            if preserve and mode is None:
                mode = stat.S_IMODE(status.st_mode)
            sparse = preserve and has_holes(status.st_size, status.st_blocks * 512)
            async with self._files.open_write(part, mode=mode, offset=sent, sparse=sparse) as writer:
                while chunk := await asyncio.to_thread(file.read, CHUNK):
                    await writer.write(chunk)
                    sent += len(chunk)
                    if progress is not None:
                        progress(sent, status.st_size)
            if self._part(os.fstat(file.fileno())) != part:
                raise ConflictError(f"{self._local} was changed while it was being sent", admitted="yes")
            await self._remove_stale(part)
            await self._files.rename(part, self._remote, overwrite=True)
            if preserve:
                await self._files.utime(self._remote, status.st_mtime_ns)
        except HawseError as error:
            if error.code in LASTING:
                await self._remove(part)
            raise
        finally:
            file.close()
        return FileTransferResult(bytes=sent, version=(await self._files.stat(self._remote)).version or "")

    async def _remove(self, part: str) -> None:
        with suppress(HawseError):  # the caller gets the upload's own error
            await self._files.delete(part)

    async def _remove_stale(self, part: str) -> None:
        """Remove old `.part` files of other versions. Their age is measured relative to the modification time of
        `part`, which was set by the sandbox's clock.
        """
        parent, name = os.path.split(part)
        with suppress(HawseError):  # the directory cannot be read, but the upload itself has succeeded
            now = (await self._files.stat(part)).mtime
            others = self._files.list(parent or ".", include=[f"{self._prefix()}*.part"])
            old = [each.path for each in [each async for each in others] if each.mtime < now - STALE]
            for path in old:
                if path != name:
                    await self._remove(os.path.join(parent, path))

    def _part(self, status: os.stat_result) -> str:
        known = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return os.path.join(os.path.dirname(self._remote), f"{self._prefix()}{digest(repr(known))}.part")

    def _prefix(self) -> str:
        """Return the prefix shared by the names of all `.part` files for this remote file."""
        return f".hawse-{digest(os.path.basename(self._remote))}-"

    async def _arrived(self, file: BinaryIO, part: str, size: int) -> int:
        """Return how many bytes of the local file are already in the `.part` file."""
        try:
            arrived = (await self._files.stat(part, follow=False)).size
        except NotFoundError:
            return 0
        if arrived > size:
            return 0
        start = max(arrived - CHECKED, 0)
        there = bytearray()
        async with self._files.open_read(part, offset=start, length=arrived - start) as reader:
            async for chunk in reader:
                there += chunk
        here = await asyncio.to_thread(_read_at, file, arrived - start, start)
        return arrived if here == there else 0
