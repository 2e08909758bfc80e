import errno
import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyghostty import Terminal as Emulator

from runtime.recording import cast_writer as castfile
from runtime.recording.asciicast import header
from runtime.recording.cast_writer import CastWriter, IndexEntry, QuotaError

HEADER = header(80, 24, timestamp=0, term="xterm", title=None, env={})


def room(size: int) -> bool:
    return True


@pytest.fixture
def file(tmp_path: Path) -> Iterator[CastWriter]:
    file = CastWriter(tmp_path / "new", "r", limit=64 << 20, reserve=room)
    file.open(HEADER, 80, 24)
    yield file
    file.close()


def lines(folder: Path, part: str = "cast") -> list[Any]:
    return [json.loads(line) for line in (folder / f"r.{part}").read_bytes().splitlines()]


def test_a_character_that_comes_in_two_parts_is_one(file: CastWriter, tmp_path: Path) -> None:
    file.write(
        [IndexEntry(0.5, "o", b"a\xc3"), IndexEntry(1.0, "r", "90x30"), IndexEntry(1.5, "o", b"\xa4b\xff\xe2\x82")]
    )
    file.end(IndexEntry(2.0, "x", "0"))
    assert lines(tmp_path / "new")[1:] == [
        [0.5, "o", "a"],
        [0.5, "r", "90x30"],
        [0.5, "o", "\u00e4b\ufffd"],
        [0.0, "o", "\ufffd"],
        [0.5, "x", "0"],
    ]
    assert file.duration == 2.0


def test_screens_stand_where_the_index_says_and_paint_what_was_there(file: CastWriter, tmp_path: Path) -> None:
    whole = Emulator(80, 24, scrollback=1000)
    for number in range(200):
        data = b"".join(b"\x1b[3%dmline %d.%d \xe6\xbc\xa2\r\n" % (i % 8, number, i) for i in range(700))
        file.write([IndexEntry(number / 10, "o", data)])
        whole.feed(data)
    cast = (tmp_path / "new" / "r.cast").read_bytes()
    screens = (tmp_path / "new" / "r.screens").read_bytes()
    index = lines(tmp_path / "new", "index")
    assert len(index) == file.keyframes >= 5
    for place in index:
        with Emulator(place["cols"], place["rows"], scrollback=1000) as emulator:
            emulator.feed(screens[place["screen"] : place["screen"] + place["size"]])
            for line in cast[place["at"] :].splitlines():
                emulator.feed(json.loads(line)[2].encode())
            assert emulator.text() == whole.text()
    gaps = [b["at"] - a["at"] for a, b in pairwise(index)]
    assert max(gaps) < castfile.KEYFRAME_AT_LAST, "what a player has to read is bounded"
    whole.close()


def test_markers_are_in_the_index_as_well(file: CastWriter, tmp_path: Path) -> None:
    file.write([IndexEntry(1.0, "m", "here"), IndexEntry(2.0, "i", b"ls\r")])
    assert lines(tmp_path / "new", "index") == [{"t": 1.0, "label": "here"}]
    assert lines(tmp_path / "new")[1:] == [[1.0, "m", "here"], [1.0, "i", "ls\r"]]
    assert file.markers == 1


def test_a_quota_ends_it_with_whole_lines_and_room_for_the_reason(tmp_path: Path) -> None:
    file = CastWriter(tmp_path, "r", limit=4096, reserve=room)
    file.open(HEADER, 80, 24)
    with pytest.raises(QuotaError):
        file.write([IndexEntry(i / 100, "o", b"x" * 90) for i in range(100)])
    file.end(IndexEntry(9.0, "m", "recording ended: quota"))
    file.close()
    said = lines(tmp_path)
    assert len(said) > 20
    assert said[-1][1:] == ["m", "recording ended: quota"]
    assert (tmp_path / "r.cast").stat().st_size == file.sizes["cast"] <= 4096


def test_what_the_sandbox_has_no_room_for_is_refused(tmp_path: Path) -> None:
    file = CastWriter(tmp_path, "r", limit=1 << 20, reserve=lambda size: size < 1000)
    file.open(HEADER, 80, 24)
    with pytest.raises(QuotaError):
        file.write([IndexEntry(0, "o", b"x" * 2000)])
    file.close()
    assert len(lines(tmp_path)) == 1


def test_a_full_disk_is_told_and_leaves_whole_lines(tmp_path: Path) -> None:
    (tmp_path / "r.cast").symlink_to("/dev/full")
    file = CastWriter(tmp_path, "r", limit=1 << 20, reserve=room)
    with pytest.raises(FileExistsError):  # what is there is never written to, wherever it leads
        file.open(HEADER, 80, 24)
    file.close()


def test_an_error_of_the_disk_is_raised_as_it_is(file: CastWriter) -> None:
    for fd in file._fds.values():
        with open("/dev/full", "ab", buffering=0) as full:
            os.dup2(full.fileno(), fd)
    with pytest.raises(OSError) as caught:
        file.write([IndexEntry(0, "o", b"x")])
    assert caught.value.errno == errno.ENOSPC
    assert file.sizes["cast"] == len(HEADER)
