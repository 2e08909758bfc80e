"""rclone serves a directory in another mount namespace: started, found again, ended."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from hawse.api.mounts import MountCredentials
from hawse.wire import HawseError
from hawse_gateway.mounts import rclone
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.settings import MountSettings, Source
from tests.support.gateway import eventually
from tests.support.mount_place import Place, mount_place
from tests.support.object_store import BUCKET, KEY_ID, SECRET, object_store


@pytest_asyncio.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    with mount_place(tmp_path) as place:
        yield place


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/x").write_text("of the host")
    return Source(directory=str(tmp_path / "source"))


def pid_of(processes: MountProcesses, id: str) -> int:
    return int(processes.folder(id).process.read_text().split()[0])


async def test_a_mount_is_created_found_by_another_gateway_and_removed(
    tmp_path: Path, place: Place, source: Source
) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=False, check=True)
    assert place.path("data/x").read_text() == "of the host"
    assert not (place.workspace / "data/x").exists()  # here
    assert processes.folder("m-1").mounted_in() == "r"
    later = MountProcesses(tmp_path / "mounts", MountSettings())
    assert (later.alive("m-1"), later.alive("m-2"), later.ids()) == (True, False, ["m-1"])
    await later.unmount("m-1", place.inside(), force=False)
    await later.unmount("m-1", place.inside(), force=False)  # it is not there: no error
    assert not place.path("data/x").exists()
    assert later.alive("m-1")  # it may have something to upload
    await processes.end("m-1")
    assert not later.alive("m-1")
    later.remove("m-1")
    later.remove("m-1")
    assert later.ids() == []


async def test_programs_get_an_error_when_rclone_is_killed(tmp_path: Path, place: Place, source: Source) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=False, check=False)
    psutil.Process(pid_of(processes, "m-1")).kill()
    await eventually(lambda: not processes.alive("m-1"))
    with pytest.raises(OSError, match=r"not connected|connection abort"):
        place.path("data/x").read_text()
    await processes.unmount("m-1", place.inside(), force=True)
    await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=True, check=False)
    assert place.path("data/x").read_text() == "of the host"
    with pytest.raises(OSError, match="Read-only"):
        place.path("data/y").write_text("")
    await processes.end("m-1")


async def test_rclone_keeps_running_after_the_sandbox_has_ended(tmp_path: Path, place: Place, source: Source) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=False, check=False)
    place.path("data/y").write_text("late")
    place.end()
    await processes.unmount("m-1", place.inside(), force=False)  # it has ended: no error
    assert processes.alive("m-1")
    await eventually((tmp_path / "source/y").exists)
    await processes.end("m-1")


async def test_pending_files_are_uploaded_without_a_sandbox(
    tmp_path: Path, place: Place, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    with monkeypatch.context() as patched:
        patched.setattr(rclone, "WRITE_BACK", 3600)  # s: it is killed before
        await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=False, check=False)
    place.path("data/y").write_text("late")
    psutil.Process(pid_of(processes, "m-1")).kill()
    await eventually(lambda: not processes.alive("m-1"))
    assert not (tmp_path / "source/y").exists()
    await processes.start("m-1", source, inside=None, runtime=None, read_only=False, check=False)
    assert processes.folder("m-1").mounted_in() is None
    await eventually((tmp_path / "source/y").exists)
    await processes.end("m-1")


async def test_a_failed_mount_is_a_typed_error_and_leaves_no_process(
    tmp_path: Path, place: Place, source: Source
) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    (place.workspace / "full/x").mkdir(parents=True)
    with pytest.raises(HawseError) as raised:
        await processes.start("m-1", source, inside=place.inside("full"), runtime="r", read_only=False, check=True)
    assert raised.value.code == "conflict"
    missing = Source(directory=str(tmp_path / "missing"))
    with pytest.raises(HawseError) as raised:
        await processes.start("m-1", missing, inside=place.inside(), runtime="r", read_only=False, check=True)
    assert raised.value.code == "unavailable"
    refused = Source(bucket="b", endpoint="http://127.0.0.1:9")
    with pytest.raises(HawseError) as raised:
        await processes.start("m-1", refused, inside=place.inside(), runtime="r", read_only=False, check=True)
    assert raised.value.code == "io_error"
    assert not processes.alive("m-1")
    assert not os.listdir(place.path())
    place.end()
    with pytest.raises(HawseError) as raised:
        await processes.start("m-1", source, inside=place.inside(), runtime="r", read_only=False, check=True)
    assert raised.value.code == "unavailable"


def test_a_long_log_is_truncated(tmp_path: Path) -> None:
    processes = MountProcesses(tmp_path, MountSettings())
    assert processes.tail("m-1") == ""
    processes.folder("m-1").home.mkdir()
    processes.folder("m-1").log.write_text("x" * (1 << 20) + "\nlast")
    assert processes.tail("m-1").endswith("last")
    assert processes.folder("m-1").log.stat().st_size == 0


async def test_a_missing_bucket_is_distinguished_from_an_empty_one(tmp_path: Path, place: Place) -> None:
    processes = MountProcesses(tmp_path / "mounts", MountSettings())
    async with object_store() as store:
        given = MountCredentials(access_key_id=KEY_ID, secret_access_key=SECRET)
        empty = Source(bucket=BUCKET, prefix="a/b", endpoint=store.url, credentials=given)
        other = Source(bucket="other", endpoint=store.url, credentials=given)
        assert await processes.missing(empty) is None
        assert await processes.missing(other) == "the store has no bucket 'other'"
        with pytest.raises(HawseError, match="the store has no bucket 'other'") as caught:
            await processes.start("m-1", other, inside=place.inside(), runtime="r", read_only=False, check=True)
        assert caught.value.code == "not_found"
        assert processes.ids() == []
    assert await processes.missing(other) is None  # a store that does not answer says nothing about a bucket
