import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hawse_runtime.core.folder import Folder
from hawse_runtime.recording.asciicast import header
from hawse_runtime.recording.cast_writer import KEYFRAME, PARTS, CastEvent, CastWriter, QuotaError
from tests.support.runtime import open_fds

HEADER = header(80, 24, timestamp=0, term="xterm", title=None, env={})


def room(size: int) -> bool:
    return True


@pytest.fixture
def file(tmp_path: Path) -> Iterator[CastWriter]:
    file = CastWriter(Folder(tmp_path / "new"), "r", limit=64 << 20, reserve=room)
    file.open(HEADER, 80, 24)
    yield file
    file.close()


def lines(folder: Path, part: str = "cast") -> list[Any]:
    return [json.loads(line) for line in (folder / f"r.{part}").read_bytes().splitlines()]


def test_a_character_split_between_two_events_is_written_once(file: CastWriter, tmp_path: Path) -> None:
    file.write([CastEvent(0.5, "o", b"a\xc3"), CastEvent(1.0, "r", "90x30"), CastEvent(1.5, "o", b"\xa4b\xff\xe2\x82")])
    file.end(CastEvent(2.0, "x", "0"))
    assert lines(tmp_path / "new")[1:] == [
        [0.5, "o", "a"],
        [0.5, "r", "90x30"],
        [0.5, "o", "\u00e4b\ufffd"],
        [0.0, "o", "\ufffd"],
        [0.5, "x", "0"],
    ]
    assert file.duration == 2.0


def test_keyframes_are_at_the_indexed_offsets(file: CastWriter, tmp_path: Path) -> None:
    def lines_before(place: Any) -> list[Any]:
        cast = (tmp_path / "new" / "r.cast").read_bytes()[: place["at"]]
        return [json.loads(line)[2] for line in cast.splitlines()[1:]]

    assert not file.awaits_keyframe
    file.write([CastEvent(1.0, "o", b"one\xe2"), CastEvent(2.0, KEYFRAME, ""), CastEvent(3.0, "o", b"\x9c\x93 two")])
    assert file.awaits_keyframe
    assert lines(tmp_path / "new", "index") == []
    file.write([CastEvent(4.0, "r", "90x30")])
    file.write_keyframe(b"first")
    assert not file.awaits_keyframe
    file.write([CastEvent(5.0, KEYFRAME, "")])
    file.write_keyframe(b"second")
    screens = (tmp_path / "new" / "r.screens").read_bytes()
    first, second = lines(tmp_path / "new", "index")
    assert (first["t"], first["cols"], first["rows"], lines_before(first)) == (1.0, 80, 24, ["one"])
    assert (second["t"], second["cols"], second["rows"]) == (4.0, 90, 30)
    assert lines_before(second) == ["one", "\u2713 two", "90x30"]
    assert [screens[place["screen"] :][: place["size"]] for place in (first, second)] == [b"first", b"second"]
    assert file.keyframes == 2


def test_a_keyframe_without_a_screen_is_left_out(file: CastWriter, tmp_path: Path) -> None:
    file.write_keyframe(b"nobody has asked for it")
    file.write([CastEvent(1.0, KEYFRAME, "")])
    file.write_keyframe(b"")
    assert not file.awaits_keyframe
    assert lines(tmp_path / "new", "index") == []
    assert file.sizes["screens"] == 0


def test_markers_are_in_the_index(file: CastWriter, tmp_path: Path) -> None:
    file.write([CastEvent(1.0, "m", "here"), CastEvent(2.0, "i", b"ls\r")])
    assert lines(tmp_path / "new", "index") == [{"t": 1.0, "label": "here"}]
    assert lines(tmp_path / "new")[1:] == [[1.0, "m", "here"], [1.0, "i", "ls\r"]]
    assert file.markers == 1


def test_at_the_limit_the_cast_ends_with_whole_lines_and_the_reason(tmp_path: Path) -> None:
    file = CastWriter(Folder(tmp_path), "r", limit=4096, reserve=room)
    file.open(HEADER, 80, 24)
    with pytest.raises(QuotaError):
        file.write([CastEvent(i / 100, "o", b"x" * 90) for i in range(100)])
    file.end(CastEvent(9.0, "m", "recording ended: quota"))
    file.close()
    written = lines(tmp_path)
    assert len(written) > 20
    assert written[-1][1:] == ["m", "recording ended: quota"]
    assert (tmp_path / "r.cast").stat().st_size == file.sizes["cast"] <= 4096


def test_a_refused_reservation_raises_a_quota_error(tmp_path: Path) -> None:
    file = CastWriter(Folder(tmp_path), "r", limit=1 << 20, reserve=lambda size: size < 1000)
    file.open(HEADER, 80, 24)
    with pytest.raises(QuotaError):
        file.write([CastEvent(0, "o", b"x" * 2000)])
    file.close()
    assert len(lines(tmp_path)) == 1


def test_a_full_disk_raises_and_leaves_whole_lines(tmp_path: Path) -> None:
    (tmp_path / "r.cast").symlink_to("/dev/full")
    file = CastWriter(Folder(tmp_path), "r", limit=1 << 20, reserve=room)
    with pytest.raises(FileExistsError):  # what is there is never written to, wherever it leads
        file.open(HEADER, 80, 24)
    file.close()


def test_a_disk_error_is_raised_unchanged(file: CastWriter, tmp_path: Path) -> None:
    paths = {fd: Path(f"/proc/self/fd/{fd}").resolve() for fd in open_fds()}
    written = [int(fd) for fd, path in paths.items() if path.is_relative_to(tmp_path)]
    assert len(written) == len(PARTS)
    for fd in written:
        with open("/dev/full", "ab", buffering=0) as full:
            os.dup2(full.fileno(), fd)
    with pytest.raises(OSError) as caught:
        file.write([CastEvent(0, "o", b"x")])
    assert caught.value.errno == errno.ENOSPC
    assert file.sizes["cast"] == len(HEADER)
