"""A private temporary directory. The directory of a killed process is removed by the next one."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hawse_runtime.core import private_tempdir as module
from hawse_runtime.core.private_tempdir import PrivateTempDir

MAKE = """
import pathlib, sys, time
from hawse_runtime.core.private_tempdir import PrivateTempDir
folder = PrivateTempDir(pathlib.Path(sys.argv[1]))
(folder.path / "file").touch()
print(folder.path, flush=True)
time.sleep(60)
"""


def make_old(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_only_its_user_can_read_it_and_close_removes_it(tmp_path: Path) -> None:
    folder = PrivateTempDir(tmp_path)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    (folder.path / "file").touch()
    folder.close()
    assert not list(tmp_path.iterdir())


def test_the_directory_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    others = [
        subprocess.Popen([sys.executable, "-c", MAKE, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        folders = [Path(other.stdout.readline().strip()) for other in others if other.stdout is not None]
        others[0].send_signal(signal.SIGKILL)
        others[0].wait()
        for folder in folders:
            make_old(folder)
        mine = PrivateTempDir(tmp_path)
        assert set(tmp_path.iterdir()) == {folders[1], mine.path}
        mine.close()
    finally:
        for other in others:
            other.kill()
            other.wait()
            assert other.stdout is not None
            other.stdout.close()


def test_a_young_directory_a_file_and_a_link_are_not_removed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / ".hawse-own-young").mkdir()
    (tmp_path / ".hawse-own-file").touch()
    (tmp_path / ".hawse-own-link").symlink_to("elsewhere")
    make_old(tmp_path / ".hawse-own-file")
    os.utime(tmp_path / ".hawse-own-link", (0, 0), follow_symlinks=False)
    PrivateTempDir(tmp_path).close()
    assert {path.name for path in tmp_path.iterdir()} == {
        "elsewhere",
        ".hawse-own-young",
        ".hawse-own-file",
        ".hawse-own-link",
    }
    assert (tmp_path / "elsewhere" / "file").exists()


def test_without_dev_shm_it_is_in_the_directory_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = PrivateTempDir()
    assert folder.path.parent == tmp_path
    folder.close()
