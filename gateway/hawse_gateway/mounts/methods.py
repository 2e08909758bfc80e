"""Handlers for `mount.*`."""

import posixpath
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hawse.api.mounts import MountCreate, MountCredentials, MountDelete, MountInfo, MountList, MountListResult
from hawse.api.paths import from_text
from hawse.api.rights import ALL
from hawse.api.spec import Nothing
from hawse.rpc import handles
from hawse.wire import HawseError, Principal
from hawse_gateway.limits.in_progress import in_progress
from hawse_gateway.mounts import squashfuse
from hawse_gateway.mounts.reconciler import MountReconciler
from hawse_gateway.mounts.records import MountRecord, MountRecords
from hawse_gateway.mounts.settings import MountSettings, check_named, check_prefix, given_source, read_mount_settings
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import read
from hawse_gateway.store.base import Store, store_errors_unavailable

WORKSPACE: Final = "/workspace"  # path of the workspace, which is the same for all providers that support mounts
ID_BYTES: Final = 6
NAME_MAX: Final = 255  # Linux's limit on the length of a path component, in bytes
DEPTH_MAX: Final = 16  # maximum number of directories in a path


@dataclass(frozen=True, kw_only=True)
class MountOptions:
    """A gateway's mount options.

    Attributes:
        settings: The operator's settings.
        root: The parent directory for the mounts' files.
        locks: The directory for the mounts' lock files.
        images: The directory for backup images.
        images_size: The maximum total size of the images, in bytes.
    """

    settings: MountSettings
    root: Path
    locks: Path
    images: Path
    images_size: int

    @classmethod
    def read(cls, file: Path | None, state: Path, *, images_size: int) -> "MountOptions":
        """Return the options, including the settings from the operator's file. Raises `SettingsError`.

        Args:
            file: The operator's settings file. If None, there are no named buckets or directories.
            state: The state directory.
            images_size: The maximum total size of backup images, in bytes.
        """
        settings = MountSettings() if file is None else read_mount_settings(file)
        return cls(
            settings=settings,
            root=state / "mounts",
            locks=state / "mount-locks",
            images=state / "images",
            images_size=images_size,
        )


