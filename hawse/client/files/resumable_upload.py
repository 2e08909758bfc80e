"""An upload that another process can continue: into a part beside the file, which replaces it when it is complete.

The name of the part is derived from the local file (device, inode, size, time of its last change) and from the remote
name, so that the part of another version is never continued.
"""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from hawse.api.files import FileTransferResult
from hawse.client.base.causes import ConflictError, NotFoundError
from hawse.client.files.changes import PathLike
from hawse.client.files.local_files import CHUNK, Progress

if TYPE_CHECKING:
    from hawse.client.files.files import Files

CHECKED: Final = 64 << 10  # bytes before the end of a part that are compared, since a crash may leave zeros there


class ResumableUpload:
    """Sends one local file."""

    def __init__(self, files: "Files", local: Path, remote: PathLike) -> None:
        """Prepare an upload.

        Args:
            files: The files of the sandbox.
            local: The file to send.
            remote: The file in the sandbox: a regular file, or none.
        """
        self._files = files
        self._local = local
        self._remote = os.fsdecode(remote)

    async def run(self, mode: int | None, progress: Progress | None) -> FileTransferResult:
        """Send what has not arrived yet, and replace the file. For the arguments and errors see `Files.upload`."""
        file = await asyncio.to_thread(open, self._local, "rb")
        try:
            status = os.fstat(file.fileno())
            part = self._part(status)
            sent = await self._arrived(file, part, status.st_size)
            await asyncio.to_thread(file.seek, sent)
            async with self._files.open_write(part, mode=mode, offset=sent) as writer:
                while chunk := await asyncio.to_thread(file.read, CHUNK):
                    await writer.write(chunk)
                    sent += len(chunk)
                    if progress is not None:
                        progress(sent, status.st_size)
            if self._part(os.fstat(file.fileno())) != part:
                await self._files.delete(part)
                raise ConflictError(f"{self._local} was changed while it was sent", admitted="yes")
        finally:
            file.close()
        await self._files.rename(part, self._remote, overwrite=True)
        return FileTransferResult(bytes=sent, version=(await self._files.stat(self._remote)).version or "")

    def _part(self, status: os.stat_result) -> str:
        parent, name = os.path.split(self._remote)
        known = (name, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        identity = hashlib.sha256(repr(known).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return os.path.join(parent, f".hawse-{identity}.part")

    async def _arrived(self, file: BinaryIO, part: str, size: int) -> int:
        """Return how many bytes of the file are in the part already."""
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
        here = await asyncio.to_thread(os.pread, file.fileno(), arrived - start, start)
        return arrived if here == there else 0
