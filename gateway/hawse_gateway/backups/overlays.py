"""Restores that copy nothing: an image of the backup is mounted below a layer for what is changed."""

import errno
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from hawse.api.backups import BackupInfo, BackupRestoreResult
from hawse.api.mounts import MountInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.backups import squashfs
from hawse_gateway.backups.images import BackupImages, Moved, Report

_DAMAGED: Final = (errno.ECONNABORTED, errno.ENOTCONN, errno.EIO)  # the process that serves an image has refused it


class Mounts(Protocol):
    """Mounts backups in sandboxes."""

    async def create_overlay(
        self, backup: str, sandbox: str, path: str, caller: Principal, image: AbstractAsyncContextManager[None]
    ) -> MountInfo: ...


class BackupOverlays:
    """Makes overlays, and the images for them.

    Args:
        images: The images.
        mounts: Mounts them.
    """

    def __init__(self, images: BackupImages, mounts: Mounts) -> None:
        self._images = images
        self._mounts = mounts

    def check(self) -> None:
        """Raise `HawseError` `unavailable` if this machine cannot make images."""
        squashfs.find()

    async def prepare(self, info: BackupInfo, report: Report, moved: Moved) -> None:
        """Make the image of a backup for its owner. Raises `HawseError` as `BackupImages.held`."""
        async with self._images.held(info, info.owner or "", report, moved):
            pass

    async def restore(
        self, info: BackupInfo, sandbox: str, path: str, caller: Principal, report: Report, moved: Moved
    ) -> BackupRestoreResult:
        """Mount a backup at a directory that is empty or missing.

        Args:
            info: The backup.
            sandbox: The sandbox, in which the caller has the right `operate`.
            path: The directory.
            caller: Whose mount it is.
            report: Is called with the progress.
            moved: Is called for each part of the archive.

        Raises:
            HawseError: As `BackupImages.held` and `Mounts.create_overlay`.
        """
        self.check()
        image = self._images.held(info, caller.id, report, moved)
        try:
            mount = await self._mounts.create_overlay(info.id, sandbox, path, caller, image)
        except HawseError as error:
            if isinstance(error.details, dict) and error.details.get("errno") in _DAMAGED:
                await self._images.discard(info.id)  # the next restore makes another one
                raise HawseError(
                    "io_error", "the image of the backup was damaged: try again", admitted="yes"
                ) from error
            raise
        return BackupRestoreResult(entries=info.entries, bytes=0, mount=mount.id)

    async def discard(self, backup: str) -> None:
        """Delete the image of a backup that is deleted, unless a mount shows it."""
        await self._images.discard(backup)

    async def sweep(self, existing: Collection[str]) -> None:
        """Delete the images that nothing needs. `existing`: the ids of all backups."""
        await self._images.sweep(existing)


def no_overlays() -> HawseError:
    return HawseError(
        "unavailable", "this gateway mounts nothing, so it has no overlays; the mode `copy` works", retryable=False
    )
