"""`backup.pack`: every tree, with what may happen to it meanwhile."""

import io
import os
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hawse.api.backups import BackupPack, BackupPackResult
from hawse.wire import HawseError
from hawse_runtime.backup.pack import pack
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import no_fd_leaked


def packed(
    path: Path, meanwhile: Callable[[], object] = lambda: None, **params: Any
) -> tuple[list[tarfile.TarInfo], BackupPackResult]:
    """Return the entries; `meanwhile` is called after the first step."""
    ignored = params.pop("ignored", lambda names: False)
    work = pack(RootedPath(str(path)), BackupPack(compression="none", **params), ignored)
    data = b""
    while True:
        try:
            item = next(work)
        except StopIteration as end:
            with tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape") as tar:
                return tar.getmembers(), end.value
        data += item if isinstance(item, bytes) else b""
        meanwhile()


def names(entries: list[tarfile.TarInfo]) -> set[str]:
    return {entry.name for entry in entries}


def test_what_is_excluded_ignored_or_unfinished_is_left_out(tmp_path: Path) -> None:
    for name in ("keep", "a.log", "ignored/deep/f", "sub/b.log", ".hawse-0123456789abcdef", ".hawse-notes"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    with no_fd_leaked():
        entries, result = packed(tmp_path, exclude=["*.log"], ignored=lambda names: names == ("ignored",))
    assert names(entries) == {".", "keep", "sub", ".hawse-notes"}
    assert (result.entries, result.bytes, result.changed) == (4, 2, 0)


def test_a_socket_is_counted_and_left_out(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        entries, result = packed(tmp_path)
    assert (names(entries), result.skipped) == ({"."}, 1)


def test_a_file_that_changes_is_as_long_as_it_was_and_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2_000_000)
    entries, result = packed(tmp_path, lambda: os.truncate(path, 300_000))
    assert [entry.size for entry in entries if entry.isfile()] == [2_000_000]
    assert result.changed == 1
    path.write_bytes(b"x" * 2_000_000)
    _, result = packed(tmp_path, lambda: os.utime(path))
    assert result.changed == 1


def test_a_file_that_is_removed_meanwhile_is_left_out(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"x" * 300_000)
    left = set("abc")

    def remove() -> None:
        for name in left & {path.name for path in tmp_path.iterdir()}:
            (tmp_path / name).unlink()

    entries, _ = packed(tmp_path, remove)
    assert len([entry for entry in entries if entry.isfile()]) == 1


def test_hard_links_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 1000)
    os.link(tmp_path / "a", tmp_path / "b")
    entries, result = packed(tmp_path)
    assert sorted((entry.islnk(), entry.size) for entry in entries if not entry.isdir()) == [(False, 1000), (True, 0)]
    assert (result.entries, result.bytes) == (3, 1000)


def test_only_the_data_of_a_file_with_holes_is_read(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 40)
        os.pwrite(file.fileno(), b"here", 1 << 39)
    entries, result = packed(tmp_path)
    assert result.bytes < 1 << 20
    assert [entry.size for entry in entries if entry.isfile()] == [1 << 40]


@pytest.mark.parametrize(("path", "code"), [("missing", "not_found"), ("f", "not_directory")])
def test_a_path_that_is_no_directory_is_refused(tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises((HawseError, OSError)) as raised:
        packed(tmp_path / path)
    assert {"not_found": FileNotFoundError, "not_directory": NotADirectoryError}[code] is type(raised.value)


def test_a_directory_that_is_too_deep_is_named(tmp_path: Path) -> None:
    path = tmp_path.joinpath(*["d"] * 140)
    path.mkdir(parents=True)
    with no_fd_leaked(), pytest.raises(HawseError, match="too_large") as raised:
        packed(tmp_path)
    assert raised.value.details["entry"].startswith("d/d/d")


def test_a_glob_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    with no_fd_leaked(), pytest.raises(HawseError, match="invalid_params"):
        packed(tmp_path, exclude=[".."])
