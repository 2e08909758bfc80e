"""Restores backups without copying, by mounting an image of each backup below a writable layer."""

import errno
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from hawse.api.backups import BackupInfo, BackupRestoreResult
from hawse.api.mounts import MountInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.backups import squashfs
from hawse_gateway.backups.images import BackupImages, Moved, Report

_DAMAGED: Final = (errno.ECONNABORTED, errno.ENOTCONN, errno.EIO)  # errors raised if squashfuse rejects the image


class Mounts(Protocol):
    """The interface for mounting backups in sandboxes."""

    async def create_overlay(
        self, backup: str, sandbox: str, path: str, caller: Principal, image: AbstractAsyncContextManager[None]
    ) -> MountInfo: ...


class BackupOverlays:
    """Creates overlays, along with their images.

    Args:
        images: The backup images.
        mounts: Mounts the overlays.
    """

    def __init__(self, images: BackupImages, mounts: Mounts) -> None:
        self._images = images
        self._mounts = mounts

    def check(self) -> None:
        """Raise `HawseError` (`unavailable`) if this machine cannot build images."""
        squashfs.find()

    async def prepare(self, info: BackupInfo, report: Report, moved: Moved) -> None:
        """Build a backup's image in advance. Raises the same errors as `BackupImages.held`."""
        async with self._images.held(info, info.owner or "", report, moved):
            pass

    async def restore(
        self, info: BackupInfo, sandbox: str, path: str, caller: Principal, report: Report, moved: Moved
    ) -> BackupRestoreResult:
        """Mount a backup as an overlay at an empty or missing directory.

        Args:
            info: The backup.
            sandbox: The sandbox. The caller must have the right `operate` for it.
            path: The directory.
            caller: The owner of the mount.
            report: Called with the progress.
            moved: Called whenever part of the archive has been transferred.

        Raises:
            HawseError: The same errors as `BackupImages.held` and `Mounts.create_overlay`.
        """
        self.check()
        image = self._images.held(info, caller.id, report, moved)
        try:
            mount = await self._mounts.create_overlay(info.id, sandbox, path, caller, image)
        except HawseError as error:
            if isinstance(error.details, dict) and error.details.get("errno") in _DAMAGED:
                await self._images.discard(info.id)  # makes the next restore build a new image
                raise HawseError("io_error", "the backup's image was damaged: try again", admitted="yes") from error
            raise
        return BackupRestoreResult(entries=info.entries, bytes=0, mount=mount.id)

    async def discard(self, backup: str) -> None:
        """Delete the image of a backup that was deleted, unless the image is mounted."""
        await self._images.discard(backup)

    async def sweep(self, existing: Collection[str]) -> None:
        """Delete images that are no longer needed. `existing` contains the ids of all backups."""
        await self._images.sweep(existing)


def no_overlays() -> HawseError:
    return HawseError(
        "unavailable",
        "this gateway has no mounts, and therefore no overlays; use the mode `copy`",
        retryable=False,
    )
