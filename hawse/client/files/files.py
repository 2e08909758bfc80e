"""`sandbox.files`: everything with files. Paths are text, bytes or `os.PathLike`; any name Linux has can be used."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hawse.api import Params
from hawse.api import files as api
from hawse.api.paths import from_text, to_text
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.client.calls.input_stream import BytesLike
from hawse.client.files import local_files as transfers
from hawse.client.files.local_files import Progress
from hawse.client.files.transfer_streams import FileReader, FileWriter, ReadCall, WriteCall
from hawse.wire import HawseError

PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]

LIMIT = 256 << 20  # bytes that `read` keeps: more is for `open_read`


def wire_path(path: PathLike) -> str:
    """A path as it travels (docs/wire.md, Files)."""
    return to_text(os.fsdecode(path))


class Files:
    """The files of a sandbox. A relative path begins in its workspace, or in `root` if this handle has one.

    Raises `HawseError`: `not_found`, `is_directory`, `not_directory`, `permission_denied` (also what leaves the root),
    `conflict` (it is taken, it has changed), `no_space`, `too_large`, `invalid_params`, `io_error`; and what ends a
    client.
    """

    def __init__(self, calls: CallTable, sandbox: str, *, window: int, root: PathLike | None = None) -> None:
        self._calls = calls
        self._sandbox = sandbox
        self._window = window
        self._root = None if root is None else wire_path(root)

    def within(self, root: PathLike) -> "Files":
        """The same, where no path leaves the directory `root`: not by `..`, not by a symlink."""
        return Files(self._calls, self._sandbox, window=self._window, root=root)

    # ---- content

    def open_read(
        self, path: PathLike, *, offset: int = 0, length: int | None = None, version: str | None = None
    ) -> FileReader:
        """Stream a file's bytes `offset` to `offset + length`, of that `version` if one is given."""
        call = ReadCall(
            self._sandbox,
            wire_path(path),
            root=self._root,
            offset=offset,
            length=length,
            version=version,
            window=self._window,
        )
        return FileReader(self._calls, call)

    def open_write(self, path: PathLike, *, mode: int | None = None, parents: bool = True) -> FileWriter:
        """Stream into a file that is replaced when the `async with` ends; an error inside leaves the old one."""
        call = WriteCall(self._sandbox, wire_path(path), root=self._root, mode=mode, parents=parents)
        return FileWriter(self._calls, call)

    async def read(self, path: PathLike, *, max_size: int = LIMIT) -> bytes:
        """A file's content, all of one version. Raises `too_large` beyond `max_size` bytes."""
        content = bytearray()
        async with self.open_read(path) as file:
            size = file.info.size
            async for chunk in file:
                content += chunk
                if max(size, len(content)) > max_size:
                    raise HawseError("too_large", f"more than {max_size} bytes", admitted="yes")
        return bytes(content)

    async def write(
        self,
        path: PathLike,
        data: BytesLike | AsyncIterable[BytesLike],
        *,
        mode: int | None = None,
        parents: bool = True,
    ) -> api.FileTransferResult:
        """Replace a file, at once and atomically: `data` is bytes, or bytes to come. It keeps its mode without `mode`.

        Directories that are missing are made, unless not `parents`. Returns its size and version.
        """
        async with self.open_write(path, mode=mode, parents=parents) as file:
            if isinstance(data, AsyncIterable):
                async for chunk in data:
                    await file.write(chunk)
            else:
                await file.write(data)
        return file.result

    async def read_text(self, path: PathLike, *, encoding: str = "utf-8", errors: str = "strict") -> str:
        """A file's text. Raises `UnicodeDecodeError` if it is none, unless `errors` says otherwise."""
        return (await self.read(path)).decode(encoding, errors)

    async def write_text(
        self, path: PathLike, text: str, *, encoding: str = "utf-8", mode: int | None = None, parents: bool = True
    ) -> api.FileTransferResult:
        """Replace a file with text: see `write`."""
        return await self.write(path, text.encode(encoding), mode=mode, parents=parents)

    async def upload(
        self, local: PathLike, remote: PathLike, *, mode: int | None = None, progress: Progress | None = None
    ) -> api.FileTransferResult:
        """Send a local file. Where a line is lost it goes on from what had arrived. `progress`: see `Progress`."""
        return await transfers.upload(Path(os.fsdecode(local)), self.open_write(remote, mode=mode), progress)

    async def download(self, remote: PathLike, local: PathLike, *, progress: Progress | None = None) -> int:
        """Fetch a file into a local one, which appears when it is whole; return its size.

        What came stays beside it, as `LOCAL.VERSION.part`, if this fails: the next download of the same version goes on
        from there.
        """
        info = await self.stat(remote)
        return await transfers.download(
            info,
            lambda offset: self.open_read(remote, offset=offset, version=info.version),
            Path(os.fsdecode(local)),
            progress,
        )

    # ---- what there is

    async def stat(self, path: PathLike, *, follow: bool = True) -> api.FileStatResult:
        """What is there: `type`, `size`, `mode`, `uid`, `gid`, `mtime`, `version`. `follow`: symlinks."""
        return _local(await self._request(api.FileStat(**self._target(path), follow=follow)))

    async def exists(self, path: PathLike, *, follow: bool = True) -> bool:
        """Whether there is something. A symlink to nothing is nothing, unless not `follow`."""
        return (await self._request(api.FileExists(**self._target(path), follow=follow))).exists

    def list(
        self,
        path: PathLike = ".",
        *,
        recursive: bool = False,
        depth: int | None = None,
        hidden: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        on_error: Callable[[api.FileFailure], object] | None = None,
    ) -> AsyncIterator[api.FileEntry]:
        """Iterate over what is in a directory, as the disk has it: a directory of any size costs the same memory.

        Paths are relative to `path`. Symlinks are told and not followed. Globs: `*.py` is for a name at any depth,
        `src/**/*.py` for the path. What cannot be looked at is raised, or told to `on_error`, and the rest goes on.
        """
        params = self._params(path, recursive=recursive, depth=depth, hidden=hidden)
        params |= {"include": _globs(include), "exclude": _globs(exclude)}
        return self._entries(params, on_error)

    def walk(self, path: PathLike = ".", **options: Any) -> AsyncIterator[api.FileEntry]:
        """`list` of all below."""
        return self.list(path, recursive=True, **options)

    async def _entries(
        self, params: dict[str, Any], on_error: Callable[[api.FileFailure], object] | None
    ) -> AsyncIterator[api.FileEntry]:
        shapes = {"entries": api.FileEntries, "failed": api.FileFailure}
        call = EventStreamCall("file.list", params, self._sandbox, shapes, api.FileListResult, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _tell(item, on_error)
            elif isinstance(item, api.FileEntries):
                for entry in item.entries:
                    yield _local(entry)

    async def search(
        self,
        pattern: str | None = None,
        path: PathLike = ".",
        *,
        literal: bool = False,
        ignore_case: bool = False,
        hidden: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        limit: int = 1000,
        on_error: Callable[[api.FileFailure], object] | None = None,
    ) -> AsyncIterator[api.SearchMatch]:
        """Iterate over the lines that match `pattern` (RE2's syntax), or without one over what the globs name.

        Paths are relative to `path`; globs and `on_error` as in `list`. Binary files are passed over. Raises
        `too_large` after `limit` matches if there are more.
        """
        params = self._params(path, pattern=pattern, literal=literal, ignore_case=ignore_case, hidden=hidden)
        params |= {"include": _globs(include), "exclude": _globs(exclude), "limit": limit}
        shapes = {"matches": api.SearchMatches, "failed": api.FileFailure}
        call = EventStreamCall("file.search", params, self._sandbox, shapes, api.FileSearchResult, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _tell(item, on_error)
            elif isinstance(item, api.SearchMatches):
                for match in item.matches:
                    yield msgspec.structs.replace(match, path=from_text(match.path))
        if call.done.result().truncated:
            raise HawseError("too_large", f"more than {limit} matches", admitted="yes")

    # ---- changes

    async def mkdir(self, path: PathLike, *, parents: bool = False, mode: int | None = None) -> bool:
        """Make a directory; with `parents` those above too, and then one that is there is fine: False."""
        return (await self._request(api.FileMkdir(**self._target(path), parents=parents, mode=mode))).created

    async def chmod(self, path: PathLike, mode: int) -> None:
        """Set permission bits."""
        await self._request(api.FileChmod(**self._target(path), mode=mode))

    async def delete(self, path: PathLike, *, recursive: bool = False) -> int:
        """Delete a file or a symlink, or with `recursive` a directory with all in it; return how much it was."""
        return (await self._request(api.FileDelete(**self._target(path), recursive=recursive))).deleted

    async def rename(self, path: PathLike, to: PathLike, *, overwrite: bool = False) -> None:
        """Rename within a file system, atomically. What is at `to` is `conflict`, unless `overwrite`."""
        await self._request(api.FileRename(**self._target(path), to=wire_path(to), overwrite=overwrite))

    async def move(self, path: PathLike, to: PathLike, *, overwrite: bool = False) -> None:
        """Rename, or across file systems copy and delete."""
        await self._request(api.FileMove(**self._target(path), to=wire_path(to), overwrite=overwrite))

    async def copy(
        self, path: PathLike, to: PathLike, *, recursive: bool = False, overwrite: bool = False
    ) -> api.FileCopyResult:
        """Copy; it appears at `to` when it is whole. Modes, times and symlinks stay. Returns what was copied."""
        params = api.FileCopy(**self._target(path), to=wire_path(to), recursive=recursive, overwrite=overwrite)
        return await self._request(params)

    # ---- archives

    async def archive(
        self,
        path: PathLike = ".",
        *,
        format: api.ArchiveFormat = "tar.gz",
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> AsyncIterator[bytes]:
        """Iterate over the bytes of an archive of a directory or a file, made as it is read. Symlinks stay symlinks.

        It cannot be resumed: a line that is lost is `interrupted`.
        """
        params = self._params(path, format=format, include=_globs(include), exclude=_globs(exclude))
        call = EventStreamCall("file.archive", params, self._sandbox, {}, api.FileArchiveResult, window=self._window)
        async for item in iterate(self._calls, call):
            assert isinstance(item, bytes)
            yield item

    # ---- inside

    def _params(self, path: PathLike, **more: Any) -> dict[str, Any]:
        return {"path": wire_path(path), "root": self._root, **more}

    def _target(self, path: PathLike) -> dict[str, Any]:
        return {"path": wire_path(path), "root": self._root}

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)


E = TypeVar("E", bound=api.FileEntry)


def _local(entry: E) -> E:
    """The same with paths as Python has them."""
    target = None if entry.target is None else from_text(entry.target)
    return msgspec.structs.replace(entry, path=from_text(entry.path), target=target)


def _globs(globs: Sequence[str] | None) -> "list[str] | None":
    return None if globs is None else [to_text(glob) for glob in globs]


def _tell(failed: api.FileFailure, on_error: Callable[[api.FileFailure], object] | None) -> None:
    failed = msgspec.structs.replace(failed, path=from_text(failed.path))
    if on_error is None:
        raise HawseError(failed.code, failed.message, admitted="yes", details={"path": failed.path})
    on_error(failed)
