"""Removing a directory tree: files of any type and mode are removed."""

import os
import resource
from pathlib import Path

import pytest

from hawse_runtime.core.remove_tree import remove_tree


@pytest.mark.parametrize("descriptors", [None, 100])
def test_no_depth_is_too_deep(tmp_path: Path, descriptors: int | None) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside)
    within = os.open(root, os.O_RDONLY)
    try:
        for _ in range(3000):  # longer than a path may be
            os.mkdir("d", dir_fd=within)
            deeper = os.open("d", os.O_RDONLY, dir_fd=within)
            os.close(within)
            within = deeper
    finally:
        os.close(within)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + descriptors, hard))
    try:
        remove_tree(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert os.listdir(tmp_path) == ["outside"]


def test_nothing_to_remove_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "missing")


def test_without_a_descriptor_it_stays_and_nothing_is_raised(tmp_path: Path) -> None:
    (tmp_path / "left").write_text("x")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        remove_tree(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    remove_tree(tmp_path)
    assert not tmp_path.exists()
