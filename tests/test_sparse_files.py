import os
from pathlib import Path

import pytest

from hawse.sparse_files import BLOCK, has_holes, write_sparse


@pytest.mark.parametrize(("allocated", "holes"), [(None, False), (4096, True), (8192, False), (12288, False)])
def test_a_file_has_holes_if_it_takes_less_than_its_size(allocated: int | None, holes: bool) -> None:
    assert has_holes(8192, allocated) is holes


@pytest.mark.parametrize("step", [1000, 4096, 70_000, 1 << 20])
@pytest.mark.parametrize("append", [False, True])
def test_what_is_written_in_pieces_is_there_and_zeros_take_no_space(tmp_path: Path, step: int, append: bool) -> None:
    data = b"a" * 5000 + bytes(600_000) + b"b" + bytes(50_000)
    fd = os.open(tmp_path / "f", os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else 0))
    try:
        for at in range(0, len(data), step):
            write_sparse(fd, data[at : at + step], at)
        blocks = os.fstat(fd).st_blocks
    finally:
        os.close(fd)
    assert (tmp_path / "f").read_bytes() == data
    if step >= 2 * BLOCK:
        assert blocks * 512 < 150_000


def test_zeros_replace_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 20_000)
    fd = os.open(tmp_path / "f", os.O_WRONLY)
    try:
        write_sparse(fd, bytes(50_000), 0)
    finally:
        os.close(fd)
    assert (tmp_path / "f").read_bytes() == bytes(50_000)
