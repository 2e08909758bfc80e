"""An archive in a directory is visible completely or not at all."""

import asyncio
import errno
import os
import sys
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.backups.object_store import ObjectStore
from hawse_gateway.backups.stores import DirectoryStore, open_store, store_errors
from tests.support.runtime import no_fd_leaked


async def content(store: DirectoryStore, id: str) -> bytes:
    return b"".join([data async for data in store.read(id)])


async def test_a_committed_archive_can_be_read_and_deleted(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "a/b")
    data = os.urandom(3_000_000)
    async with store.writing("x") as writer:
        await writer.write(data[:1000])
        await writer.write(data[1000:])
        await writer.commit()
    assert await content(store, "x") == data
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a/b/x").stat().st_mode & 0o777 == 0o600
    await store.delete("x")
    await store.delete("x")
    assert os.listdir(tmp_path / "a/b") == []
    with pytest.raises(HawseError, match="io_error"):
        await content(store, "x")


async def test_the_disk_is_not_filled(tmp_path: Path) -> None:
    disk = os.statvfs(tmp_path)
    store = DirectoryStore(tmp_path, keep_free=disk.f_blocks * disk.f_frsize)
    with pytest.raises(HawseError, match="no_space"):
        async with store.writing("x") as writer:
            await writer.write(b"x")
    assert os.listdir(tmp_path) == []


async def test_an_uncommitted_archive_is_removed(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    with pytest.raises(ValueError):
        async with store.writing("x") as writer:
            await writer.write(b"x")
            raise ValueError
    async with store.writing("y"):
        pass
    assert os.listdir(tmp_path) == []


async def test_a_cancelled_archive_leaves_no_file_and_no_descriptor(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)

    async def write() -> None:
        async with store.writing("x") as writer:
            while True:
                await writer.write(b"x")

    with no_fd_leaked():
        for turns in range(10):
            task = asyncio.create_task(write())
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert os.listdir(tmp_path) == []


async def test_leftovers_of_a_killed_gateway_are_deleted(tmp_path: Path) -> None:
    (tmp_path / "x.part").write_text("left")
    await DirectoryStore(tmp_path).delete("x")
    assert os.listdir(tmp_path) == []


async def test_a_directory_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(HawseError, match="unavailable: the backup store: File exists"):
        async with DirectoryStore(tmp_path / "f").writing("x"):
            pass


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "no_space"), (errno.EIO, "unavailable")])
def test_a_failure_of_the_disk_is_typed(number: int, code: str) -> None:
    with pytest.raises(HawseError) as raised, store_errors():
        raise OSError(number, os.strerror(number))
    assert (raised.value.code, raised.value.details) == (code, {"errno": number})


def test_a_full_disk_raises_no_space() -> None:
    with pytest.raises(HawseError, match="no_space"), store_errors(), open("/dev/full", "wb", buffering=0) as file:
        file.write(b"x")


def test_the_place_determines_the_kind_of_store(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_store("backups"), DirectoryStore)
    assert isinstance(open_store("s3://bucket/prefix"), ObjectStore)
    with pytest.raises(ValueError, match="expected s3://BUCKET"):
        open_store("ftp://host/x")
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "hawse_gateway.backups.object_store")
    with pytest.raises(ValueError, match=r"needs obstore: pip install 'hawse\[s3\]'"):
        open_store("s3://bucket/prefix")
