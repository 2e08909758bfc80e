"""The `file.*` methods (docs/wire.md section 9)."""

import os
from collections.abc import Callable

from hawse.api import Nothing, files as api
from hawse.api.files import FileEdit, FileEditResult, FileExtract
from hawse.api.paths import from_text, to_text
from hawse.rpc import IdempotencyTable, handles, serves, subject_of
from hawse.rpc.call import ServerCall
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.archive import archive
from hawse_runtime.files.atomic_replace import make_parents, temporary_name
from hawse_runtime.files.content_type import detected
from hawse_runtime.files.copy import copy, move, rename_
from hawse_runtime.files.delete import delete
from hawse_runtime.files.edit import edit
from hawse_runtime.files.extract import extract
from hawse_runtime.files.initial_files import InitialFiles
from hawse_runtime.files.listing import listing
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.read import read
from hawse_runtime.files.rooted_path import PathResolver, RootedPath
from hawse_runtime.files.search import search
from hawse_runtime.files.stat import fields, set_mtime, type_of, version_of
from hawse_runtime.files.write import UploadContext, UploadLimits, Uploads
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.proc import PROC
from hawse_runtime.rpc.generator_stream import GeneratorStream, Work
from hawse_runtime.rpc.stream_slots import StreamSlots


class FileMethods:
    """The methods, along with the threads, quota and uploads they share."""

    def __init__(
        self,
        environment: Environment,
        disk: ThreadPool,
        tasks: Tasks,
        idempotency: IdempotencyTable,
        *,
        root: str | None = None,
        quota: int | None = None,
        private: Folder | None = None,
        limits: UploadLimits,
        slots: StreamSlots,
        session_directory: Callable[[str], str],
    ) -> None:
        """Create the methods.

        Args:
            environment: Provides the workspace for resolving relative paths.
            disk: The thread pool for file access.
            tasks: Owns the calls' tasks.
            idempotency: Stores the outcomes of keyed uploads.
            root: The directory that all calls are confined to; None means no confinement.
            quota: The maximum number of bytes in the root or, if there is none, in the workspace; None means no limit.
            private: The runtime's private directory, if any.
            limits: Limits on uploads.
            slots: Limits the number of open reads, listings, searches and archives.
            session_directory: Returns a session's current directory.
        """
        self._session_directory = session_directory
        self._slots = slots
        self._resolver = PathResolver(environment, root)
        self._disk = disk
        self._tasks = tasks
        self.quota = Quota(root or str(environment.workspace), quota)
        context = UploadContext(disk=disk, tasks=tasks, quota=self.quota, limits=limits)
        self.uploads = Uploads(context, idempotency)
        self.initial = InitialFiles(self._resolver, disk, private)

    def close(self) -> None:
        self.uploads.close()

    @handles(api.FileStat)
    async def _stat(self, params: api.FileStat) -> api.FileStatResult:
        return await self._disk.run(stat_, self._place(params), params)

    @handles(api.FileExists)
    async def _exists(self, params: api.FileExists) -> api.FileExistsResult:
        return await self._disk.run(exists, self._place(params), params)

    @handles(api.FileMkdir)
    async def _mkdir(self, params: api.FileMkdir) -> api.FileMkdirResult:
        return await self._disk.run(mkdir, self._place(params), params)

    @handles(api.FileChmod)
    async def _chmod(self, params: api.FileChmod) -> Nothing:
        return await self._disk.run(chmod, self._place(params), params)

    @handles(api.FileUtime)
    async def _utime(self, params: api.FileUtime) -> Nothing:
        return await self._disk.run(utime, self._place(params), params)

    @handles(api.FileSymlink)
    async def _symlink(self, params: api.FileSymlink) -> Nothing:
        return await self._disk.run(symlink, self._place(params), params)

    @serves(api.FileList)
    def _list(self, call: ServerCall, params: api.FileList) -> None:
        self._serve(call, params, listing(self._place(params), params))

    @serves(api.FileArchive)
    def _archive(self, call: ServerCall, params: api.FileArchive) -> None:
        self._serve(call, params, archive(self._place(params), params))

    @serves(FileExtract)
    def _extract(self, call: ServerCall, params: FileExtract) -> None:
        target = self._place(params, params.to)
        self._serve(call, params, extract(self._place(params), target, params, self.quota))

    @handles(api.FileDelete, stops=True)
    async def _delete(self, params: api.FileDelete) -> api.FileDeleteResult:
        return await self._disk.finish(delete(self._place(params), params))

    @handles(api.FileRename)
    async def _rename(self, params: api.FileRename) -> Nothing:
        return await self._disk.run(rename_, *self._two(params), params)

    @handles(api.FileMove, stops=True)
    async def _move(self, params: api.FileMove) -> Nothing:
        return await self._disk.finish(move(*self._two(params), params, self.quota))

    @handles(api.FileCopy, stops=True)
    async def _copy(self, params: api.FileCopy) -> api.FileCopyResult:
        return await self._disk.finish(copy(*self._two(params), params, self.quota))

    @handles(FileEdit)
    async def _edit(self, params: FileEdit) -> FileEditResult:
        return await self._disk.run(edit, self._place(params), params, self.quota)

    def _place(self, params: api.FileTarget, path: str | None = None) -> RootedPath:
        """Resolve `path` or, by default, the parameter `path`."""
        base = None if params.session is None else self._session_directory(params.session)
        return self._resolver.place(params.path if path is None else path, params.root, base)

    def _two(self, params: api.FileRename | api.FileMove | api.FileCopy) -> tuple[RootedPath, RootedPath]:
        return self._place(params), self._place(params, params.to)

    def _serve(self, call: ServerCall, params: api.FileTarget, work: Work, offset: int = 0) -> None:
        subject = subject_of(params)
        call.serve(GeneratorStream(call, work, self._disk, self._tasks, self._slots, offset=offset, subject=subject))

    @serves(api.FileRead)
    def _read(self, call: ServerCall, params: api.FileRead) -> None:
        offset = params.offset or 0
        work = read(
            self._place(params).open,
            offset=offset,
            length=params.length,
            version=params.version,
            block=self._slots.block_size,
        )
        self._serve(call, params, work, offset)

    @serves(api.FileSearch)
    def _search(self, call: ServerCall, params: api.FileSearch) -> None:
        self._serve(call, params, search(self._place(params), params))

    @serves(api.FileWrite)
    def _write(self, call: ServerCall, params: api.FileWrite) -> None:
        self.uploads.serve(call, self._place(params), params)

    @handles(api.FileCancel)
    async def _cancel(self, params: api.FileCancel) -> Nothing:
        self.uploads.cancel(params.key)
        return Nothing()


