"""Trees are moved and removed, whatever their modes are."""

import os
from pathlib import Path

import pytest

from hawse_runtime.backup.tree_moves import move_entry, remove_beneath, remove_leftover
from tests.support.runtime import no_fd_leaked
from tests.support.trees import plant


def test_trees_are_removed_whose_directories_cannot_be_written_to(tmp_path: Path) -> None:
    plant(tmp_path / "t", {b"a": {b"b": {b"c": b"x"}}})
    for path in ("t/a/b", "t/a"):
        os.chmod(tmp_path / path, 0)
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with no_fd_leaked():
            remove_beneath(fd, "t")
            remove_beneath(fd, "missing")
    finally:
        os.close(fd)
    assert os.listdir(tmp_path) == []


def test_a_leftover_is_removed_from_a_directory_that_cannot_be_written_to(tmp_path: Path) -> None:
    plant(tmp_path / "t", {b"a": {b"b": b"x"}, b"f": b"x"})
    fd = os.open(tmp_path / "t", os.O_RDONLY | os.O_DIRECTORY)
    os.fchmod(fd, 0o555)
    try:
        for name in ("a", "f", "missing"):
            remove_leftover(fd, name)
        assert os.listdir(fd) == []
        assert os.fstat(fd).st_mode & 0o7777 == 0o555
    finally:
        os.close(fd)


def test_a_name_that_is_taken_is_not_replaced(tmp_path: Path) -> None:
    plant(tmp_path / "t", {b"a": {b"f": b"1"}, b"b": {b"f": b"2"}})
    one, other = (os.open(tmp_path / "t" / name, os.O_RDONLY | os.O_DIRECTORY) for name in "ab")
    try:
        with pytest.raises(FileExistsError):
            move_entry("f", one, other)
        move_entry("f", one, other, "g")
    finally:
        os.close(one)
        os.close(other)
    assert (tmp_path / "t/b/g").read_text() == "1"
