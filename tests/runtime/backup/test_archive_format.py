"""The archive is one that other programs read: GNU tar and Python's `tarfile` find in it what was put in."""

import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from hawse_runtime.backup.archive_format import BackupArchive, Compression, has_type, mtime_ns, sparse_map, xattrs_of

OPTIONS = {"none": [], "gzip": ["-z"], "zstd": ["--zstd"]}


def archive_of(path: Path, *, compression: Compression = "none") -> BackupArchive:
    archive = BackupArchive(compression)
    archive.begin(path.name, path.stat())
    archive.content(path.read_bytes())
    archive.end()
    return archive


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_gnu_tar_reads_it_and_the_digest_is_that_of_the_bytes(tmp_path: Path, compression: Compression) -> None:
    path = tmp_path / os.fsdecode(b"\xff" * 200)
    path.write_bytes(b"content")
    os.utime(path, ns=(0, 1_234_567_890_123_456_789))
    archive = archive_of(path, compression=compression)
    archive.finish()
    data = archive.take()
    assert (archive.size, archive.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "x", *OPTIONS[compression], "-C", tmp_path / "out"], input=data, check=True)
    found = tmp_path / "out" / path.name
    assert (found.read_bytes(), found.stat().st_mtime_ns) == (b"content", 1_234_567_890_123_456_789)


def test_attributes_times_and_links_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    xattrs = {"user.any": b"\xff\0\n=\n", "user.text": "é".encode(), "user.empty": b""}
    for time in (0, -1_500_000_000, 10**18 + 1):
        os.utime(path, ns=(0, time))
        archive = BackupArchive()
        archive.begin("f", path.stat(), xattrs=xattrs)
        archive.content(b"x")
        archive.end()
        archive.link("g", path.stat(), "f")
        archive.finish()
        with tarfile.open(fileobj=io.BytesIO(archive.take()), encoding="utf-8", errors="surrogateescape") as tar:
            first, second = tar.getmembers()
        assert xattrs_of(first) == xattrs
        assert mtime_ns(first) == time
        assert (second.islnk(), second.linkname) == (True, "f")


def test_a_file_with_holes_is_stored_without_them(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    archive = BackupArchive()
    archive.begin("sparse", path.stat(), extents=[(4096, 4096), (1 << 29, 512)])
    archive.content(b"one".ljust(4096, b"\0") + b"tw".ljust(512, b"\0"))
    archive.end()
    archive.finish()
    data = archive.take()
    assert len(data) < 20_000
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "x", "-C", tmp_path / "out"], input=data, check=True)
    found = tmp_path / "out/sparse"
    assert found.stat().st_size == 1 << 30
    with found.open("rb") as file:
        assert os.pread(file.fileno(), 5, 4095) == b"\0one\0"
        assert os.pread(file.fileno(), 3, 1 << 29) == b"tw\0"


def test_the_map_fills_blocks() -> None:
    assert sparse_map([]) == b"0\n" + bytes(510)
    assert sparse_map([(1, 2), (30, 4)]).rstrip(b"\0") == b"2\n1\n2\n30\n4\n"


def test_devices_have_no_place_in_it(tmp_path: Path) -> None:
    assert not has_type(os.stat("/dev/null"))
    assert has_type(tmp_path.stat())
