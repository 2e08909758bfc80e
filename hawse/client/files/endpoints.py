"""The source or target of a directory transfer: a path on this machine or in a sandbox.

On this machine, nothing is written through a symlink. Otherwise, a sandbox could list a file below a symlink and
thereby write outside the target.
"""

import asyncio
import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from hawse.client.base.call_errors import PermissionDeniedError
from hawse.client.files import local_files, tree as trees
from hawse.client.files.tree import Link, OnFailure, Tree, TreeEntry

if TYPE_CHECKING:
    from hawse.client.files.files import Files

Advance = Callable[[int], object]  # called with the number of bytes copied since the last call

RESUMED_FROM: Final = 4 << 20  # minimum size of a resumable upload, in bytes; smaller files are resent just as quickly
WRITABLE: Final = 0o700  # mode for a directory while files are being copied to it
LOCAL_MODE: Final = 0o3777  # permission bits kept on received directories, excluding set-user-ID


class LocalEndpoint:
    """A file or directory on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def tree(self, on_failure: OnFailure) -> Tree:
        """List the files at this endpoint. Raises `OSError`."""
        return await asyncio.to_thread(trees.local_tree, self.path, on_failure)

    async def make_directory(self, entry: TreeEntry) -> bool:
        """Create a writable directory if it is missing; return whether it was created. Raises `OSError`."""
        return await asyncio.to_thread(self._make_directory, entry)

    async def make_link(self, link: Link) -> None:
        """Create a symlink, replacing an existing file or symlink. Raises `OSError`."""
        await asyncio.to_thread(self._make_link, link)

    async def finish_directory(self, entry: TreeEntry, *, created: bool) -> None:
        """Set a directory's mode and modification time. Raises `OSError`."""
        await asyncio.to_thread(self._finish, entry)

    def below(self, path: str) -> Path:
        """Return the endpoint for a path below this one.

        Raises:
            PermissionDeniedError: A parent directory is a symlink.
        """
        if not path:
            return self.path
        place = self.path / path
        for parent in place.parents:
            if parent == self.path:
                break
            if parent.is_symlink():
                raise PermissionDeniedError(f"{parent} is a symlink: nothing is copied through it")
        return place

    def _make_directory(self, entry: TreeEntry) -> bool:
        place = self.below(entry.path)
        try:
            place.mkdir(entry.mode & LOCAL_MODE | WRITABLE, parents=not entry.path)
        except FileExistsError:
            if not place.is_dir() or (entry.path and place.is_symlink()):
                raise
            return False
        return True

    def _make_link(self, link: Link) -> None:
        place = self.below(link.path)
        with suppress(FileNotFoundError):
            place.unlink()
        place.symlink_to(link.target)
        if link.mtime_ns is not None:
            os.utime(place, ns=(time.time_ns(), link.mtime_ns), follow_symlinks=False)

    def _finish(self, entry: TreeEntry) -> None:
        place = self.below(entry.path)
        if entry.path and place.is_symlink():
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
        place.chmod(entry.mode & LOCAL_MODE)
        if entry.mtime_ns is not None:
            os.utime(place, ns=(time.time_ns(), entry.mtime_ns))


class RemoteEndpoint:
    """A file or directory in a sandbox."""

    def __init__(self, files: "Files", path: str) -> None:
        self.files = files
        self.path = path

    async def tree(self, on_failure: OnFailure) -> Tree:
        """List the files at this endpoint. Raises `HawseError`."""
        return await trees.remote_tree(self.files, self.path, on_failure)

    async def make_directory(self, entry: TreeEntry) -> bool:
        """Create a writable directory if it is missing; return whether it was created. Raises `HawseError`."""
        return await self.files.mkdir(self.below(entry.path), parents=True, mode=entry.mode | WRITABLE)

    async def make_link(self, link: Link) -> None:
        """Create a symlink, replacing an existing file or symlink. Raises `HawseError`."""
        place = self.below(link.path)
        await self.files.symlink(place, link.target, overwrite=True)
        if link.mtime_ns is not None:
            await self.files.utime(place, link.mtime_ns, follow=False)

    async def finish_directory(self, entry: TreeEntry, *, created: bool) -> None:
        """Set a directory's mode and modification time. Raises `HawseError`."""
        place = self.below(entry.path)
        if not created or entry.mode & WRITABLE != WRITABLE:
            await self.files.chmod(place, entry.mode)
        if entry.mtime_ns is not None:
            await self.files.utime(place, entry.mtime_ns)

    def below(self, path: str) -> str:
        """Return the endpoint for a path below this one."""
        return str(PurePosixPath(self.path) / path) if path else self.path


Endpoint = LocalEndpoint | RemoteEndpoint


async def copy_file(source: Endpoint, target: Endpoint, entry: TreeEntry, advance: Advance) -> None:
    """Copy a single file, including its mode and modification time.

    Args:
        source: Where the file is. At least one of source and target is in a sandbox.
        target: Where to copy it.
        entry: The file.
        advance: Called with the number of bytes copied since the previous call.

    Raises:
        OSError: The local file cannot be read or written.
        HawseError: The file in the sandbox cannot be read or written.
    """
    if isinstance(source, LocalEndpoint):
        assert isinstance(target, RemoteEndpoint)
        place, resume = target.below(entry.path), entry.size >= RESUMED_FROM
        steps = local_files.steps(advance)
        await target.files.upload(source.below(entry.path), place, preserve=True, resume=resume, progress=steps)
    elif isinstance(target, LocalEndpoint):
        local = await asyncio.to_thread(target.below, entry.path)
        steps = local_files.steps(advance)
        await source.files.download(source.below(entry.path), local, preserve=True, progress=steps)
    else:
        async with (
            source.files.open_read(source.below(entry.path)) as reader,
            target.files.open_write(
                target.below(entry.path), mode=entry.mode, mtime_ns=entry.mtime_ns, sparse=entry.sparse
            ) as writer,
        ):
            async for chunk in reader:
                await writer.write(chunk)
                advance(len(chunk))
