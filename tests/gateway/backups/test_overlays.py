"""An overlay is mounted while its image is held. Its effects are tested in tests/integration/test_overlays.py."""

import errno
import hashlib
import io
import os
import tarfile
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from hawse.api.backups import BackupInfo, BackupRestoreResult
from hawse.api.mounts import MountInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.backups.images import BackupImages
from hawse_gateway.backups.overlays import BackupOverlays
from hawse_gateway.providers.isolation import host_user

OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))


def archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("f"))
    return out.getvalue()


ARCHIVE = archive()
INFO = BackupInfo(id="b-1", sandbox="s", path="p", sha256=hashlib.sha256(ARCHIVE).hexdigest(), entries=7, bytes=9)


class FakeMounts:
    """Mounts nothing. `fails` is the error of the next attempt."""

    def __init__(self) -> None:
        self.fails: HawseError | None = None
        self.made: list[tuple[str, str, str, str]] = []

    async def create_overlay(
        self, backup: str, sandbox: str, path: str, caller: Principal, image: AbstractAsyncContextManager[None]
    ) -> MountInfo:
        async with image:
            if self.fails is not None:
                raise self.fails
            self.made.append((backup, sandbox, path, caller.id))
        return MountInfo(id="m-1", sandbox=sandbox, path=path, backup=backup)


class Bench:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "images"
        self.mounts = FakeMounts()
        images = BackupImages(self.root, self._read, self._mounted, user_of=host_user.of_process, keep_free=0)
        self.overlays = BackupOverlays(images, self.mounts)

    async def _read(self, id: str) -> AsyncGenerator[bytes, None]:
        yield ARCHIVE

    async def _mounted(self) -> set[str]:
        return set()

    async def restore(self) -> BackupRestoreResult:
        return await self.overlays.restore(INFO, "s", "p", OWNER, lambda progress: None, lambda: None)


async def test_a_restore_is_a_mount_that_has_written_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.overlays.check()
    await bench.overlays.prepare(INFO, lambda progress: None, lambda: None)
    assert os.listdir(bench.root) == ["b-1"]
    assert await bench.restore() == BackupRestoreResult(entries=7, bytes=0, mount="m-1")
    assert bench.mounts.made == [("b-1", "s", "p", "owner")]
    await bench.overlays.sweep({"b-1"})
    assert os.listdir(bench.root) == ["b-1"]
    await bench.overlays.discard("b-1")
    assert os.listdir(bench.root) == []


async def test_an_image_that_cannot_be_served_is_built_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.mounts.fails = HawseError("conflict", "the directory is not empty", details={"errno": errno.ENOTEMPTY})
    with pytest.raises(HawseError, match="not empty"):
        await bench.restore()
    assert os.listdir(bench.root) == ["b-1"]
    bench.mounts.fails = HawseError("unavailable", "it has ended", details={"errno": errno.ECONNABORTED})
    with pytest.raises(HawseError, match="damaged: try again") as raised:
        await bench.restore()
    assert raised.value.code == "io_error"
    assert os.listdir(bench.root) == []
