"""Archives that other programs read: every name and size, and typed errors for the limits of zip."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.files import archive_formats as packing
from hawse_runtime.files.archive_formats import TarWriter, ZipWriter, packer


def test_a_tar_holds_names_of_any_bytes_and_any_length(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 600)
    status = (tmp_path / "f").stat()
    tar = TarWriter(compressed=False)
    names = [os.fsdecode(b"\xff\xfe"), "/".join(["long" * 20] * 10), "ä", "plain"]
    for name in names:
        assert tar.begin(name, status, None)
        tar.content(b"x" * 600)
        tar.end()
    assert not tar.begin("null", os.stat("/dev/null"), None)
    tar.finish()
    assert tar.pending % tarfile.RECORDSIZE == 0
    with tarfile.open(fileobj=io.BytesIO(tar.take())) as read:
        assert read.getnames() == names
        assert {member.size for member in read} == {600}
    assert tar.pending == 0


def test_a_zip_holds_files_directories_and_symlinks(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 600)
    (tmp_path / "link").symlink_to("f")
    os.utime(tmp_path / "f", (0, 0))  # before the first date that a zip can hold
    zip_ = ZipWriter()
    assert zip_.begin(os.fsdecode(b"\xff.txt"), (tmp_path / "f").stat(), None)
    zip_.content(b"x" * 600)
    zip_.end()
    for name, path, target in (("d", tmp_path, None), ("link", tmp_path / "link", "f")):
        assert zip_.begin(name, path.lstat(), target)
        zip_.end()
    assert not zip_.begin("null", os.stat("/dev/null"), None)
    zip_.finish()
    with zipfile.ZipFile(io.BytesIO(zip_.take())) as read:
        assert read.testzip() is None
        assert read.namelist() == ["%FF.txt", "d/", "link"]
        assert read.read("link") == b"f"
        assert read.getinfo("link").external_attr >> 28 == 0o12


@pytest.mark.parametrize(("mtime", "year"), [(-(2**40), 1980), (2**33, 2107), (2**55, 2107)])
def test_a_date_outside_the_range_of_zip_is_clamped(tmp_path: Path, mtime: int, year: int) -> None:
    zip_ = ZipWriter()
    os.utime(tmp_path, (0, mtime))
    zip_.begin("d", tmp_path.stat(), None)
    zip_.finish()
    with zipfile.ZipFile(io.BytesIO(zip_.take())) as read:
        assert read.getinfo("d/").date_time[0] == year


def test_a_zip_of_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "ZIP_LIMIT", 1)
    zip_ = packer("zip")
    zip_.begin("a", tmp_path.stat(), None)
    with pytest.raises(HawseError, match="tar"):
        zip_.begin("b", tmp_path.stat(), None)
