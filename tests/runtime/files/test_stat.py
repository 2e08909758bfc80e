"""File types: every type by its name."""

import os
import socket
from pathlib import Path

from hawse_runtime.files.stat import entry, type_of, version_of


def test_each_type_of_file_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "directory").mkdir()
    (tmp_path / "symlink").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "socket"))
        for path in tmp_path.iterdir():
            assert type_of(path.lstat()) == path.name
    assert type_of(os.stat("/dev/null")) == "device"


def test_a_version_changes_with_the_content(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    before = version_of(file.stat())
    assert version_of(file.stat()) == before
    file.write_text("xx")
    assert version_of(file.stat()) != before


def test_the_names_of_an_entry_are_escaped_for_the_protocol(tmp_path: Path) -> None:
    described = entry(os.fsdecode(b"\xff"), tmp_path.lstat(), os.fsdecode(b"\xfe"))
    assert (described.path, described.target, described.type) == ("\0ff", "\0fe", "directory")
