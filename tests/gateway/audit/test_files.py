"""The segments of the audit log on a real disk."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hawse_gateway.audit.files import BLOCK, AuditFiles, Position


def everything(files: AuditFiles) -> list[bytes]:
    """Read all lines backwards, as the log does, and return them in order."""
    found = list[bytes]()
    for number in reversed(files.numbers()):
        end = files.size(number)
        while end:
            lines, end = files.lines_before(number, end)
            found[:0] = [line for _, line in lines]
    return found


def test_lines_of_any_size_are_read_backwards_block_by_block(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path / "audit")
    lines = [b"%d %s\n" % (number, b"x" * (number % 700)) for number in range(1000)]
    for line in lines:
        files.append(line)
    files.close()
    assert files.size(1) > 4 * BLOCK
    assert everything(files) == lines


def test_a_position_is_the_start_of_its_line(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path)
    files.append(b"one\ntwo\n")
    files.close()
    lines, start = files.lines_before(1, files.size(1))
    assert (lines, start) == ([(Position(1, 0), b"one\n"), (Position(1, 4), b"two\n")], 0)
    assert Position.parse(str(lines[1][0])) == lines[1][0]


def test_the_newest_segments_are_kept(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path, segment_bytes=10, segments=3)
    for number in range(9):
        files.append(b"%07d\n" % number)
    files.close()
    assert files.numbers() == [7, 8, 9]
    assert everything(files) == [b"0000006\n", b"0000007\n", b"0000008\n"]
    assert files.lines_before(1, 8) == ([], 0)


def test_gateways_with_one_directory_share_a_log(tmp_path: Path) -> None:
    quiet, busy = (AuditFiles(tmp_path, segment_bytes=10, segments=3) for _ in range(2))
    quiet.append(b"quiet 1\n")
    for number in range(1, 9):
        busy.append(b"busy %d\n" % number)
    quiet.append(b"quiet 2\n")
    busy.append(b"busy 9\n")
    for files in (quiet, busy):
        assert everything(files) == [b"busy 8\n", b"quiet 2\n", b"busy 9\n"]
        files.close()


def test_gateways_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    def write(name: bytes) -> None:
        files = AuditFiles(tmp_path, segment_bytes=1000, segments=1000)
        for number in range(500):
            files.append(b"%b %d\n" % (name, number))
        files.close()

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, [b"a", b"b", b"c"]))
    lines = everything(AuditFiles(tmp_path))
    for name in (b"a", b"b", b"c"):
        assert [line for line in lines if line.startswith(name)] == [b"%b %d\n" % (name, n) for n in range(500)]


def test_a_line_that_another_gateway_wrote_incompletely_is_ended_by_the_next_one(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path)
    files.append(b"one\n")
    (path,) = tmp_path.iterdir()
    with open(path, "ab") as file:
        file.write(b"tw")
    files.append(b"three\n")
    files.close()
    assert path.read_bytes() == b"one\ntw\nthree\n"


def test_a_line_that_was_written_incompletely_is_ended_by_the_next_one(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path)
    files.append(b"one\n")
    files.close()
    (path,) = tmp_path.iterdir()
    with open(path, "ab") as file:
        file.write(b"tw")
    later = AuditFiles(tmp_path)
    later.append(b"three\n")
    later.close()
    assert path.read_bytes() == b"one\ntw\nthree\n"


def test_only_the_user_of_the_gateway_can_read_the_log(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path / "audit")
    files.append(b"one\n")
    files.close()
    assert (tmp_path / "audit").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "audit" / "audit-000000001.jsonl").stat().st_mode & 0o777 == 0o600


def test_after_an_error_of_the_disk_the_log_continues(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path / "audit")
    (tmp_path / "audit").write_text("in the way")
    with pytest.raises(OSError, match=os.strerror(errno.EEXIST)):
        files.append(b"one\n")
    (tmp_path / "audit").unlink()
    files.append(b"two\n")
    files.close()
    assert everything(files) == [b"two\n"]
