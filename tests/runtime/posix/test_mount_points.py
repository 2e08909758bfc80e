"""The mounts below a directory, from samples of mountinfo and on this machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_runtime.posix import mount_points
from hawse_runtime.posix.mount_points import MountPoint, mount_points_below

SAMPLE = (
    b"22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    b"40 22 0:50 / %s rw - tmpfs tmpfs rw\n"
    b"41 40 0:51 / %s/data rw,nosuid - fuse.rclone hawse-m-1 rw,user_id=0\n"
    b"42 40 0:52 / %s/a\\040b/c\\134d rw shared:7 master:2 - ext4 /dev/vdb rw\n"
    b"43 22 0:53 / %s-not/below rw - fuse x rw\n"
)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_PATH)
    yield fd
    os.close(fd)


def test_what_is_below_is_found_with_its_type(tmp_path: Path, directory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SAMPLE.replace(b"%s", os.fsencode(tmp_path))
    monkeypatch.setattr(mount_points, "read_proc", lambda path: text)
    assert mount_points_below(directory) == [
        MountPoint(("data",), "fuse.rclone"),
        MountPoint(("a b", "c\\d"), "ext4"),
    ]
    assert [point.is_fuse for point in mount_points_below(directory)] == [True, False]


def test_the_kernel_is_asked(directory: int) -> None:
    assert mount_points_below(directory) == []
    root = os.open("/", os.O_PATH)
    try:
        assert MountPoint(("proc",), "proc") in mount_points_below(root)
    finally:
        os.close(root)
