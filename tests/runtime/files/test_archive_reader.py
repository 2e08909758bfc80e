"""Archives are read entry by entry, in memory that does not grow with them."""

import bz2
import gzip
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from hawse import zstd
from hawse.wire import HawseError
from runtime.files.archive_reader import RATIO_FREE, entries


def names(path: Path, *, free: int = RATIO_FREE) -> list[str]:
    fd = os.open(path, os.O_RDONLY)
    try:
        found = []
        for entry in entries(fd, free=free):
            found.append(entry.name)
            while entry.kind == "file" and entry.read():
                pass
        return found
    finally:
        os.close(fd)


def test_several_streams_in_one_file_are_one_archive(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(os.urandom(50_000))
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(tmp_path / "f", "f")
    whole = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar.gz").write_bytes(
        b"".join(gzip.compress(whole[at : at + 9000]) for at in range(0, len(whole), 9000))
    )
    assert names(tmp_path / "a.tar.gz") == ["f"]


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_large_file_is_decompressed_by_blocks(tmp_path: Path, mode: str) -> None:
    os.truncate(os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR), 40 << 20)
    with tarfile.open(tmp_path / "a", mode) as tar:  # type: ignore[call-overload]
        tar.add(tmp_path / "f", "f")
    tracemalloc.start()
    try:
        assert names(tmp_path / "a") == ["f"]
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


def zstd_of(data: bytes) -> bytes:
    compressor = zstd.Compressor()
    return compressor.compress(data) + compressor.flush()


def test_zstd_is_read_also_in_several_frames(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(os.urandom(50_000))
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(tmp_path / "f", "f")
    whole = (tmp_path / "a.tar").read_bytes()
    frames = [zstd_of(whole[at : at + 9000]) for at in range(0, len(whole), 9000)]
    (tmp_path / "a").write_bytes(b"".join(frames))
    assert names(tmp_path / "a") == ["f"]
    (tmp_path / "a").write_bytes(frames[0] + frames[1][:-5])
    with pytest.raises(HawseError, match="invalid_params"):
        names(tmp_path / "a")


def test_an_archive_that_expands_too_much_is_refused(tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR), 60 << 20)
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(tmp_path / "f", "f")
    whole = (tmp_path / "a.tar").read_bytes()
    for compressed in (zstd_of(whole), bz2.compress(whole)):
        (tmp_path / "a").write_bytes(compressed)
        assert names(tmp_path / "a") == ["f"]
        with pytest.raises(HawseError, match="too_large: the archive expands to more than 2000 times its size"):
            names(tmp_path / "a", free=1 << 20)
    (tmp_path / "a").write_bytes(gzip.compress(whole))
    assert names(tmp_path / "a", free=1 << 20) == ["f"]


def test_headers_in_a_row_are_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("f" * 300)
    header = info.tobuf(tarfile.GNU_FORMAT)[: 2 * tarfile.BLOCKSIZE]  # a long name for the next header
    (tmp_path / "a").write_bytes(header * 5000)
    with pytest.raises(HawseError, match="invalid_params"):
        names(tmp_path / "a")


def test_a_map_of_holes_that_never_ends_is_refused(tmp_path: Path) -> None:
    """As old versions of GNU tar write it: blocks that say that another one follows."""
    info = tarfile.TarInfo("f")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(header))[0]  # type: ignore[attr-defined]
    block = (b"%011o\0" % 1) * 42 + b"\1" + bytes(7)
    assert len(block) == tarfile.BLOCKSIZE
    for mode in ("gz", "plain"):
        data = bytes(header) + block * 50_000
        (tmp_path / "a").write_bytes(gzip.compress(data, 1) if mode == "gz" else data)
        with pytest.raises(HawseError, match="too_large: the headers of an entry"):
            names(tmp_path / "a")


def test_a_zip_that_is_encrypted_or_compressed_otherwise_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("f", b"x")
    with pytest.raises(HawseError, match="invalid_params: the compression of 'f' is not supported"):
        names(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "b", "w") as file:
        file.writestr("f", b"x")
    data = bytearray((tmp_path / "b").read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(HawseError, match="invalid_params: 'f' is encrypted"):
        names(tmp_path / "b")
