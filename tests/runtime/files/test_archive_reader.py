"""Archives are read entry by entry, in memory that does not grow with them."""

import bz2
import gzip
import io
import lzma
import os
import random
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hawse import zstd
from hawse.wire import HawseError
from hawse_runtime.files.archive_reader import RATIO_FREE, entries


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


def zip_of(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("f", content)
    return out.getvalue()


def sparse_of(size: int) -> bytes:
    """A tar with a file that is one hole."""
    info = tarfile.TarInfo("f")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(size)}
    info.size = tarfile.BLOCKSIZE
    content = f"1\n{size}\n0\n".encode().ljust(tarfile.BLOCKSIZE, b"\0")
    return info.tobuf(tarfile.PAX_FORMAT) + content + bytes(2 * tarfile.BLOCKSIZE)


def test_an_archive_that_expands_too_much_is_refused(tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR), 8 << 20)
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.add(tmp_path / "f", "f")
    whole = (tmp_path / "a.tar").read_bytes()
    members = [whole[at : at + (1 << 20)] for at in range(0, len(whole), 1 << 20)]
    for compressed in (
        *(zstd_of(whole), bz2.compress(whole), lzma.compress(whole, preset=0), gzip.compress(whole, 6)),
        b"".join(gzip.compress(member) for member in members),
        zip_of(bytes(8 << 20)),
        sparse_of(8 << 20),
    ):
        (tmp_path / "a").write_bytes(compressed)
        assert names(tmp_path / "a") == ["f"]
        with pytest.raises(HawseError, match="too_large: the archive expands to more than 200 times its size"):
            names(tmp_path / "a", free=1 << 20)


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
        with pytest.raises(HawseError, match="too_large: an entry's headers have"):
            names(tmp_path / "a")


def test_a_zip_that_is_encrypted_or_compressed_otherwise_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("f", b"x")
    with pytest.raises(HawseError, match="invalid_params: unsupported compression method"):
        names(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "b", "w") as file:
        file.writestr("f", b"x")
    data = bytearray((tmp_path / "b").read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(HawseError, match="invalid_params: 'f' is encrypted"):
        names(tmp_path / "b")


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1),
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": zstd_of,
}


def tar_of(format: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as tar:
        for name, content in (("d/f", b"content" * 300), ("é" * 90, b"x"), ("e", b"")):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1.5
            tar.addfile(info, io.BytesIO(content))
        soft = tarfile.TarInfo("soft")
        soft.type, soft.linkname = tarfile.SYMTYPE, "d/f"
        tar.addfile(soft)
    return out.getvalue()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_compressed_tar_whose_last_bytes_are_missing_is_refused(tmp_path: Path, compression: str) -> None:
    whole = COMPRESSIONS[compression](tar_of(tarfile.GNU_FORMAT))
    for lost in (1, 4, 8, 20, len(whole) // 2):
        (tmp_path / "a").write_bytes(whole[:-lost])
        with pytest.raises(HawseError, match="invalid_params"):
            names(tmp_path / "a")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_zeros_behind_a_compressed_tar_are_no_damage_and_other_bytes_are(tmp_path: Path, compression: str) -> None:
    whole = COMPRESSIONS[compression](tar_of(tarfile.GNU_FORMAT))
    (tmp_path / "a").write_bytes(whole + bytes(700_000))
    assert names(tmp_path / "a") == ["d/f", "é" * 90, "e", "soft"]
    (tmp_path / "a").write_bytes(whole + b"more")
    with pytest.raises(HawseError, match="invalid_params"):
        names(tmp_path / "a")


def mutant(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(5):
            case 0:
                changed[at : at + 1] = bytes((chance.randrange(256),))
            case 1:
                changed[at : at + 4] = chance.choice((b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f", b"7777", b"-1\0-"))
            case 2:
                del changed[at : at + chance.randrange(1, 64)]
            case 3:
                changed[at:at] = changed[at : at + chance.randrange(1, 64)]
            case _:
                del changed[max(at, 8) :]
    return bytes(changed)


def with_checksums(data: bytes) -> bytes:
    """A tar whose headers are valid again, so that their fields are read."""
    changed = bytearray(data)
    for at in range(0, len(changed) - tarfile.BLOCKSIZE + 1, tarfile.BLOCKSIZE):
        header = changed[at : at + tarfile.BLOCKSIZE]
        if header[257:262] == b"ustar":
            changed[at + 148 : at + 156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:]))
    return bytes(changed)


@pytest.mark.parametrize("form", ["zip", "tar", *COMPRESSIONS])
def test_a_mutant_of_an_archive_is_read_or_is_not_valid(tmp_path: Path, form: str) -> None:
    chance, codes = random.Random(form), set()
    tars = [tar_of(tarfile.GNU_FORMAT), tar_of(tarfile.PAX_FORMAT), sparse_of(100_000)]
    compress = COMPRESSIONS.get(form, bytes)
    for _ in range(300):
        tar = chance.choice(tars)
        if form == "zip":
            data = mutant(zip_of(b"content" * 300), chance)
        elif chance.random() < 0.5:
            data = mutant(compress(tar), chance)
        else:
            data = compress(with_checksums(mutant(tar, chance)))
        (tmp_path / "a").write_bytes(data)
        try:
            names(tmp_path / "a", free=1 << 24)
            codes.add("read")
        except HawseError as error:
            codes.add(error.code)
    assert codes <= {"read", "invalid_params", "too_large"}
    assert len(codes) > 1
