import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_runtime.core.folder import Folder


@pytest.fixture(params=["path", "descriptor"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    """A directory that does not exist yet, by its path and relative to a descriptor."""
    if request.param == "path":
        yield Folder(tmp_path / "new")
        return
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield Folder("new", fd)
    os.close(fd)


def test_a_folder_that_does_not_exist_is_empty(folder: Folder) -> None:
    assert folder.names() == []
    folder.unlink("x")
    folder.remove()
    with pytest.raises(FileNotFoundError):
        folder.read("x")


def test_it_is_made_for_its_owner_only(folder: Folder, tmp_path: Path) -> None:
    folder.make()
    folder.make()
    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o700


def test_files_are_written_read_measured_and_removed(folder: Folder, tmp_path: Path) -> None:
    folder.make()
    folder.write("a", b"one")
    folder.write("a", b"three")
    assert (tmp_path / "new" / "a").read_bytes() == folder.read("a") == b"three"
    assert folder.size("a") == 5
    assert folder.names() == ["a"]
    folder.unlink("a")
    assert folder.names() == []


def test_a_folder_in_it_is_removed_with_all_that_it_contains(folder: Folder) -> None:
    folder.make()
    inner = folder.folder("inner")
    inner.make()
    inner.write("a", b"")
    assert folder.names() == ["inner"]
    folder.remove()
    assert folder.names() == []
    assert inner.names() == []


def test_a_symbolic_link_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    folder.make()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "new" / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="Too many levels"):
        folder.read("link")


def test_a_folder_of_a_descriptor_stays_when_another_is_mounted_at_its_path(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    folder = Folder(".", fd)
    folder.make()
    folder.write("a", b"x")
    tmp_path.rename(tmp_path.with_name("elsewhere"))
    tmp_path.mkdir()
    assert folder.read("a") == b"x"
    os.close(fd)


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_a_file_is_not_written_through_what_is_at_its_temporary_name(folder: Folder, tmp_path: Path, kind: str) -> None:
    """A program may be able to plant it: a FIFO would wait for a reader."""
    folder.make()
    target = tmp_path / "elsewhere"
    target.write_bytes(b"kept")
    planted = tmp_path / "new" / ".a.new"
    if kind == "fifo":
        os.mkfifo(planted)
    else:
        planted.symlink_to(target)
    folder.write("a", b"x")
    assert folder.read("a") == b"x"
    assert target.read_bytes() == b"kept"
