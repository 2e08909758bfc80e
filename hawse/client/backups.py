"""A gateway's backups (`hw.backups`) and a single sandbox's backups (`box.backups`)."""

import asyncio
import builtins
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack

import msgspec

from hawse.api.backups import (
    BackupCancel,
    BackupCompression,
    BackupCreate,
    BackupDelete,
    BackupGet,
    BackupInfo,
    BackupList,
    BackupProgress,
    BackupRestore,
    BackupRestoreResult,
    BackupUsage,
    BackupUsageResult,
    RestoreMode,
    SandboxSnapshot,
)
from hawse.api.paths import from_text, to_text
from hawse.client.base.call_errors import NotFoundError
from hawse.client.base.keywords import declared
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable
from hawse.client.files.changes import PathLike, wire_path
from hawse.wire import Event

WINDOW = 64 * 1024  # bytes of progress events the gateway can send before the client reads them

OnProgress = Callable[[BackupProgress], object]


class BackupCall(ClientCall):
    """A call to `backup.create` or `backup.restore`. A repeated call with the same key joins the running call or
    returns its outcome.
    """

    def __init__(self, params: BackupCreate | BackupRestore | SandboxSnapshot, on_progress: OnProgress | None) -> None:
        super().__init__(params, key=new_key(), window=WINDOW)
        self._on_progress = on_progress

    def receive_event(self, event: Event) -> None:
        self.spend(event_cost(event))
        progress = self.decode(event)
        if progress is not None and self._on_progress is not None:
            self._on_progress(progress)


class BackupOptions(TypedDict, total=False):
    """Options for a backup: the keyword arguments for `Backups.create` and `SandboxBackups.create`.

    Args:
        name: A display name.
        ttl: Seconds until the backup is deleted; by default never.
        exclude: Globs for files to exclude.
        gitignore: Whether to exclude files that git ignores.
        compression: The compression; by default zstd if the sandbox has it, otherwise gzip.
        overlay: Whether to prepare for restores in `overlay` mode. Without this preparation, the first such restore is
            slow.
        on_progress: Called from the event loop with progress reports; must return quickly.
    """

    name: str | None
    ttl: float | None
    exclude: Sequence[str]
    gitignore: bool
    compression: BackupCompression | None
    overlay: bool
    on_progress: OnProgress | None


class Backups:
    """A gateway's backups. The handle doesn't have to be closed.

    Methods raise `HawseError`: `not_found` if the backup does not exist or the caller may not use it.
    """

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def create(self, sandbox: str, path: PathLike = ".", **options: Unpack[BackupOptions]) -> BackupInfo:
        """Back up a directory. If this fails or is cancelled, the incomplete backup is removed.

        Args:
            sandbox: The id of the sandbox.
            path: The directory; a relative path is resolved against the workspace.
            options: See `BackupOptions`.

        Raises:
            HawseError: `not_found`, `not_directory`, `permission_denied` for a file that cannot be read
                (`details["entry"]`), `no_space`, `limit_exceeded`.
        """
        given = declared(options, BackupOptions, "create")
        params = BackupCreate(
            sandbox=sandbox,
            path=wire_path(path),
            name=given.get("name"),
            ttl=given.get("ttl"),
            exclude=[to_text(glob) for glob in given.get("exclude", ())] or None,
            gitignore=given.get("gitignore", False),
            compression=given.get("compression"),
            overlay=given.get("overlay", False),
        )
        return _decoded(await self._perform(params, given.get("on_progress")))

    async def restore(
        self,
        backup: str,
        *,
        sandbox: str | None = None,
        path: PathLike | None = None,
        mode: RestoreMode = "copy",
        on_progress: OnProgress | None = None,
    ) -> BackupRestoreResult:
        """Restore a directory. If this fails or is cancelled, the directory is unchanged.

        The mode `overlay` copies nothing. The directory must be empty or missing; it then shows the backup's content,
        and changes to it are kept in the sandbox. The result contains the id of the mount, which `box.mounts.delete`
        removes.

        Args:
            backup: The id of the backup.
            sandbox: The id of a different sandbox; None means the one that was backed up.
            path: A different directory, which doesn't have to exist; None means the one that was backed up.
            mode: `copy` copies the files, `overlay` reads them from the backup on demand.
            on_progress: Called from the event loop with progress reports; must return quickly.

        Raises:
            HawseError: `no_space`, `io_error` if the archive is damaged, `conflict` if files are created in the
                directory during the call or, for an overlay, if the directory is not empty; `unavailable` if the
                sandbox cannot mount anything.
        """
        to = None if path is None else wire_path(path)
        result: BackupRestoreResult = await self._perform(
            BackupRestore(backup=backup, sandbox=sandbox, path=to, mode=mode), on_progress
        )
        return result

    async def usage(self) -> BackupUsageResult:
        """Return the caller's backup store usage and limits."""
        result: BackupUsageResult = await self._calls.request(BackupUsage(), sandbox=None)
        return result

    async def get(self, backup: str) -> BackupInfo:
        """Return the backup with the id `backup`."""
        return _decoded(await self._calls.request(BackupGet(backup=backup), sandbox=None))

    async def list(self, *, sandbox: str | None = None) -> builtins.list[BackupInfo]:
        """Return the backups that the caller may use, newest first; with `sandbox`, only that sandbox's backups."""
        found = await self._calls.request(BackupList(sandbox=sandbox), sandbox=None)
        return [_decoded(info) for info in found.backups]

    async def delete(self, backup: str) -> None:
        """Delete the backup with the id `backup`."""
        await self._calls.request(BackupDelete(backup=backup), sandbox=None)

    async def _perform(self, params: BackupCreate | BackupRestore, on_progress: OnProgress | None) -> Any:
        return await _performed(self._calls, BackupCall(params, on_progress))


