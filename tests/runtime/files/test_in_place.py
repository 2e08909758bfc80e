"""A file that is continued in place."""

import os
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.files.in_place import InPlaceWrite
from hawse_runtime.files.rooted_path import RootedPath


def write(path: Path, offset: int, data: bytes, mode: int | None = None) -> os.stat_result:
    file = InPlaceWrite(RootedPath(str(path), (str(path.parent),)), offset, parents=True)
    os.write(file.fd, data)
    return file.commit(mode)


def test_it_is_created_continued_and_ends_after_the_input(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert write(path, 0, b"hello").st_size == 5
    write(path, 5, b" world", 0o600)
    assert path.read_bytes() == b"hello world"
    assert path.stat().st_mode & 0o777 == 0o600
    write(path, 2, b"y")
    assert path.read_bytes() == b"hey"


def test_what_was_written_stays(tmp_path: Path) -> None:
    file = InPlaceWrite(RootedPath(str(tmp_path / "new" / "f")), 0, parents=True)
    os.write(file.fd, b"part")
    file.discard()
    assert (tmp_path / "new" / "f").read_bytes() == b"part"


def test_a_shorter_file_a_directory_and_a_fifo_are_refused(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"abc")
    with pytest.raises(HawseError, match="fewer than the offset 4") as refused:
        write(tmp_path / "short", 4, b"")
    assert refused.value.details == {"size": 3}
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "none", 1, b"")
    os.mkfifo(tmp_path / "fifo")
    for name, code in (("fifo", "invalid_params"), (".", "is_directory")):
        with pytest.raises((HawseError, IsADirectoryError), match=f"{code}|directory"):
            InPlaceWrite(RootedPath(str(tmp_path / name)), 0)


def test_a_symlink_below_a_root_does_not_leave_it(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    (tmp_path / "root" / "link").symlink_to("../outside")
    with pytest.raises(HawseError, match="permission_denied"):
        write(tmp_path / "root" / "link", 0, b"x")
    assert (tmp_path / "outside").read_bytes() == b"secret"
