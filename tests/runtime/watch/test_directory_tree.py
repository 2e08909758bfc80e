"""The directories of a watch, on a real disk."""

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter
from hawse_runtime.watch.directory_tree import DirectoryTree, OverflowedError
from tests.support.runtime import no_fd_leaked

Make = Callable[..., DirectoryTree]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    trees: list[DirectoryTree] = []

    def make(
        *, recursive: bool = True, include: tuple[str, ...] = (), exclude: tuple[str, ...] = (), **options: int
    ) -> DirectoryTree:
        (tmp_path / "root").mkdir(exist_ok=True)
        tree = DirectoryTree(str(tmp_path / "root"), Filter(include, exclude), recursive=recursive, **options)
        trees.append(tree)
        tree.open()
        return tree

    with no_fd_leaked():
        yield make
        for tree in trees:
            tree.close()


def taken(tree: DirectoryTree, root: Path) -> set[tuple[str, str]]:
    return {(change.type, os.path.relpath(change.path, root)) for change in tree.take()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def test_created_modified_renamed_and_deleted_files_are_reported(make: Make, root: Path) -> None:
    tree = make()
    (root / "a").write_text("1")
    assert taken(tree, root) == {("added", "a"), ("modified", "a")}
    (root / "a").chmod(0o600)
    assert taken(tree, root) == {("modified", "a")}
    (root / "a").rename(root / "b")
    assert taken(tree, root) == {("deleted", "a"), ("added", "b")}
    (root / "b").unlink()
    assert taken(tree, root) == {("deleted", "b")}
    assert tree.take() == []


def test_the_whole_content_of_a_new_directory_is_reported_however_fast_it_was_filled(make: Make, root: Path) -> None:
    tree = make()
    for number in range(100):
        (root / f"{number}/a/b").mkdir(parents=True)
        (root / f"{number}/a/b/file").touch()
    changes = taken(tree, root)
    assert {("added", f"{number}/a/b/file") for number in range(100)} <= changes
    assert {("added", f"{number}/a") for number in range(100)} <= changes
    (root / "7/a/b/later").touch()
    assert taken(tree, root) == {("added", "7/a/b/later")}


def test_a_moved_directory_is_reported_and_watched_under_its_new_path(make: Make, root: Path, tmp_path: Path) -> None:
    (root / "old/deep").mkdir(parents=True)
    tree = make()
    (root / "old").rename(root / "new")
    assert taken(tree, root) == {("deleted", "old"), ("added", "new"), ("added", "new/deep")}
    (root / "new/deep/file").touch()
    assert taken(tree, root) == {("added", "new/deep/file")}
    (root / "new").rename(tmp_path / "outside")
    assert taken(tree, root) == {("deleted", "new")}
    (tmp_path / "outside/deep/other").touch()
    assert tree.take() == []
    assert len(tree) == 1
    (tmp_path / "outside").rename(root / "back")
    assert ("added", "back/deep/other") in taken(tree, root)


def test_a_deleted_tree_of_directories_is_no_longer_watched(make: Make, root: Path) -> None:
    tree = make()
    for number in range(50):
        (root / f"d/{number}/x").mkdir(parents=True)
    tree.take()
    assert len(tree) == 102
    shutil.rmtree(root / "d")
    assert ("deleted", "d") in taken(tree, root)
    assert len(tree) == 1


def test_without_recursion_only_the_directory_itself_is_watched(make: Make, root: Path) -> None:
    (root / "sub").mkdir(parents=True)
    tree = make(recursive=False)
    (root / "sub/file").touch()
    (root / "new").mkdir()
    (root / "new/file").touch()
    assert taken(tree, root) == {("added", "new")}


def test_excluded_directories_are_not_watched(make: Make, root: Path) -> None:
    (root / "node_modules/pkg").mkdir(parents=True)
    tree = make(include=("*.js",), exclude=("node_modules",))
    assert len(tree) == 1
    (root / "src/node_modules").mkdir(parents=True)
    (root / "src/node_modules/a.js").touch()
    (root / "src/a.js").touch()
    (root / "src/a.ts").touch()
    assert taken(tree, root) == {("added", "src/a.js")}
    assert len(tree) == 2


def test_a_symlink_is_reported_and_not_followed(make: Make, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    tree = make()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "loop").symlink_to(".")
    (tmp_path / "elsewhere/file").touch()
    assert taken(tree, root) == {("added", "link"), ("added", "loop")}


def test_a_name_that_is_not_utf8_is_reported(make: Make, root: Path) -> None:
    tree = make()
    os.mkdir(os.fsencode(root) + b"/\xff")
    os.close(os.open(os.fsencode(root) + b"/\xff/\xc3\xa9\n", os.O_CREAT))
    assert taken(tree, root) == {("added", "\0ff"), ("added", "\0ff/é\n")}


def test_the_end_of_the_root_is_noticed(make: Make, root: Path) -> None:
    tree = make()
    (root / "a").touch()
    assert not tree.root_removed
    shutil.rmtree(root)
    assert ("deleted", "a") in taken(tree, root)
    assert tree.root_removed


def test_moving_the_root_away_ends_the_watch(make: Make, root: Path, tmp_path: Path) -> None:
    tree = make()
    root.rename(tmp_path / "moved")
    tree.take()
    assert tree.root_removed


def test_an_overflow_is_raised_and_after_reopening_everything_is_watched(make: Make, root: Path) -> None:
    tree = make()
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(limit + 1):
        (root / str(number)).touch()
    (root / "late").mkdir()
    with pytest.raises(OverflowedError):
        tree.take()
    tree.reopen()
    (root / "late/file").touch()
    assert taken(tree, root) == {("added", "late/file")}


def test_a_path_that_is_not_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with no_fd_leaked():
        for name, kind in (("none", FileNotFoundError), ("file", NotADirectoryError)):
            tree = DirectoryTree(str(tmp_path / name), Filter([], []), recursive=True)
            with pytest.raises(kind):
                tree.open()
            tree.close()


def test_more_directories_than_allowed_raise_limit_exceeded(make: Make, root: Path) -> None:
    tree = make(limit=3)
    for number in range(3):
        (root / str(number)).mkdir()
    with pytest.raises(HawseError, match="limit_exceeded"):
        tree.take()


def test_without_a_free_descriptor_it_raises_limit_exceeded(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(HawseError, match="limit_exceeded"):
            DirectoryTree(str(tmp_path), Filter([], []), recursive=False)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
