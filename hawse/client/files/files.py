"""`box.files`: the files of a sandbox. Paths are `str`, `bytes` or `os.PathLike`; any name that Linux permits works."""

import os
import stat
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path

from hawse.api import files as api
from hawse.client.base.call_errors import NotFoundError, TooLargeError
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.client.calls.input_stream import BytesLike
from hawse.client.files import local_files
from hawse.client.files.changes import PathLike
from hawse.client.files.local_files import Progress
from hawse.client.files.looking import FileLooking, globs
from hawse.client.files.places import LocalPlace, RemotePlace
from hawse.client.files.resumable_upload import ResumableUpload
from hawse.client.files.transfer_streams import FileReader, FileWriter, ReadCall, WriteCall
from hawse.client.files.tree import OnFailure
from hawse.client.files.tree_transfer import TreeResult, TreeTransfer
from hawse.holes import has_holes

UNNAMED = "-"  # represents an input stream that the call names
LIMIT = 256 << 20  # bytes that `read` keeps: for more, use `open_read`


class Files(FileLooking):
    """The files of a sandbox. A relative path starts in its workspace, or in `root` if this handle has one.

    The methods raise `HawseError`: `not_found`, `is_directory`, `not_directory`, `permission_denied` (also for a path
    that leaves the root), `conflict` (the target exists, the file has changed), `no_space`, `too_large`,
    `invalid_params`, `io_error`; and the error that closed the client.
    """

    def within(self, root: PathLike) -> "Files":
        """Return the same handle for paths that cannot leave the directory `root`, neither by `..` nor by a symlink."""
        return Files(self._calls, self._sandbox, window=self._window, root=root, session=self._session)

    def in_session(self, session: str) -> "Files":
        """Return the same handle for paths that start in the directory that a session is in at each call.

        Args:
            session: The id of the session. If it has ended, calls raise `exited`.
        """
        return Files(self._calls, self._sandbox, window=self._window, root=self._root, session=session)

    # ---- content

    def open_read(
        self, path: PathLike, *, offset: int = 0, length: int | None = None, version: str | None = None
    ) -> FileReader:
        """Stream a file's bytes.

        Args:
            path: The file.
            offset: The offset of the first byte.
            length: The number of bytes; None means to the end.
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
        mtime_ns: int | None = None,
        sparse: bool = False,
    ) -> FileWriter:
        """Stream into a file, which is replaced when the `async with` block ends; after an error the old one remains.

        Args:
            path: The file.
            mode: Permission bits; None keeps the existing file's.
            parents: Whether to create missing directories.
            if_version: The version that the file must have at the end, otherwise `conflict`; "": it must not exist.
            offset: Write in place from this offset, instead of replacing the file; a shorter file is a `conflict`.
                Written bytes remain after an error. With 0 the file need not exist.
            mtime_ns: The time of its last modification, in nanoseconds since 1970; None means the current time.
            sparse: Whether to turn blocks of zeros into holes.
        """
        params = api.FileWrite(
            **self._target(path),
            mode=mode,
            parents=parents,
            if_version=if_version,
            offset=offset,
            mtime_ns=mtime_ns,
            sparse=sparse,
            input=UNNAMED,
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
            mode: Permission bits; None keeps the existing file's.
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
        """Return a file's text. Raises `UnicodeDecodeError` for invalid `encoding`, unless `errors` permits it."""
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
        preserve: bool = False,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> api.FileTransferResult:
        """Send a local file. After a lost connection it continues with what had not arrived.

        With `resume`, received bytes remain beside the file as `.hawse-….part` if the connection is lost for good or
        the caller ends: the next upload of the same, unchanged local file to the same path continues after them. An
        upload removes other parts for this path that are older than a day. A new file then belongs to the user of the
        sandbox; a symlink or a special file at `remote` is written without `resume`.

        Args:
            local: The file to send.
            remote: The file in the sandbox, which is replaced when it has arrived completely.
            mode: Permission bits; None keeps the existing file's.
            preserve: Whether to preserve the mode, the time and the holes of the local file.
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
                if mode is None and old is not None and not preserve:
                    mode = old.mode & 0o7777
                return await ResumableUpload(self, path, remote).run(mode, progress, preserve=preserve)

        def open_write(status: os.stat_result) -> FileWriter:
            if not preserve:
                return self.open_write(remote, mode=mode)
            kept = stat.S_IMODE(status.st_mode) if mode is None else mode
            sparse = has_holes(status.st_size, status.st_blocks * 512)
            return self.open_write(remote, mode=kept, mtime_ns=status.st_mtime_ns, sparse=sparse)

        return await local_files.upload(path, open_write, progress)

    async def _replaced(self, path: PathLike) -> api.FileStatResult | None:
        try:
            return await self.stat(path, follow=False)
        except NotFoundError:
            return None

    async def download(
        self, remote: PathLike, local: PathLike, *, preserve: bool = False, progress: Progress | None = None
    ) -> int:
        """Fetch a file; return its size. The local file appears when it is complete.

        After a failure, the received bytes remain beside it as `.hawse-….part`: the next download of the same version
        continues after them.

        Args:
            remote: The file in the sandbox.
            local: The local file.
            preserve: Whether to preserve the mode, the time and the holes of the remote file. The bits set-user-ID,
                set-group-ID and sticky are never set.
            progress: See `Progress`.
        """
        info = await self.stat(remote)
        return await local_files.download(
            info,
            lambda offset: self.open_read(remote, offset=offset, version=info.version),
            Path(os.fsdecode(local)),
            progress,
            preserve=preserve,
        )

    async def upload_tree(
        self,
        local: PathLike,
        remote: PathLike,
        *,
        progress: Progress | None = None,
        on_error: OnFailure | None = None,
    ) -> TreeResult:
        """Send a directory with its content, or a file.

        Modes, times, holes and symlinks are preserved. FIFOs, sockets and devices are skipped. Existing files and
        symlinks are replaced; other files of an existing directory remain. Repeating an interrupted call continues it.

        Args:
            local: The directory to send.
            remote: The directory in the sandbox, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with a path below `local` and the exception if it cannot be copied; the rest is copied.
                None raises the exception.

        Raises:
            OSError: A local file cannot be read.
            HawseError: A file in the sandbox cannot be written.
        """
        ends = LocalPlace(Path(os.fsdecode(local))), RemotePlace(self, os.fsdecode(remote))
        return await TreeTransfer(*ends, progress=progress, on_error=on_error).run()

    async def download_tree(
        self,
        remote: PathLike,
        local: PathLike,
        *,
        progress: Progress | None = None,
        on_error: OnFailure | None = None,
    ) -> TreeResult:
        """Fetch a directory with its content, or a file: see `upload_tree`.

        Nothing is written through a symlink below `local`.

        Args:
            remote: The directory in the sandbox.
            local: The local directory, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with a path below `remote` and the exception if it cannot be copied; the rest is copied.
                None raises the exception.

        Raises:
            OSError: A local file cannot be written.
            HawseError: A file in the sandbox cannot be read.
        """
        ends = RemotePlace(self, os.fsdecode(remote)), LocalPlace(Path(os.fsdecode(local)))
        return await TreeTransfer(*ends, progress=progress, on_error=on_error).run()

    # ---- archives

    async def archive(
        self,
        path: PathLike = ".",
        *,
        format: api.ArchiveFormat = "tar.gz",
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> AsyncIterator[bytes]:
        """Iterate over the bytes of an archive, which is created while it is read. Symlinks are preserved.

        It cannot be resumed: a lost connection raises `interrupted`.

        Args:
            path: A directory or a file.
            format: `tar`, `tar.gz` or `zip`.
            include: Globs of included files, as for `list`.
            exclude: Globs of excluded files.
        """
        params = api.FileArchive(**self._target(path), format=format, include=globs(include), exclude=globs(exclude))
        ignored = [api.FileArchiveOpened]
        call = EventStreamCall(params, sandbox=self._sandbox, ignored=ignored, window=self._window)
        async for item in iterate(self._calls, call):
            assert isinstance(item, bytes)
            yield item