class MountMethods:
    """Handles `mount.*` calls.

    Args:
        store: The rows.
        sandboxes: The sandboxes.
        reconciler: Creates and deletes the mounts.
        settings: The operator's settings.
        limit: The maximum number of mounts per user across all sandboxes, except for users with every right. None means
            unlimited.
    """

    def __init__(
        self,
        store: Store,
        sandboxes: Sandboxes,
        reconciler: MountReconciler,
        settings: MountSettings,
        *,
        limit: int | None = None,
    ) -> None:
        self._store = store
        self._records = MountRecords(store)
        self._sandboxes = sandboxes
        self._reconciler = reconciler
        self._settings = settings
        self._limit = limit
        self._creating: Counter[str] = Counter()  # number of mounts being created, keyed by sandbox
        self._creators: Counter[str] = Counter()  # number of mounts being created, keyed by user

    @handles(MountCreate, caller=True)
    async def create(self, params: MountCreate, caller: Principal) -> MountInfo:
        path, prefix = mount_path(params.path), _prefix(params.prefix)
        if params.credentials is None:
            check_named(self._settings, params.bucket, caller)
        else:
            if ALL not in caller.rights:
                text = "only users with every right can mount a bucket with their own credentials"
                raise HawseError("forbidden", text, details={"path": "$.credentials"})
            given_source(params.bucket, prefix, params.credentials)
        info = self._info(params.sandbox, path, caller, bucket=params.bucket, prefix=prefix, read_only=params.read_only)
        async with self._room(info, caller):
            return await self._add(info, params.credentials)

    async def create_overlay(
        self, backup: str, sandbox: str, path: str, caller: Principal, image: AbstractAsyncContextManager[None]
    ) -> MountInfo:
        """Mount a backup as an overlay with a writable layer.

        Args:
            backup: The id of the backup.
            sandbox: The id of the sandbox. The caller must have the right `operate` for it.
            path: The mount's path.
            caller: The owner of the mount.
            image: A context manager that provides the backup's image and keeps it from being deleted.

        Raises:
            HawseError: The same errors as `mount.create`, and `unavailable` if the sandbox does not support mounts.
        """
        info = self._info(sandbox, mount_path(path), caller, backup=backup)
        squashfuse.check_available()
        async with self._room(info, caller):
            try:
                await self._reconciler.check(sandbox)
            except HawseError as error:
                text = f"{error.message}; use the mode `copy`"
                raise HawseError(error.code, text, retryable=error.retryable) from error
            async with image:
                return await self._add(info, None)

    def _info(self, sandbox: str, path: str, caller: Principal, **shown: Any) -> MountInfo:
        id = f"m-{secrets.token_hex(ID_BYTES)}"
        return MountInfo(id=id, sandbox=sandbox, path=path, owner=caller.id, created=time.time(), **shown)

    @asynccontextmanager
    async def _room(self, info: MountInfo, caller: Principal) -> AsyncIterator[None]:
        """Start the sandbox for a new mount, and count the mount while the block runs. Raises `HawseError` if a limit
        is reached."""
        with in_progress(self._creating, info.sandbox), in_progress(self._creators, caller.id):
            await self._sandboxes.ensure(info.sandbox)
            await self._check_room(info.sandbox, info.path, caller)
            yield

    async def _add(self, info: MountInfo, credentials: MountCredentials | None) -> MountInfo:
        record = MountRecord(info=info, generation=await self._generation(info.sandbox), credentials=credentials)
        await self._reconciler.create(record)
        return await self._reconciler.describe(record)

    @handles(MountList)
    async def list_(self, params: MountList) -> MountListResult:
        generation = await self._generation(params.sandbox)
        found = [one for one in await self._records.of(params.sandbox) if one.generation == generation]
        return MountListResult(mounts=[await self._reconciler.describe(record) for record in found])

    @handles(MountDelete)
    async def delete(self, params: MountDelete) -> Nothing:
        record = await self._records.get(params.mount)
        if record is None or record.info.sandbox != params.sandbox:
            raise HawseError("not_found", f"sandbox {params.sandbox!r} has no mount {params.mount!r}")
        if record.info.backup is not None:
            await self._sandboxes.ensure(params.sandbox)  # an overlay's changes are deleted inside the sandbox
        await self._reconciler.delete(record, force=params.force, discard=params.discard)
        await self._reconciler.wait_until_removed(params.mount, params.timeout)
        return Nothing()

    async def _generation(self, sandbox: str) -> str:
        """Return a sandbox's generation. Raises `HawseError` (`not_found`)."""
        with store_errors_unavailable():
            rows = await read(self._store, sandbox)
        if rows.sandbox is None or not rows.visible:
            raise HawseError("not_found", f"unknown sandbox {sandbox!r}")
        return rows.sandbox.value.generation

    async def _check_room(self, sandbox: str, path: str, caller: Principal) -> None:
        """Raise `HawseError` if there are too many mounts (`limit_exceeded`) or one mount would be inside another
        (`conflict`)."""
        everything = await self._records.all()
        own = [record.info for record in everything.values() if record.info.sandbox == sandbox]
        creating = self._creating[sandbox] - 1  # not counting the mount being checked
        if len(own) + creating >= self._settings.per_sandbox:
            text = f"a sandbox can have at most {self._settings.per_sandbox} mounts: delete one"
            raise HawseError("limit_exceeded", text)
        if len(everything) + self._creating.total() > self._settings.total:
            raise HawseError("limit_exceeded", f"at most {self._settings.total} mounts can exist at this gateway")
        if self._limit is not None and ALL not in caller.rights:
            theirs = sum(record.info.owner == caller.id for record in everything.values())
            if theirs + self._creators[caller.id] > self._limit:
                text = f"the user {caller.id!r} has reached the limit of {self._limit} mounts: delete one"
                raise HawseError("limit_exceeded", text)
        for other in own:
            if f"{path}/".startswith(f"{other.path}/") or f"{other.path}/".startswith(f"{path}/"):
                text = f"mount {other.id!r} is at {other.path!r}: a mount cannot contain another one"
                raise HawseError("conflict", text, details={"mount": other.id})


def mount_path(path: str) -> str:
    """Return a mount's path relative to the workspace. Raises `HawseError` (`invalid_params`)."""
    given = path
    try:
        path = inner = from_text(given)
    except ValueError as error:
        raise HawseError("invalid_params", str(error), details={"path": "$.path"}) from None
    if path.startswith("/"):
        inner = posixpath.relpath(path, WORKSPACE) if path.startswith(f"{WORKSPACE}/") else ".."
    parts = [part for part in inner.split("/") if part not in ("", ".")]
    if not parts or len(parts) > DEPTH_MAX or ".." in [*parts, *path.split("/")]:
        text = f"{path!r} is not the path of a directory below the workspace, such as data or {WORKSPACE}/data"
        raise HawseError("invalid_params", text, details={"path": "$.path"})
    try:
        long = any(len(part.encode()) > NAME_MAX for part in parts)
    except UnicodeEncodeError:
        long = True
    if long or not path.isprintable():
        text = f"{given[:80]!r} contains a name that is too long, or characters that are not allowed in a mount's path"
        raise HawseError("invalid_params", text, details={"path": "$.path"})
    return "/".join(parts)


def _prefix(prefix: str) -> str:
    try:
        return check_prefix(prefix)
    except ValueError as error:
        raise HawseError("invalid_params", str(error), details={"path": "$.prefix"}) from None
