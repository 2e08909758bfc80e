"""The size of an archive's contents is read from its headers, including the holes of sparse files."""

import io
import os
import random
import subprocess
import tarfile
from pathlib import Path

import pytest

from hawse_gateway.backups.tar_sizes import TarSizes

TIB = 1 << 40


def total(archive: bytes, block: int = 1 << 16) -> int:
    sizes = TarSizes()
    for at in range(0, len(archive), block):
        sizes.feed(archive[at : at + block])
    return sizes.total


@pytest.mark.parametrize(
    "format", ["gnu", "pax --sparse-version=0.0", "pax --sparse-version=0.1", "pax --sparse-version=1.0"]
)
@pytest.mark.parametrize("block", [100, 512, 5000, 1 << 20])
def test_holes_count_in_every_format_of_gnu_tar(tmp_path: Path, format: str, block: int) -> None:
    kind, *options = format.split()
    for number in range(5):
        with (tmp_path / f"{'long' * 40}{number}").open("wb") as file:
            for place in range(number * 10):  # more than a header has room for
                file.seek(place << 20)
                file.write(b"x" * 4096)
            file.truncate(TIB)
    (tmp_path / "plain").write_bytes(os.urandom(10_000))
    command = ["tar", "--sparse", f"--format={kind}", *options, "-C", str(tmp_path), "-c", "."]
    archive = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    found = total(archive, block)
    assert 5 * TIB < found < 5 * TIB + 2 * len(archive)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_files_without_holes_count_once(format: int) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for number in range(20):
            file = tarfile.TarInfo(f"{'d' * 60}/{'f' * 60}{number}")
            file.size = number * 777
            archive.addfile(file, io.BytesIO(bytes(file.size)))
    for block in (1, 511, 4096):
        assert total(out.getvalue(), block) == len(out.getvalue())


def test_a_file_of_more_than_eight_gigabytes_has_its_data_skipped() -> None:
    file = tarfile.TarInfo("large")
    file.size = 20 << 30
    for format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        sizes = TarSizes()
        sizes.feed(file.tobuf(format))
        zeros = bytes(1 << 20)
        for _ in range(3):
            sizes.feed(zeros)
        assert sizes.total < 4 << 20


def test_data_that_is_not_an_archive_is_counted_without_errors() -> None:
    chance = random.Random(1)
    for _ in range(300):
        data = chance.randbytes(3000)
        assert total(data, 700) >= len(data)