class SandboxBackups:
    """The backups of a single sandbox: `box.backups`. The handle doesn't have to be closed.

    `create`, `get`, `list` and `delete` are limited to backups of this sandbox; `restore` accepts backups from any
    sandbox.
    """

    def __init__(self, calls: CallTable, sandbox: str) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
        """
        self._backups = Backups(calls)
        self._sandbox = sandbox

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of sandbox {self._sandbox!r}>"

    async def create(self, path: PathLike = ".", **options: Unpack[BackupOptions]) -> BackupInfo:
        """Back up a directory. If this fails or is cancelled, the incomplete backup is removed.

        Args:
            path: The directory; a relative path is resolved against the workspace.
            options: See `BackupOptions`.

        Raises:
            HawseError: `not_found`, `not_directory`, `permission_denied` for a file that cannot be read
                (`details["entry"]`), `no_space`, `limit_exceeded`.
        """
        return await self._backups.create(self._sandbox, path, **options)

    async def restore(
        self,
        backup: str,
        *,
        path: PathLike | None = None,
        mode: RestoreMode = "copy",
        on_progress: OnProgress | None = None,
    ) -> BackupRestoreResult:
        """Restore a directory in this sandbox, from a backup of this or another sandbox.

        If this fails or is cancelled, the directory is unchanged.

        The mode `overlay` copies nothing. The directory must be empty or missing; it then shows the backup's content,
        and changes to it are kept in the sandbox. The result contains the id of the mount, which `box.mounts.delete`
        removes.

        Args:
            backup: The id of the backup.
            path: A different directory, which doesn't have to exist; None means the one that was backed up.
            mode: `copy` copies the files, `overlay` reads them from the backup on demand.
            on_progress: Called from the event loop with progress reports; must return quickly.

        Raises:
            HawseError: `not_found`, `no_space`, `io_error` if the archive is damaged, `conflict` if files are created
                in the directory during the call or, for an overlay, if the directory is not empty; `unavailable` if the
                sandbox cannot mount anything.
        """
        return await self._backups.restore(backup, sandbox=self._sandbox, path=path, mode=mode, on_progress=on_progress)

    async def get(self, backup: str) -> BackupInfo:
        """Return the backup with the id `backup`. Raises `not_found` if it does not exist or belongs to another
        sandbox.
        """
        found = await self._backups.get(backup)
        if found.sandbox != self._sandbox:
            raise NotFoundError(f"the sandbox {self._sandbox!r} has no backup {backup!r}")
        return found

    async def list(self) -> builtins.list[BackupInfo]:
        """Return the backups of this sandbox, newest first."""
        return await self._backups.list(sandbox=self._sandbox)

    async def delete(self, backup: str) -> None:
        """Delete the backup with the id `backup`. Raises `not_found` if it does not exist or belongs to another
        sandbox.
        """
        await self.get(backup)
        await self._backups.delete(backup)


async def take_snapshot(calls: CallTable, sandbox: str, name: str | None, ttl: float | None) -> BackupInfo:
    """Back up a sandbox's workspace, as described in `Sandbox.snapshot`."""
    return _decoded(await _performed(calls, BackupCall(SandboxSnapshot(id=sandbox, name=name, ttl=ttl), None)))


async def _performed(calls: CallTable, call: BackupCall) -> Any:
    try:
        return await calls.perform(call)
    except asyncio.CancelledError:  # without `BackupCancel`, the server would let the call continue
        calls.post(ClientCall(BackupCancel(key=call.key or "")))
        raise


def _decoded(info: BackupInfo) -> BackupInfo:
    return msgspec.structs.replace(info, path=from_text(info.path))
