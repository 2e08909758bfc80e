"""`box.files`: the files of a sandbox. Paths are `str`, `bytes` or `os.PathLike`; any name that Linux permits works."""

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from hawse.api import files as api
from hawse.api.paths import from_text, to_text
from hawse.client.base.causes import NotFoundError, TooLargeError
from hawse.client.base.errors import fresh
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.client.calls.input_stream import BytesLike
from hawse.client.files import local_files
from hawse.client.files.changes import FileChanges, PathLike
from hawse.client.files.local_files import Progress
from hawse.client.files.resumable_upload import ResumableUpload
from hawse.client.files.transfer_streams import FileReader, FileWriter, ReadCall, WriteCall
from hawse.wire import HawseError

UNNAMED = "-"  # stands for an input stream that the call names
LIMIT = 256 << 20  # bytes that `read` keeps: for more, use `open_read`


class Files(FileChanges):
    """The files of a sandbox. A relative path begins in its workspace, or in `root` if this handle has one.

    The methods raise `HawseError`: `not_found`, `is_directory`, `not_directory`, `permission_denied` (also for a path
    that leaves the root), `conflict` (the target exists, the file has changed), `no_space`, `too_large`,
    `invalid_params`, `io_error`; and what closed the client.
    """

    def within(self, root: PathLike) -> "Files":
        """Return the same handle for paths that cannot leave the directory `root`, neither by `..` nor by a symlink."""
        return Files(self._calls, self._sandbox, window=self._window, root=root)

    # ---- content

    def open_read(
        self, path: PathLike, *, offset: int = 0, length: int | None = None, version: str | None = None
    ) -> FileReader:
        """Stream a file's bytes.

        Args:
            path: The file.
            offset: The offset of the first byte.
            length: The number of bytes; None: to the end.
            version: Only of this version; any other is a `conflict`.
        """
        params = api.FileRead(**self._target(path), offset=offset, length=length, version=version)
        return FileReader(self._calls, ReadCall(params, sandbox=self._sandbox, window=self._window))

    def open_write(
        self,
        path: PathLike,
        *,
        mode: int | None = None,
        parents: bool = True,
        if_version: str | None = None,
        offset: int | None = None,
    ) -> FileWriter:
        """Stream into a file, which is replaced when the `async with` block ends; after an error the old one stays.

        Args:
            path: The file.
            mode: Its permission bits; None: those that it has.
            parents: Whether to create missing directories.
            if_version: The version that the file must have at the end, otherwise `conflict`; "": it must not exist.
            offset: Continue the file from there on in place, instead of replacing it; a shorter one is a `conflict`.
                What was written stays after an error. With 0 it need not exist.
        """
        params = api.FileWrite(
            **self._target(path), mode=mode, parents=parents, if_version=if_version, offset=offset, input=UNNAMED
        )
        return FileWriter(self._calls, WriteCall(params, sandbox=self._sandbox))

    async def read(self, path: PathLike, *, max_size: int = LIMIT) -> bytes:
        """Return a file's content, all of one version. Raises `too_large` beyond `max_size` bytes."""
        content = bytearray()
        async with self.open_read(path) as file:
            size = file.info.size
            async for chunk in file:
                content += chunk
                if max(size, len(content)) > max_size:
                    raise TooLargeError(f"the file has more than {max_size} bytes", admitted="yes")
        return bytes(content)

    async def write(
        self,
        path: PathLike,
        data: BytesLike | AsyncIterable[BytesLike],
        *,
        mode: int | None = None,
        parents: bool = True,
        if_version: str | None = None,
    ) -> api.FileTransferResult:
        """Replace a file atomically; return its size and version.

        Args:
            path: The file.
            data: The content, as bytes or as an async iterable of bytes.
            mode: Its permission bits; None: those that it has.
            parents: Whether to create missing directories.
            if_version: The version that the file must have, as `stat` and `write` return it; "": it must not exist.

        Raises:
            HawseError: `conflict` if the file has another version than `if_version`.
            TypeError: `data` is a str, which `write_text` encodes, or is not bytes. Nothing is changed.
        """
        if isinstance(data, str):
            raise TypeError("data is a str: use write_text, or encode it")
        if not isinstance(data, AsyncIterable):
            data = memoryview(data)  # before directories are created
        async with self.open_write(path, mode=mode, parents=parents, if_version=if_version) as file:
            if isinstance(data, AsyncIterable):
                async for chunk in data:
                    await file.write(chunk)
            else:
                await file.write(data)
        return file.result

    async def read_text(self, path: PathLike, *, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return a file's text. Raises `UnicodeDecodeError` if it is not `encoding`, unless `errors` permits it."""
        return (await self.read(path)).decode(encoding, errors)

    async def write_text(
        self,
        path: PathLike,
        text: str,
        *,
        encoding: str = "utf-8",
        mode: int | None = None,
        parents: bool = True,
        if_version: str | None = None,
    ) -> api.FileTransferResult:
        """Replace a file with text: see `write`."""
        return await self.write(path, text.encode(encoding), mode=mode, parents=parents, if_version=if_version)

    async def upload(
        self,
        local: PathLike,
        remote: PathLike,
        *,
        mode: int | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> api.FileTransferResult:
        """Send a local file. After a lost connection it continues with what had not arrived.

        With `resume`, the bytes that have arrived stay beside the file as `.hawse-….part` if the connection is lost for
        good or the caller ends: the next upload of the same local file, unchanged, to the same place continues after
        them. An upload removes the parts of others to this place that are older than a day. A new file then belongs to
        the user of the sandbox; a symlink or a special file at `remote` is written without `resume`.

        Args:
            local: The file to send.
            remote: The file in the sandbox, which is replaced when all of it has arrived.
            mode: Its permission bits; None: those that it has.
            resume: Whether another call can continue this one.
            progress: See `Progress`.

        Raises:
            OSError: The local file cannot be read.
            HawseError: `conflict` if the local file is changed during an upload with `resume`.
        """
        path = Path(os.fsdecode(local))
        if resume:
            old = await self._replaced(remote)
            if old is None or old.type == "file":
                mode = mode if mode is not None or old is None else old.mode & 0o7777
                return await ResumableUpload(self, path, remote).run(mode, progress)
        return await local_files.upload(path, self.open_write(remote, mode=mode), progress)

    async def _replaced(self, path: PathLike) -> api.FileStatResult | None:
        try:
            return await self.stat(path, follow=False)
        except NotFoundError:
            return None

    async def download(self, remote: PathLike, local: PathLike, *, progress: Progress | None = None) -> int:
        """Fetch a file; return its size. The local file appears when it is complete.

        If this fails, the bytes received so far stay beside it as `LOCAL.VERSION.part`: the next download of the same
        version continues after them.

        Args:
            remote: The file in the sandbox.
            local: The local file.
            progress: See `Progress`.
        """
        info = await self.stat(remote)
        return await local_files.download(
            info,
            lambda offset: self.open_read(remote, offset=offset, version=info.version),
            Path(os.fsdecode(local)),
            progress,
        )

    # ---- looking

    async def stat(self, path: PathLike, *, follow: bool = True) -> api.FileStatResult:
        """Return what is at `path`. A symlink is followed unless not `follow`."""
        return _local(await self._request(api.FileStat(**self._target(path), follow=follow)))

    async def exists(self, path: PathLike, *, follow: bool = True) -> bool:
        """Return whether `path` exists. A dangling symlink does not, unless not `follow`."""
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
        """Iterate over the entries of a directory, in the order of the disk. Memory does not grow with the directory.

        Args:
            path: The directory. The paths of entries are relative to it.
            recursive: Whether to descend. Symlinks are not followed.
            depth: The number of levels to descend at most.
            hidden: Whether names that begin with a dot are included.
            include: Globs: `*.py` is for a name at any depth, `src/**/*.py` for the path.
            exclude: Globs of what is left out.
            on_error: Is called for what cannot be read, and the iteration continues; None: it raises.
        """
        params = api.FileList(
            **self._target(path),
            recursive=recursive,
            depth=depth,
            hidden=hidden,
            include=_globs(include),
            exclude=_globs(exclude),
        )
        return self._entries(params, on_error)

    async def _entries(
        self, params: api.FileList, on_error: Callable[[api.FileFailure], object] | None
    ) -> AsyncIterator[api.FileEntry]:
        call = EventStreamCall(params, sandbox=self._sandbox, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _report(item, on_error)
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
        """Iterate over the lines that match `pattern`; without a pattern, over the files that the globs select.

        Paths are relative to `path`. Binary files are skipped.

        Args:
            pattern: A regular expression in RE2's syntax.
            path: The directory to search.
            literal: Whether `pattern` is text, not a regular expression.
            ignore_case: Whether case is ignored.
            hidden: Whether names that begin with a dot are included.
            include: Globs, as for `list`.
            exclude: Globs of what is left out.
            limit: The number of matches at most.
            on_error: As for `list`.

        Raises:
            HawseError: `too_large` after `limit` matches if there are more.
        """
        params = api.FileSearch(
            **self._target(path),
            pattern=pattern,
            literal=literal,
            ignore_case=ignore_case,
            hidden=hidden,
            include=_globs(include),
            exclude=_globs(exclude),
            limit=limit,
        )
        call = EventStreamCall(params, sandbox=self._sandbox, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _report(item, on_error)
            elif isinstance(item, api.SearchMatches):
                for match in item.matches:
                    yield msgspec.structs.replace(match, path=from_text(match.path))
        if call.done.result().truncated:
            raise TooLargeError(f"there are more than {limit} matches", admitted="yes")

    # ---- archives

    async def archive(
        self,
        path: PathLike = ".",
        *,
        format: api.ArchiveFormat = "tar.gz",
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> AsyncIterator[bytes]:
        """Iterate over the bytes of an archive, which is made while it is read. Symlinks are kept.

        It cannot be resumed: a lost connection raises `interrupted`.

        Args:
            path: A directory or a file.
            format: `tar`, `tar.gz` or `zip`.
            include: Globs of what is included, as for `list`.
            exclude: Globs of what is left out.
        """
        params = api.FileArchive(**self._target(path), format=format, include=_globs(include), exclude=_globs(exclude))
        ignored = [api.FileArchiveOpened]
        call = EventStreamCall(params, sandbox=self._sandbox, ignored=ignored, window=self._window)
        async for item in iterate(self._calls, call):
            assert isinstance(item, bytes)
            yield item


E = TypeVar("E", bound=api.FileEntry)


def _local(entry: E) -> E:
    """The same entry, with paths as Python has them."""
    target = None if entry.target is None else from_text(entry.target)
    return msgspec.structs.replace(entry, path=from_text(entry.path), target=target)


def _globs(globs: Sequence[str] | None) -> "list[str] | None":
    return None if globs is None else [to_text(glob) for glob in globs]


def _report(failed: api.FileFailure, on_error: Callable[[api.FileFailure], object] | None) -> None:
    failed = msgspec.structs.replace(failed, path=from_text(failed.path))
    if on_error is None:
        raise fresh(HawseError(failed.code, failed.message, admitted="yes", details={"path": failed.path}))
    on_error(failed)
