"""A sandbox's `backup.*` methods (docs/wire.md section 9), which the gateway calls."""

import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from hawse.api.backups import BackupPack, BackupUnpack
from hawse.rpc import serves, typed
from hawse.rpc.call import ServerCall
from hawse_runtime.backup.pack import pack
from hawse_runtime.backup.swap_recovery import recover
from hawse_runtime.backup.tree_moves import remove_leftover
from hawse_runtime.backup.unpack import unpack
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.rooted_path import PathResolver, RootedPath
from hawse_runtime.files.walk import Names
from hawse_runtime.posix.environment import Environment
from hawse_runtime.rpc.generator_stream import GeneratorStream, Work
from hawse_runtime.rpc.stream_slots import StreamSlots

log = logging.getLogger(__name__)

FindIgnored = Callable[[str], Awaitable[frozenset[Names]]]


class BackupMethods:
    """Methods for packing and unpacking directories."""

    def __init__(
        self,
        environment: Environment,
        disk: ThreadPool,
        tasks: Tasks,
        slots: StreamSlots,
        quota: Quota,
        find_ignored: FindIgnored,
        *,
        root: str | None = None,
    ) -> None:
        """Create the methods.

        Args:
            environment: Provides the workspace, for resolving relative paths.
            disk: The thread pool for file access.
            tasks: Owns the calls' tasks.
            slots: Limits the number of open archives.
            quota: Counts the bytes written.
            find_ignored: Returns the paths ignored by git in a directory.
            root: The directory that all calls are confined to; None means no confinement.
        """
        self._workspace = os.path.realpath(environment.workspace)
        self._resolver = PathResolver(environment, root)
        self._disk = disk
        self._tasks = tasks
        self._slots = slots
        self._quota = quota
        self._find_ignored = find_ignored

    async def begin(self) -> None:
        """Undo or finish any workspace restores that a killed runtime left incomplete. Must be called first."""
        try:
            leftovers = await self._disk.run(self._recover)
        except OSError as error:
            log.warning("! cannot examine the workspace: %s", error)
            return
        if leftovers:
            self._tasks.start(self._disk.run(self._remove, leftovers))

    def _recover(self) -> list[str]:
        with self._opened_workspace() as fd:
            return recover(fd, starting=True)

    def _remove(self, names: list[str]) -> None:
        with self._opened_workspace() as fd:
            for name in names:
                remove_leftover(fd, name)

    @contextmanager
    def _opened_workspace(self) -> Iterator[int]:
        fd = os.open(self._workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)

    @serves(BackupPack)
    def _pack(self, call: ServerCall, params: BackupPack) -> None:
        place = self._resolver.place(params.path)
        if params.gitignore:
            self._tasks.start(self._pack_without_ignored(call, params, place.path))
        else:
            self._serve(call, pack(place, params, own=self._is_workspace(place)))

    async def _pack_without_ignored(self, call: ServerCall, params: BackupPack, path: str) -> None:
        try:
            ignored = await self._find_ignored(path)
            if call.open:
                place = self._resolver.place(params.path)
                self._serve(call, pack(place, params, ignored.__contains__, own=self._is_workspace(place)))
        except Exception as error:
            call.error(typed(error))

    @serves(BackupUnpack)
    def _unpack(self, call: ServerCall, params: BackupUnpack) -> None:
        archive, target = self._resolver.place(params.archive), self._resolver.place(params.path)
        work = unpack(archive, target, params, self._quota, in_place=self._is_workspace(target))
        self._serve(call, work)

    def _is_workspace(self, place: RootedPath) -> bool:
        return os.path.realpath(place.path) == self._workspace

    def _serve(self, call: ServerCall, work: Work) -> None:
        call.serve(GeneratorStream(call, work, self._disk, self._tasks, self._slots))
