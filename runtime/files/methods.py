"""The `file.*` methods (docs/wire.md section 9): which work each of them is, and where it may work."""

import os
from collections.abc import Callable
from typing import Any

from hawse.api import Nothing
from hawse.api import files as api
from hawse.api.paths import to_text
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import Disk
from runtime.files.archive import archive
from runtime.files.atomic_replace import make_parents
from runtime.files.copy import copy, move, rename_
from runtime.files.delete import delete
from runtime.files.listing import listing
from runtime.files.quota import Quota
from runtime.files.read import read
from runtime.files.ripgrep import Ripgrep
from runtime.files.rooted_path import Beneath, Place
from runtime.files.search import search
from runtime.files.stat import fields, type_of, version_of
from runtime.files.write import Uploads
from runtime.posix.environment import Environment
from runtime.rpc.call import Call
from runtime.rpc.dispatcher import Method
from runtime.rpc.generator_stream import Producer, Work
from runtime.rpc.idempotency import Outcomes


class Files:
    """The methods, and what they share."""

    def __init__(
        self,
        environment: Environment,
        disk: Disk,
        tasks: Tasks,
        outcomes: Outcomes,
        *,
        root: str | None = None,
        quota: int | None = None,
    ) -> None:
        """`root`: what nothing here leaves. `quota`: bytes that may be in it, or in the workspace."""
        self._beneath = Beneath(environment, root)
        self._environment = environment.build(None, cwd=str(environment.workspace))
        self._disk = disk
        self._tasks = tasks
        self._quota = Quota(root or str(environment.workspace), quota)
        self._uploads = Uploads(disk, tasks, outcomes, self._quota)

    def methods(self) -> dict[str, Method]:
        return {
            "file.read": Method(api.Read, self._read, stream=True),
            "file.write": Method(api.Write, self._write, stream=True),
            "file.stat": self._quick(api.Stat, stat_),
            "file.exists": self._quick(api.Exists, exists),
            "file.mkdir": self._quick(api.Mkdir, mkdir),
            "file.chmod": self._quick(api.Chmod, chmod),
            "file.list": Method(api.List, lambda call, p: self._serve(call, listing(self._place(p), p)), stream=True),
            "file.archive": Method(
                api.Archive, lambda call, p: self._serve(call, archive(self._place(p), p)), stream=True
            ),
            "file.search": Method(api.Search, self._search, stream=True),
            "file.delete": Method(api.Delete, lambda call, p: self._disk.finish(delete(self._place(p), p))),
            "file.rename": Method(api.Rename, lambda call, p: self._disk.run(rename_, *self._two(p), p)),
            "file.move": Method(api.Move, lambda call, p: self._disk.finish(move(*self._two(p), p, self._quota))),
            "file.copy": Method(api.Copy, lambda call, p: self._disk.finish(copy(*self._two(p), p, self._quota))),
        }

    def close(self) -> None:
        self._uploads.close()

    def _quick(self, shape: type[api.At], work: Callable[[Place, Any], Any]) -> Method:
        """A method that is done in one turn of a thread."""

        async def handle(call: Call, params: api.At) -> Any:
            return await self._disk.run(work, self._place(params), params)

        return Method(shape, handle)

    def _place(self, params: api.At) -> Place:
        return self._beneath.place(params.path, params.root)

    def _two(self, params: api.Rename | api.Move | api.Copy) -> tuple[Place, Place]:
        return self._place(params), self._beneath.place(params.to, params.root)

    def _serve(self, call: Call, work: Work, offset: int = 0) -> None:
        call.serve(Producer(call, work, self._disk, self._tasks, offset=offset))

    def _read(self, call: Call, params: api.Read) -> None:
        offset = params.offset or 0
        work = read(self._place(params).open, offset=offset, length=params.length, version=params.version)
        self._serve(call, work, offset)

    def _search(self, call: Call, params: api.Search) -> None:
        self._serve(call, search(self._place(params), params, Ripgrep.find(self._environment)))

    def _write(self, call: Call, params: api.Write) -> None:
        self._uploads.serve(call, self._place(params), params)


def look(place: Place, follow: bool) -> tuple[os.stat_result, str | None]:
    """What is there, and the target of a symlink. Nothing is opened for reading: a FIFO or a device is not touched."""
    fd = place.open(os.O_PATH | (0 if follow else os.O_NOFOLLOW))
    try:
        status = os.fstat(fd)
        return status, os.readlink("", dir_fd=fd) if type_of(status) == "symlink" else None
    finally:
        os.close(fd)


def stat_(place: Place, params: api.Stat) -> api.FileStat:
    status, target = look(place, params.follow)
    told = None if target is None else to_text(target)
    return api.FileStat(path=params.path, version=version_of(status), target=told, **fields(status))


def exists(place: Place, params: api.Exists) -> api.FileExists:
    try:
        return api.FileExists(exists=True, type=type_of(look(place, params.follow)[0]))
    except (FileNotFoundError, NotADirectoryError):
        return api.FileExists(exists=False)


def mkdir(place: Place, params: api.Mkdir) -> api.Made:
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
        return api.Made(created=False)
    return api.Made(created=True)


def chmod(place: Place, params: api.Chmod) -> Nothing:
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
