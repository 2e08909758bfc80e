"""Removing directories that user programs have filled."""

import os
import sys
import traceback
from pathlib import Path

import pytest

from hawse_gateway.core.removal import remove_tree

USER = 1000  # any but the superuser


def deep(top: Path, depth: int) -> None:
    top.mkdir()
    within = os.open(top, os.O_RDONLY)
    try:
        for _ in range(depth):  # longer than a path may be
            os.mkdir("d", dir_fd=within)
            deeper = os.open("d", os.O_RDONLY, dir_fd=within)
            os.close(within)
            within = deeper
    finally:
        os.close(within)


def test_a_tree_deeper_than_the_recursion_limit_is_removed(tmp_path: Path) -> None:
    deep(tmp_path / "deep", sys.getrecursionlimit() * 3)
    remove_tree(tmp_path / "deep")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_relative_to_a_descriptor_is_removed_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    deep(tmp_path / "deep", sys.getrecursionlimit() * 3)
    (tmp_path / "deep" / "link").symlink_to(outside)
    above = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    try:
        remove_tree("deep", dir_fd=above)
    finally:
        os.close(above)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "kept").exists()


def remove_as_ordinary_user(path: Path) -> None:
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
        try:
            remove_tree(path)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500])
def test_an_ordinary_user_removes_directories_without_write_permission(tmp_path: Path, mode: int) -> None:
    kept = tmp_path / "kept"
    kept.touch(mode=0o400)
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "file").touch()
    (top / "a" / "link").symlink_to(kept)
    for path in (top / "a" / "b", top / "a", top):
        path.chmod(mode)
    if os.geteuid() == 0:
        for path in (tmp_path, top, top / "a", top / "a" / "b", top / "a" / "b" / "file", kept):
            os.chown(path, USER, USER)
        for path in tmp_path.parents:
            if not path.stat().st_mode & 0o001:
                path.chmod(path.stat().st_mode | 0o001)
    remove_as_ordinary_user(top)
    assert not top.exists()
    assert kept.stat().st_mode & 0o777 == 0o400


def test_nothing_to_remove_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "missing")


def test_a_directory_that_cannot_be_removed_is_an_error_with_its_reason() -> None:
    with pytest.raises(OSError, match=r"Device or resource busy|Permission denied|Operation not permitted"):
        remove_tree("/proc/self/fdinfo")


def test_a_link_or_file_in_place_of_the_directory_stays(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(OSError, match=r"Not a directory|symbolic link|Too many levels"):
            remove_tree(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_no_program_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is also called in a sandbox's mount namespace, whose programs belong to the sandbox."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("rm", "chmod", "sh"):
        (programs / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    deep(tmp_path / "deep", sys.getrecursionlimit() * 3)
    remove_tree(tmp_path / "deep")
    assert os.listdir(tmp_path) == ["programs"]
