"""A directory is replaced completely or not at all, whatever is in the way."""

import os
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.backup.directory_swap import exchange_by_kernel, replacing
from hawse_runtime.backup.tree_moves import move_entry
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import no_fd_leaked
from tests.support.trees import plant, seen

OLD = {b"a": b"old", b"sub": {b"b": b"old"}}


def fill(fd: int) -> None:
    """Make the new content: a file, and a directory that cannot be written to."""
    os.mkdir("sub", dir_fd=fd)
    for name in ("c", "sub/d"):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd))
    os.chmod("sub", 0o555, dir_fd=fd)


def names(folder: Path) -> set[bytes]:
    return set(seen(folder))


@pytest.mark.parametrize("in_place", [False, True])
def test_the_new_one_takes_the_place_and_nothing_else_stays(tmp_path: Path, in_place: bool) -> None:
    target = tmp_path / "t"
    plant(target, OLD)
    inode = target.stat().st_ino
    with no_fd_leaked():
        with replacing(RootedPath(str(target)), in_place=in_place) as swap:
            fill(swap.new)
            swap.commit()
        assert names(target) == {b"c", b"sub", b"sub/d"}
    assert (target.stat().st_ino == inode) is in_place
    assert os.listdir(tmp_path) == ["t"]


def test_a_missing_one_is_created_with_its_parents(tmp_path: Path) -> None:
    with no_fd_leaked(), replacing(RootedPath(str(tmp_path / "x/y"))) as swap:
        fill(swap.new)
        swap.commit()
    assert names(tmp_path) == {b"x", b"x/y", b"x/y/c", b"x/y/sub", b"x/y/sub/d"}


def test_an_exchange_that_is_not_possible_is_noticed(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert not exchange_by_kernel((fd, "missing"), (fd, "t"))
    finally:
        os.close(fd)


def test_the_time_and_the_mode_of_the_new_one_are_kept_in_place(tmp_path: Path) -> None:
    target = tmp_path / "t"
    plant(target, OLD)
    with no_fd_leaked(), replacing(RootedPath(str(target)), in_place=True) as swap:
        fill(swap.new)
        os.chmod(swap.new, 0o555)
        os.utime(swap.new, ns=(5, 7))
        swap.commit()
    status = target.stat()
    assert (status.st_mode & 0o7777, status.st_mtime_ns) == (0o555, 7)
    assert os.listdir(tmp_path) == ["t"]


@pytest.mark.parametrize("in_place", [False, True])
def test_a_root_itself_is_replaced(tmp_path: Path, in_place: bool) -> None:
    root = tmp_path / "t"
    plant(root, OLD)
    with no_fd_leaked(), replacing(RootedPath(str(root), (str(root),)), in_place=in_place) as swap:
        fill(swap.new)
        swap.commit()
    assert names(root) == {b"c", b"sub", b"sub/d"}


@pytest.mark.parametrize("in_place", [False, True])
def test_what_killed_restores_have_left_is_removed_by_the_next_one(tmp_path: Path, in_place: bool) -> None:
    plant(tmp_path / "t", OLD)
    left = (tmp_path / "t" if in_place else tmp_path) / ".hawse-restore-0123456789abcdef"
    plant(left, {b"new": {b"x": b"x"}})
    with replacing(RootedPath(str(tmp_path / "t")), in_place=in_place) as swap:
        with replacing(RootedPath(str(tmp_path / "t")), in_place=in_place):
            assert not left.exists()
        fill(swap.new)  # one that is in use is none of them
        swap.commit()
    assert names(tmp_path) == {b"t", b"t/c", b"t/sub", b"t/sub/d"}


@pytest.mark.parametrize("in_place", [False, True])
def test_without_commit_nothing_changes(tmp_path: Path, in_place: bool) -> None:
    plant(tmp_path / "t", OLD)
    before = seen(tmp_path)
    with (
        no_fd_leaked(),
        pytest.raises(ValueError),
        replacing(RootedPath(str(tmp_path / "t")), in_place=in_place) as swap,
    ):
        fill(swap.new)
        raise ValueError
    assert seen(tmp_path) == before


def test_entries_are_renamed_where_both_cannot_be_exchanged(tmp_path: Path) -> None:
    plant(tmp_path / "t", OLD)
    with no_fd_leaked(), replacing(RootedPath(str(tmp_path / "t"))) as swap:
        fill(swap.new)
        swap.commit(exchange=lambda one, other: False)
    assert names(tmp_path) == {b"t", b"t/c", b"t/sub", b"t/sub/d"}


def test_a_failure_between_two_renames_puts_everything_back(tmp_path: Path) -> None:
    """An entry that is kept has the name of a new one."""
    plant(tmp_path / "t", {**OLD, b"c": b"kept"})
    before = seen(tmp_path)
    with (
        no_fd_leaked(),
        pytest.raises(HawseError, match="conflict"),
        replacing(RootedPath(str(tmp_path / "t")), frozenset({"c"}), in_place=True) as swap,
    ):
        fill(swap.new)
        swap.commit()
    assert seen(tmp_path) == before


def test_what_is_kept_stays(tmp_path: Path) -> None:
    plant(tmp_path / "t", {**OLD, b"archive": b"kept"})
    with replacing(RootedPath(str(tmp_path / "t")), frozenset({"archive"}), in_place=True) as swap:
        fill(swap.new)
        swap.commit()
    assert names(tmp_path / "t") == {b"archive", b"c", b"sub", b"sub/d"}


def test_behind_a_symlink_the_directory_is_replaced_and_the_symlink_stays(tmp_path: Path) -> None:
    plant(tmp_path / "t", OLD)
    (tmp_path / "l").symlink_to("t")
    with replacing(RootedPath(str(tmp_path / "l"))) as swap:
        fill(swap.new)
        swap.commit()
    assert os.readlink(tmp_path / "l") == "t"
    assert names(tmp_path / "t") == {b"c", b"sub", b"sub/d"}


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with no_fd_leaked(), pytest.raises(HawseError, match="not_directory"), replacing(RootedPath(str(tmp_path / "f"))):
        pass
    assert os.listdir(tmp_path) == ["f"]


def test_something_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="conflict"), replacing(RootedPath(str(tmp_path / "t"))) as swap:
        (tmp_path / "t").write_text("mine")
        swap.commit()
    assert (tmp_path / "t").read_text() == "mine"
    assert os.listdir(tmp_path) == ["t"]


def test_an_entry_whose_name_was_taken_meanwhile_is_not_lost(tmp_path: Path) -> None:
    """A program creates `a` after the old one was moved aside, and another failure ends the replacement."""
    plant(tmp_path / "t", {b"a": b"old", b"b": b"old", b"c": b"kept"})

    def move(name: str, source: int, target: int) -> None:
        move_entry(name, source, target)
        if name == "a":
            (tmp_path / "t/a").write_text("new")

    with (
        no_fd_leaked(),
        pytest.raises(HawseError, match="entries that could not be restored") as raised,
        replacing(RootedPath(str(tmp_path / "t")), frozenset({"c"}), in_place=True) as swap,
    ):
        fill(swap.new)
        swap.commit(move=move)
    assert (raised.value.code, raised.value.admitted) == ("conflict", "yes")
    aside = tmp_path / "t" / raised.value.message.split()[-1]
    found = [(path / name).read_text() for path, name in ((aside, "a"), (tmp_path / "t", "a"), (tmp_path / "t", "b"))]
    assert found == ["old", "new", "old"]
