"""The walk: what `os.walk` sees, without leaving the tree and without holding it."""

import os
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings

from hawse_runtime.files.walk import DEPTH_LIMIT, Leave, Turns, WalkEntry, WalkError, walk
from tests.support.runtime import no_fd_leaked
from tests.support.trees import plant, seen, trees


def walked(folder: Path, **options):
    top = os.open(folder, os.O_RDONLY)
    try:
        return [item for item in walk(top, **options) if item is not None]
    finally:
        os.close(top)


@given(trees)
@settings(deadline=None, max_examples=50)
def test_a_walk_finds_all_entries(tree) -> None:
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        top = Path(folder, "t")
        plant(top, tree)
        items = walked(top)
        found = {os.fsencode(item.path): item.status.st_mode for item in items if isinstance(item, WalkEntry)}
        assert found == {path: mode for path, (mode, _) in seen(top).items()}
        left = [item.names for item in items if isinstance(item, Leave)]
        assert sorted(left) == sorted(item.names for item in items if isinstance(item, WalkEntry) and item.is_directory)


def test_symlinks_are_returned_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/up").symlink_to("..")
    top = os.open(tmp_path, os.O_RDONLY)
    targets = {item.path: item.target() for item in walk(top) if isinstance(item, WalkEntry)}
    os.close(top)
    assert targets == {"loop": ".", "d": None, "d/up": ".."}


def test_entries_that_are_not_entered_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "x/y").mkdir(parents=True)
    status = (tmp_path / "x").stat()
    paths = [item.path for item in walked(tmp_path, depth=2) if isinstance(item, WalkEntry)]
    assert sorted(paths) == ["a", "a/b", "x", "x/y"]
    paths = [
        item.path for item in walked(tmp_path, enters=lambda names: names[-1] != "b") if isinstance(item, WalkEntry)
    ]
    assert sorted(paths) == ["a", "x", "x/y"]
    paths = [item.path for item in walked(tmp_path, skip=(status.st_dev, status.st_ino)) if isinstance(item, WalkEntry)]
    assert sorted(paths) == ["a", "a/b", "a/b/c"]


def test_the_error_for_a_tree_that_is_too_deep_has_its_path(tmp_path: Path) -> None:
    os.makedirs(tmp_path / "/".join("d" * (DEPTH_LIMIT + 2)))
    with no_fd_leaked():
        errors = [item for item in walked(tmp_path) if isinstance(item, WalkError)]
    assert [(len(error.names), error.error.code) for error in errors] == [(DEPTH_LIMIT + 1, "too_large")]


def test_a_directory_that_became_a_symlink_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret").write_text("")
    (tmp_path / "in/d").mkdir(parents=True)
    top = os.open(tmp_path / "in", os.O_RDONLY)
    with closing(walk(top)) as found:
        assert isinstance(next(found), WalkEntry)
        (tmp_path / "in/d").rmdir()
        (tmp_path / "in/d").symlink_to("../out")
        rest = list(found)
    os.close(top)
    assert [type(item) for item in rest] == [WalkError]


def test_a_walk_that_is_closed_early_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    with no_fd_leaked():
        top = os.open(tmp_path, os.O_RDONLY)
        with closing(walk(top)) as found:
            next(found)
            next(found)
        os.close(top)
    with no_fd_leaked(), pytest.raises(OSError, match="descriptor"):
        next(walk(-5))


def test_turns_come_again() -> None:
    turns = Turns(0.0)
    assert turns.due()
    assert turns.due()
    assert not Turns(1000.0).due()
