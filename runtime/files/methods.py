"""The `file.*` methods (docs/wire.md section 9): which work each of them is, and where it may work."""

import os
from collections.abc import Callable
from typing import Any

from hawse.api import Nothing
from hawse.api import files as api
from hawse.api.paths import to_text
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPool
from runtime.files.archive import archive
from runtime.files.atomic_replace import make_parents
from runtime.files.copy import copy, move, rename_
from runtime.files.delete import delete
from runtime.files.listing import listing
from runtime.files.quota import Quota
from runtime.files.read import read
from runtime.files.rooted_path import PathResolver, RootedPath
from runtime.files.search import search
from runtime.files.stat import fields, type_of, version_of
from runtime.files.write import Uploads
from runtime.posix.environment import Environment
from runtime.rpc.call import RuntimeCall
from runtime.rpc.dispatcher import Method
from runtime.rpc.generator_stream import GeneratorStream, Work
from runtime.rpc.idempotency import IdempotencyTable


class FileMethods:
    """The methods, and what they share."""

    def __init__(
        self,
        environment: Environment,
        disk: ThreadPool,
        tasks: Tasks,
        outcomes: IdempotencyTable,
        *,
        root: str | None = None,
        quota: int | None = None,
    ) -> None:
        """`root`: what nothing here leaves. `quota`: bytes that may be in it, or in the workspace."""
        self._beneath = PathResolver(environment, root)
        self._disk = disk
        self._tasks = tasks
        self._quota = Quota(root or str(environment.workspace), quota)
        self._uploads = Uploads(disk, tasks, outcomes, self._quota)

    def methods(self) -> dict[str, Method]:
        return {
            "file.read": Method(api.FileRead, self._read, stream=True),
            "file.write": Method(api.FileWrite, self._write, stream=True),
            "file.stat": self._quick(api.FileStat, stat_),
            "file.exists": self._quick(api.FileExists, exists),
            "file.mkdir": self._quick(api.FileMkdir, mkdir),
            "file.chmod": self._quick(api.FileChmod, chmod),
            "file.list": Method(
                api.FileList, lambda call, p: self._serve(call, listing(self._place(p), p)), stream=True
            ),
            "file.archive": Method(
                api.FileArchive, lambda call, p: self._serve(call, archive(self._place(p), p)), stream=True
            ),
            "file.search": Method(
                api.FileSearch, lambda call, p: self._serve(call, search(self._place(p), p)), stream=True
            ),
            "file.delete": Method(api.FileDelete, lambda call, p: self._disk.finish(delete(self._place(p), p))),
            "file.rename": Method(api.FileRename, lambda call, p: self._disk.run(rename_, *self._two(p), p)),
            "file.move": Method(api.FileMove, lambda call, p: self._disk.finish(move(*self._two(p), p, self._quota))),
            "file.copy": Method(api.FileCopy, lambda call, p: self._disk.finish(copy(*self._two(p), p, self._quota))),
        }

    def close(self) -> None:
        self._uploads.close()

    def _quick(self, shape: type[api.FileTarget], work: Callable[[RootedPath, Any], Any]) -> Method:
        """A method that is done in one turn of a thread."""

        async def handle(call: RuntimeCall, params: api.FileTarget) -> Any:
            return await self._disk.run(work, self._place(params), params)

        return Method(shape, handle)

    def _place(self, params: api.FileTarget) -> RootedPath:
        return self._beneath.place(params.path, params.root)

    def _two(self, params: api.FileRename | api.FileMove | api.FileCopy) -> tuple[RootedPath, RootedPath]:
        return self._place(params), self._beneath.place(params.to, params.root)

    def _serve(self, call: RuntimeCall, work: Work, offset: int = 0) -> None:
        call.serve(GeneratorStream(call, work, self._disk, self._tasks, offset=offset))

    def _read(self, call: RuntimeCall, params: api.FileRead) -> None:
        offset = params.offset or 0
        work = read(self._place(params).open, offset=offset, length=params.length, version=params.version)
        self._serve(call, work, offset)

    def _write(self, call: RuntimeCall, params: api.FileWrite) -> None:
        self._uploads.serve(call, self._place(params), params)


def look(place: RootedPath, follow: bool) -> tuple[os.stat_result, str | None]:
    """What is there, and the target of a symlink. Nothing is opened for reading: a FIFO or a device is not touched."""
    fd = place.open(os.O_PATH | (0 if follow else os.O_NOFOLLOW))
    try:
        status = os.fstat(fd)
        return status, os.readlink("", dir_fd=fd) if type_of(status) == "symlink" else None
    finally:
        os.close(fd)


def stat_(place: RootedPath, params: api.FileStat) -> api.FileStatResult:
    status, target = look(place, params.follow)
    told = None if target is None else to_text(target)
    return api.FileStatResult(path=params.path, version=version_of(status), target=told, **fields(status))


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
        os.chmod(f"/proc/self/fd/{fd}", params.mode)  # the one way for what may not be opened (open(2), O_PATH)
    finally:
        os.close(fd)
    return Nothing()


def _chmod_directory(fd: int, name: str, mode: int) -> None:
    """Set the bits of a directory that was just made, and of nothing that has taken its place."""
    made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        os.fchmod(made, mode)
    finally:
        os.close(made)
