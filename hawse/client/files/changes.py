"""The part of `Files` that edits, moves, copies and deletes files without transferring their contents."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from hawse.api import files as api
from hawse.api.files import FileEdit, FileEditResult, FileExtract, FileExtractProgress, FileExtractResult, TextEdit
from hawse.api.paths import to_text
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.client.calls.sandbox_part import SandboxPart

PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def wire_path(path: PathLike) -> str:
    """Encode a path (docs/wire.md, Files)."""
    return to_text(os.fsdecode(path))


class FileChanges(SandboxPart):
    """A base class of `Files` for creating, editing, renaming, copying and deleting files."""

    def __init__(
        self,
        calls: CallTable,
        sandbox: str,
        *,
        window: int,
        root: PathLike | None = None,
        session: str | None = None,
    ) -> None:
        super().__init__(calls, sandbox, window=window)
        self._root = None if root is None else wire_path(root)
        self._session = session

    async def edit(
        self,
        path: PathLike,
        old: str | None = None,
        new: str | None = None,
        *,
        all: bool = False,
        edits: Sequence[TextEdit] | None = None,
        patch: str | None = None,
        if_version: str | None = None,
    ) -> FileEditResult:
        """Change a file atomically, with `old` and `new`, several `edits`, or a `patch`. Either all changes are
        applied, or none are.

        Args:
            path: The file.
            old: The text to replace. It must occur exactly once, unless `all` is true.
            new: The replacement.
            all: Whether to replace every occurrence of `old`.
            edits: Replacements, applied in order, instead of `old` and `new`.
            patch: A unified diff of this file, instead of `old` and `new`.
            if_version: The version that the file must have, as returned by `stat` and `write`.

        Returns:
            The file's size and version, and the number of strings or hunks `replaced`.

        Raises:
            ValueError: Not exactly one of `old` with `new`, `edits` and `patch` was passed.
            HawseError: `conflict` if a string to replace does not occur, or occurs more than once and `all` is not set
                (`details` has `edit` and `found`); `conflict` if a hunk does not match exactly one position (`hunk` and
                `found`), or if the file has changed; `too_large` if the file exceeds 16 MiB.
        """
        if (old is None) != (new is None) or sum(given is not None for given in (old, edits, patch)) != 1:
            raise ValueError("pass exactly one of edits, patch, and old with new")
        if old is not None and new is not None:
            edits = [TextEdit(old=old, new=new, all=all)]
        several = None if edits is None else [*edits]
        return await self._request(FileEdit(**self._target(path), edits=several, patch=patch, if_version=if_version))

    async def extract(
        self,
        archive: PathLike,
        to: PathLike = ".",
        *,
        overwrite: bool = False,
        strip: int = 0,
        max_entries: int = 100_000,
        max_bytes: int = 4 << 30,
        on_progress: Callable[[FileExtractProgress], object] | None = None,
    ) -> FileExtractResult:
        """Extract an archive file in the sandbox: zip, or tar, optionally compressed with gzip, bzip2, xz or zstd.

        Nothing is written outside `to`. If the caller is cancelled, the extraction stops, and files already extracted
        are kept.

        Args:
            archive: The file.
            to: The directory, which is created if it is missing.
            overwrite: Whether to replace existing files. If false and a file already exists, `conflict` is raised.
            strip: Number of leading components to remove from each name.
            max_entries: Maximum number of entries; if there are more, `too_large` is raised.
            max_bytes: Maximum total size of the extracted files, in bytes; if it is exceeded, `too_large` is raised.
            on_progress: Called a few times per second.

        Raises:
            HawseError: `permission_denied` if an entry leaves `to` (`details`: `entry`), `invalid_params` if the
                archive is damaged or encrypted, `interrupted` if the connection is lost, `unavailable` if the sandbox
                lacks zstd, `too_large`, `no_space`.
        """
        params = FileExtract(
            **self._target(archive),
            to=wire_path(to),
            overwrite=overwrite,
            strip=strip,
            max_entries=max_entries,
            max_bytes=max_bytes,
        )
        call = EventStreamCall(params, sandbox=self._sandbox, window=self._window)
        async for progress in iterate(self._calls, call):
            if on_progress is not None:
                on_progress(progress)
        result: FileExtractResult = call.done.result()
        return result

    async def mkdir(self, path: PathLike, *, parents: bool = False, mode: int | None = None) -> bool:
        """Create a directory; return whether this call created it.

        Args:
            path: The directory.
            parents: Whether to create missing parent directories, and to accept an existing directory.
            mode: Its permission bits.
        """
        return (await self._request(api.FileMkdir(**self._target(path), parents=parents, mode=mode))).created

    async def chmod(self, path: PathLike, mode: int) -> None:
        """Set the permission bits of a file or directory."""
        await self._request(api.FileChmod(**self._target(path), mode=mode))

    async def utime(self, path: PathLike, mtime_ns: int, *, follow: bool = True) -> None:
        """Set the modification time of a file, directory or symlink.

        Args:
            path: A file, a directory or a symlink.
            mtime_ns: Nanoseconds since 1970.
            follow: Whether to follow a symlink instead of changing the symlink's own time.
        """
        await self._request(api.FileUtime(**self._target(path), mtime_ns=mtime_ns, follow=follow))

    async def symlink(self, path: PathLike, target: PathLike, *, overwrite: bool = False) -> None:
        """Create a symlink.

        Args:
            path: The path of the symlink.
            target: The path that the symlink points to. It is stored unchanged.
            overwrite: Whether to replace an existing file or symlink. If false and `path` exists, `conflict` is raised.
        """
        await self._request(api.FileSymlink(**self._target(path), target=wire_path(target), overwrite=overwrite))

    async def delete(self, path: PathLike, *, recursive: bool = False) -> int:
        """Delete a file, symlink or directory; return the number of files and directories deleted. Raises
        `is_directory` if the path is a directory and `recursive` is not set.
        """
        return (await self._request(api.FileDelete(**self._target(path), recursive=recursive))).deleted

    async def rename(self, path: PathLike, to: PathLike, *, overwrite: bool = False) -> None:
        """Rename a file or directory within its file system, atomically. Raises `conflict` if `to` exists, unless
        `overwrite` is set.
        """
        await self._request(api.FileRename(**self._target(path), to=wire_path(to), overwrite=overwrite))

    async def move(self, path: PathLike, to: PathLike, *, overwrite: bool = False) -> None:
        """Rename a file or directory, or copy and delete it across file systems. Raises `conflict` if `to` exists,
        unless `overwrite` is set.
        """
        await self._request(api.FileMove(**self._target(path), to=wire_path(to), overwrite=overwrite))

    async def copy(
        self, path: PathLike, to: PathLike, *, recursive: bool = False, overwrite: bool = False
    ) -> api.FileCopyResult:
        """Copy a file or directory, and return statistics. The copy appears at `to` once it is complete.

        Modes, timestamps and symlinks are kept.

        Args:
            path: The file or directory.
            to: The path of the copy.
            recursive: Whether to copy a directory and everything in it. If false and `path` is a directory,
                `is_directory` is raised.
            overwrite: Whether to replace an existing file.
        """
        params = api.FileCopy(**self._target(path), to=wire_path(to), recursive=recursive, overwrite=overwrite)
        return await self._request(params)

    def _target(self, path: PathLike) -> dict[str, Any]:
        return {"path": wire_path(path), "root": self._root, "session": self._session}
