"""`box.files`: the files in a sandbox. Paths are `str`, `bytes` or `os.PathLike`; any name that Linux allows works."""

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
from hawse.client.files.endpoints import LocalEndpoint, RemoteEndpoint
from hawse.client.files.local_files import Progress
from hawse.client.files.queries import FileQueries, globs
from hawse.client.files.resumable_upload import ResumableUpload
from hawse.client.files.transfer_streams import FileReader, FileWriter, ReadCall, WriteCall
from hawse.client.files.tree import OnFailure
from hawse.client.files.tree_transfer import TreeResult, TreeTransfer
from hawse.sparse_files import has_holes

UNNAMED = "-"  # placeholder; the call replaces it with its input stream's id
LIMIT = 256 << 20  # maximum number of bytes `read` returns; for more, use `open_read`


class Files(FileQueries):
    """The files in a sandbox. Relative paths are resolved against its workspace, or against `root` if this handle has
    one.

    The methods raise `HawseError`: `not_found`, `is_directory`, `not_directory`, `permission_denied` (also if a path
    leaves the root), `conflict` (if the target exists or the file has changed), `no_space`, `too_large`,
    `invalid_params`, `io_error`, and the error that closed the client.
    """

    def within(self, root: PathLike) -> "Files":
        """Return a handle whose paths cannot leave the directory `root`, whether through `..` or a symlink."""
        return Files(self._calls, self._sandbox, window=self._window, root=root, session=self._session)

    def in_session(self, session: str) -> "Files":
        """Return a handle whose relative paths are resolved against a session's current directory at the time of each
        call.

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
            length: The number of bytes; None reads to the end.
            version: The required version; any other version raises `conflict`.
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
        """Stream into a file. The file is replaced when the `async with` block ends; after an error, the old file
        remains.

        Args:
            path: The file.
            mode: Permission bits; None keeps the existing file's.
            parents: Whether to create missing directories.
            if_version: The version that the file must have at the end, or "" if it must not exist; otherwise `conflict`
                is raised.
            offset: Offset where writing in place starts; None replaces the file. If the file is shorter, `conflict` is
                raised. Bytes already written remain after an error. With 0, the file doesn't have to exist.
            mtime_ns: Its modification time, in nanoseconds since 1970; None means the current time.
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
        """Return a file's complete content, all from the same version. Raises `too_large` if it exceeds `max_size`
        bytes.
        """
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
            if_version: The version that the file must have, as returned by `stat` and `write`, or "" if it must not
                exist.

        Raises:
            HawseError: `conflict` if the file's version is not `if_version`.
            TypeError: `data` is not bytes. For a str, use `write_text`. Nothing has been changed.
        """
        if isinstance(data, str):
            raise TypeError("data is a str: use write_text, or encode it")
        if not isinstance(data, AsyncIterable):
            data = memoryview(data)  # raises TypeError for a wrong type before any directory is created
        async with self.open_write(path, mode=mode, parents=parents, if_version=if_version) as file:
            if isinstance(data, AsyncIterable):
                async for chunk in data:
                    await file.write(chunk)
            else:
                await file.write(data)
        return file.result

    async def read_text(self, path: PathLike, *, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return a file's text. Raises `UnicodeDecodeError` if the file is not valid in `encoding`, unless `errors`
        allows it.
        """
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
        """Replace a file with text. See `write`."""
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
        """Send a local file. If the connection is lost, the upload later continues with the bytes that haven't arrived.

        With `resume`, the received bytes are kept beside the remote file as `.hawse-….part` if the connection is lost
        permanently or the program exits. The next upload of the same, unchanged local file to the same path picks up
        from there. Each upload removes other `.part` files for this path that are more than a day old. A new file
        belongs to the user that the sandbox's programs run as. `resume` has no effect if `remote` is a symlink or a
        special file.

        Args:
            local: The file to send.
            remote: The file in the sandbox, which is replaced once all bytes have arrived.
            mode: Permission bits; None keeps the existing file's.
            preserve: Whether to preserve the local file's mode, modification time and holes.
            resume: Whether another call can resume this one.
            progress: See `Progress`.

        Raises:
            OSError: The local file cannot be read.
            HawseError: `conflict` if the local file changes during an upload with `resume`.
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
        """Download a file and return its size. The local file appears once the download is complete.

        If the download fails, the received bytes are kept beside the local file as `.hawse-….part`, and the next
        download of the same version picks up from there.

        Args:
            remote: The file in the sandbox.
            local: The local file.
            preserve: Whether to preserve the remote file's mode, modification time and holes. The set-user-ID,
                set-group-ID and sticky bits are never set.
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
        """Send a file, or a directory and everything in it.

        Modes, modification times, holes and symlinks are preserved. FIFOs, sockets and devices are skipped. Existing
        files and symlinks are replaced; other files in an existing directory are kept. To resume an interrupted call,
        repeat it.

        Args:
            local: The directory to send.
            remote: The directory in the sandbox, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with each path below `local` that cannot be copied, and the exception. The other paths are
                still copied. If None, the exception is raised.

        Raises:
            OSError: A local file cannot be read.
            HawseError: A file in the sandbox cannot be written.
        """
        ends = LocalEndpoint(Path(os.fsdecode(local))), RemoteEndpoint(self, os.fsdecode(remote))
        return await TreeTransfer(*ends, progress=progress, on_error=on_error).run()

    async def download_tree(
        self,
        remote: PathLike,
        local: PathLike,
        *,
        progress: Progress | None = None,
        on_error: OnFailure | None = None,
    ) -> TreeResult:
        """Download a file, or a directory and everything in it. See `upload_tree`.

        Nothing is written through a symlink below `local`.

        Args:
            remote: The directory in the sandbox.
            local: The local directory, which is created if it is missing.
            progress: See `Progress`.
            on_error: Called with each path below `remote` that cannot be copied, and the exception. The other paths are
                still copied. If None, the exception is raised.

        Raises:
            OSError: A local file cannot be written.
            HawseError: A file in the sandbox cannot be read.
        """
        ends = RemoteEndpoint(self, os.fsdecode(remote)), LocalEndpoint(Path(os.fsdecode(local)))
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
        """Iterate over the bytes of an archive that is created on the fly. Symlinks are preserved.

        The iteration cannot be resumed: if the connection is lost, `interrupted` is raised.

        Args:
            path: A directory or a file.
            format: `tar`, `tar.gz` or `zip`.
            include: Globs for files to include, as in `list`.
            exclude: Globs for files to exclude.
        """
        params = api.FileArchive(**self._target(path), format=format, include=globs(include), exclude=globs(exclude))
        ignored = [api.FileArchiveOpened]
        call = EventStreamCall(params, sandbox=self._sandbox, ignored=ignored, window=self._window)
        async for item in iterate(self._calls, call):
            assert isinstance(item, bytes)
            yield item
