"""The quota: counted when needed, and again when it seems used up."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.files import quota
from hawse_runtime.files.quota import Quota
from hawse_runtime.posix.mount_points import MountPoint
from tests.support.runtime import Served


def test_without_a_limit_the_directory_is_not_counted() -> None:
    Quota("/nowhere").add(10**15)


def test_existing_and_added_bytes_count(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_bytes(bytes(600))
    (tmp_path / "link").symlink_to("d/f")
    few = Quota(str(tmp_path), 1000 + (tmp_path / "link").lstat().st_size)
    few.add(400)
    with pytest.raises(HawseError, match="quota") as caught:
        few.add(1)
    assert caught.value.code == "no_space"
    assert caught.value.details["quota"] == 1003
    few.add(-1)
    few.add(1)


def test_a_bucket_that_is_mounted_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d/data/in").mkdir(parents=True)
    (tmp_path / "d/data/in/object").write_bytes(bytes(5000))
    (tmp_path / "d/f").write_bytes(bytes(600))
    points = [MountPoint(("d", "data"), "fuse.rclone"), MountPoint(("d",), "ext4")]
    monkeypatch.setattr(quota, "mount_points_below", lambda fd: points)
    Quota(str(tmp_path), 1000).add(400)
    with pytest.raises(HawseError, match="quota"):
        Quota(str(tmp_path), 1000).add(401)


def test_deleted_bytes_no_longer_count(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(600))
    few = Quota(str(tmp_path), 1000, recount_interval=-1.0)
    few.add(0)
    (tmp_path / "f").unlink()
    few.add(900)


async def test_an_upload_beyond_the_quota_is_no_space_and_leaves_no_file_behind(tmp_path: Path) -> None:
    async with Served(tmp_path, quota=100_000) as served, served.client() as client:
        (served.workspace / "f").write_text("old")
        call = client.call("file.write", {"path": "f", "input": "i"})
        call.send(bytes(60_000))
        call.send(bytes(60_000))
        assert (await call.refusal()).code == "no_space"
        assert [path.name for path in served.workspace.iterdir()] == ["f"]
        assert (served.workspace / "f").read_text() == "old"