def look(place: RootedPath, follow: bool) -> tuple[os.stat_result, str | None]:
    """Return a file's state, and its target if it is a symlink. Uses only O_PATH, which is safe for FIFOs."""
    fd = place.open(os.O_PATH | (0 if follow else os.O_NOFOLLOW))
    try:
        status = os.fstat(fd)
        return status, os.readlink("", dir_fd=fd) if type_of(status) == "symlink" else None
    finally:
        os.close(fd)


def stat_(place: RootedPath, params: api.FileStat) -> api.FileStatResult:
    status, target = look(place, params.follow)
    text = None if target is None else to_text(target)
    mime, binary = None, None
    if params.detect and type_of(status) == "file":
        mime, binary = detected(place)
    return api.FileStatResult(
        path=params.path, version=version_of(status), target=text, mime=mime, binary=binary, **fields(status)
    )


def exists(place: RootedPath, params: api.FileExists) -> api.FileExistsResult:
    try:
        return api.FileExistsResult(exists=True, type=type_of(look(place, params.follow)[0]))
    except (FileNotFoundError, NotADirectoryError):
        return api.FileExistsResult(exists=False)


def mkdir(place: RootedPath, params: api.FileMkdir) -> api.FileMkdirResult:
    if params.parents:
        make_parents(place)
    try:
        with place.parent() as (fd, name):
            os.mkdir(name, dir_fd=fd)
            if params.mode is not None:
                _chmod_directory(fd, name, params.mode)
    except FileExistsError:
        if not params.parents or type_of(look(place, True)[0]) != "directory":
            raise
        return api.FileMkdirResult(created=False)
    return api.FileMkdirResult(created=True)


def chmod(place: RootedPath, params: api.FileChmod) -> Nothing:
    fd = place.open(os.O_PATH)
    try:
        os.chmod(f"self/fd/{fd}", params.mode, dir_fd=PROC)  # with O_PATH, no read permission is needed
    finally:
        os.close(fd)
    return Nothing()


def utime(place: RootedPath, params: api.FileUtime) -> Nothing:
    fd = place.open(os.O_PATH | (0 if params.follow else os.O_NOFOLLOW))
    try:
        set_mtime(f"/proc/self/fd/{fd}", params.mtime_ns)
    finally:
        os.close(fd)
    return Nothing()


def symlink(place: RootedPath, params: api.FileSymlink) -> Nothing:
    target = from_text(params.target)
    with place.parent() as (fd, name):
        if not params.overwrite:
            os.symlink(target, name, dir_fd=fd)
            return Nothing()
        temporary = temporary_name()
        os.symlink(target, temporary, dir_fd=fd)
        try:
            os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            os.unlink(temporary, dir_fd=fd)
            raise
    return Nothing()


def _chmod_directory(fd: int, name: str, mode: int) -> None:
    """Set a new directory's mode, unless it has been replaced with a symlink."""
    made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        os.fchmod(made, mode)
    finally:
        os.close(made)
