import os
from pathlib import Path

import pytest

from hawse_runtime.posix.proc import list_proc, open_proc, read_link, read_proc, reopen


def test_paths_are_relative_to_proc() -> None:
    assert read_proc("self/stat").split()[0] == str(os.getpid()).encode()
    assert read_link("self") == str(os.getpid())
    assert str(os.getpid()) in list_proc()
    assert "0" in list_proc("self/fd")
    fd = open_proc("net/tcp")
    assert os.read(fd, 4) == b"  sl"
    os.close(fd)


def test_a_process_that_has_ended_is_not_found() -> None:
    with pytest.raises(FileNotFoundError):
        read_proc("0/stat")


def test_a_descriptor_without_access_is_opened_for_reading(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    path = os.open(tmp_path / "file", os.O_PATH)
    fd = reopen(path, os.O_RDONLY)
    assert os.read(fd, 100) == b"content"
    assert not os.get_inheritable(fd)
    os.close(fd)
    os.close(path)
