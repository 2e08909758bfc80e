import os
from pathlib import Path

import pytest

from hawse.client.files.tree import Link, local_tree

# Trees of a sandbox are tested in tests/integration/test_copying.py.


def failing(path: str, error: Exception) -> None:
    raise error


def test_a_tree_has_files_directories_and_symlinks(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "f").write_bytes(b"four")
    (tmp_path / "d" / "f").chmod(0o2640)
    os.utime(tmp_path / "d" / "f", ns=(0, 1_234_567_891))
    (tmp_path / "to-d").symlink_to("d")
    os.utime(tmp_path / "to-d", ns=(0, 5), follow_symlinks=False)
    os.mkfifo(tmp_path / "fifo")
    tree = local_tree(tmp_path, failing)
    assert tree.files == [("d/f", 4, 0o2640, 1_234_567_891, False)]
    assert sorted(each.path for each in tree.directories) == ["", "d", "d/e"]
    assert tree.links == [Link("to-d", "d", 5)]
    assert tree.special == ["fifo"]
    assert tree.size == 4


def test_a_source_that_is_a_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"four")
    (tmp_path / "link").symlink_to("f")
    assert [each.size for each in local_tree(tmp_path / "link", failing).files] == [4]


def test_holes_are_seen(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 20)
    assert [each.sparse for each in local_tree(tmp_path, failing).files] == [True]


def test_what_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        local_tree(tmp_path / "nothing", failing)
