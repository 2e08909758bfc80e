"""The file of a workspace of fixed size. Mounting and enforcement: tests/integration/test_isolation.py."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.isolation import disk_image
from hawse_gateway.providers.state_directory import StateError


def test_a_file_is_created_once_with_a_file_system_and_uses_little_space(tmp_path: Path) -> None:
    image = tmp_path / "workspace.img"
    disk_image.make(image, 1 << 30)
    made = image.stat()
    assert made.st_size == 1 << 30
    assert made.st_blocks * 512 < 100 << 20
    with image.open("rb") as file:
        file.seek(0x438)
        assert file.read(2) == b"\x53\xef"  # the magic number of ext4
    disk_image.make(image, 1 << 20)
    again = image.stat()  # reading has changed the time of the last access
    assert (again.st_ino, again.st_size, again.st_mtime_ns) == (made.st_ino, made.st_size, made.st_mtime_ns)
    assert [path.name for path in tmp_path.iterdir()] == ["workspace.img"]


def test_a_size_that_has_no_room_for_a_file_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="too small") as caught:
        disk_image.make(tmp_path / "workspace.img", disk_image.SMALLEST - 1)
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.limits.disk"})
    disk_image.make(tmp_path / "workspace.img", disk_image.SMALLEST)


def test_a_file_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot create a workspace"):
        disk_image.make(tmp_path / "missing" / "workspace.img", 1 << 30)


def test_a_file_that_is_not_mounted_is_released(tmp_path: Path) -> None:
    disk_image.wait_until_released(tmp_path / "missing", 0)
    (tmp_path / "workspace.img").touch()
    disk_image.wait_until_released(tmp_path / "workspace.img", 0)
