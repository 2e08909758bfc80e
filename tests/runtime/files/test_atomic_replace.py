"""A file appears whole or not at all, where it was meant to be, and takes no place that is taken."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hawse.wire import HawseError
from hawse_runtime.files.atomic_replace import AtomicReplacement, make_parents, rename, rename_by_steps
from hawse_runtime.files.rooted_path import RootedPath


def place(path: Path, *roots: Path) -> RootedPath:
    return RootedPath(str(path), tuple(map(str, roots)))


def put(path: Path, data: bytes, *roots: Path, mode: int | None = None) -> None:
    file = AtomicReplacement(place(path, *roots), parents=True)
    os.write(file.fd, data)
    file.commit(mode)


def test_a_replacement_keeps_mode_and_owner(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("old")
    owner = (1234, 2345) if os.getuid() == 0 else (os.getuid(), os.getgid())
    os.chown(file, *owner)
    file.chmod(0o4711)
    put(file, b"new")
    status = file.stat()
    assert (file.read_bytes(), stat.S_IMODE(status.st_mode)) == (b"new", 0o4711)
    assert (status.st_uid, status.st_gid) == owner


def test_a_discarded_replacement_leaves_the_old_file_only(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    file = AtomicReplacement(place(tmp_path / "f"))
    os.write(file.fd, b"new")
    assert len(os.listdir(tmp_path)) == 2
    file.discard()
    assert os.listdir(tmp_path) == ["f"]
    assert (tmp_path / "f").read_text() == "old"


def test_a_chain_of_symlinks_stays_and_its_end_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "a").symlink_to("d/b")
    (tmp_path / "d/b").symlink_to("../c")
    put(tmp_path / "a", b"new")
    assert (tmp_path / "c").read_bytes() == b"new"
    assert (tmp_path / "d/b").is_symlink()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="Too many") as caught:
        put(tmp_path / "loop", b"")
    assert caught.value.errno == errno.ELOOP


def test_a_symlink_does_not_lead_out_of_a_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to("../secret")
    (root / "abs").symlink_to(tmp_path / "secret")
    (root / "in").symlink_to(root / "f")
    for name in ("out", "abs"):
        with pytest.raises(HawseError, match="leaves"):
            put(root / name, b"x", root)
    put(root / "in", b"x", root)
    assert (root / "f").read_bytes() == b"x"
    assert not (tmp_path / "secret").exists()


def test_parents_are_made_and_a_file_as_a_parent_is_an_error(tmp_path: Path) -> None:
    make_parents(place(tmp_path / "a/b/c/d"))
    assert (tmp_path / "a/b/c").is_dir()
    assert not (tmp_path / "a/b/c/d").exists()
    (tmp_path / "f").write_text("")
    with pytest.raises(NotADirectoryError):
        make_parents(place(tmp_path / "f/g/h"))


def by_steps(source: Any, target: Any) -> None:
    rename_by_steps(source, target)


def by_kernel(source: Any, target: Any) -> None:
    rename(source, target, overwrite=False)


@pytest.mark.parametrize("way", [by_steps, by_kernel])
def test_a_place_that_is_taken_is_not_taken_again(tmp_path: Path, way: Any) -> None:
    fd = os.open(tmp_path, os.O_PATH)
    (tmp_path / "f").write_text("f")
    (tmp_path / "g").write_text("g")
    (tmp_path / "d").mkdir()
    (tmp_path / "empty").mkdir()
    for source, target in (("f", "g"), ("d", "g"), ("f", "d"), ("d", "empty")):
        with pytest.raises(FileExistsError):
            way((fd, source), (fd, target))
    way((fd, "f"), (fd, "new"))
    way((fd, "d"), (fd, "dir"))
    with pytest.raises(FileNotFoundError):
        way((fd, "none"), (fd, "x"))
    assert sorted(os.listdir(tmp_path)) == ["dir", "empty", "g", "new"]
    rename((fd, "new"), (fd, "g"), overwrite=True)
    assert (tmp_path / "g").read_text() == "f"
    os.close(fd)


def test_a_file_system_without_atomic_no_replace_gets_two_steps(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_PATH)
    (tmp_path / "f").write_text("f")
    rename((fd, "f"), (fd, "g"), overwrite=False, by_kernel=lambda source, target: False)
    assert os.listdir(tmp_path) == ["g"]
    os.close(fd)
