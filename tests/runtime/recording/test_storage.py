import errno
import os
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from hawse.api.recordings import RecordingInfo
from hawse_runtime.core.folder import Folder
from hawse_runtime.recording.storage import RecordingQuota, RecordingStore

INFO = RecordingInfo(
    id="r-1",
    terminal="t",
    instance="i",
    input=False,
    cols=80,
    rows=24,
    started=1.0,
    state="recording",
    message="",
    duration=0.0,
    size=0,
    screens=0,
    index=0,
    markers=0,
    lost=0,
    truncated=False,
)


def test_saved_recordings_are_loaded_oldest_first(tmp_path: Path) -> None:
    store = RecordingStore(Folder(tmp_path / "new"))
    assert list(store.load()) == []
    for name, started in (("b", 2.0), ("a", 3.0), ("c", 1.0)):
        store.save(msgspec.structs.replace(INFO, id=name, started=started, state="finished", reason="stopped"))
    assert [found.id for found in store.load()] == ["c", "b", "a"]
    store.delete("b")
    assert [found.id for found in store.load()] == ["c", "a"]


def test_recordings_started_at_the_same_time_are_loaded_in_the_same_order_on_every_file_system(tmp_path: Path) -> None:
    store = RecordingStore(Folder(tmp_path))
    for name in "gbhdface":
        store.save(msgspec.structs.replace(INFO, id=name, state="finished", reason="stopped"))
    assert [found.id for found in store.load()] == list("abcdefgh")


def test_an_unfinished_recording_is_repaired_to_its_last_whole_line(tmp_path: Path) -> None:
    store = RecordingStore(Folder(tmp_path))
    store.save(INFO)
    head = b'{"version":3}\n[1.500,"o","a"]\n'
    (tmp_path / "r-1.cast").write_bytes(head + b'[0.250,"o","b"]\n[1.000,"o","to')
    (tmp_path / "r-1.index").write_bytes(
        b'{"t":1.5,"at":%d,"screen":0,"size":3}\n{"t":1.6,"label":"x"}\n{"t":' % len(head)
    )
    (tmp_path / "r-1.screens").write_bytes(b"abc")
    for _ in range(2):
        (found,) = store.load()
        assert (found.state, found.reason, found.truncated) == ("finished", "killed", True)
        assert found.duration == 1.75
        assert found.size == len((tmp_path / "r-1.cast").read_bytes())
    assert (tmp_path / "r-1.cast").read_bytes() == head + b'[0.250,"o","b"]\n'
    assert (tmp_path / "r-1.index").read_bytes().endswith(b'"x"}\n')


def test_unreadable_files_are_skipped_and_kept(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"{")
    (tmp_path / "y.json").write_bytes(b'{"id": "../y"}')
    store = RecordingStore(Folder(tmp_path))
    store.save(msgspec.structs.replace(INFO, id="z"))  # without its files
    assert list(store.load()) == []
    assert (tmp_path / "x.json").exists()


def test_the_quota_is_reserved_until_it_is_used_up() -> None:
    quota = RecordingQuota(100)
    assert quota.reserve(60)
    assert not quota.reserve(60)
    quota.add(-30)
    assert quota.reserve(60)
    assert quota.available == 10


HEAD = b'{"version":3}\n[0.5,"o","a"]\n'
INDEX = b'{"t":0.5,"at":%d}\n' % len(HEAD)
PARTS = {"cast": HEAD + b'[0.25,"o","b"]\n', "index": INDEX, "screens": b"abc"}


def plant(folder: Path, *, state: Literal["recording", "finished"] = "recording", **parts: bytes) -> RecordingStore:
    store = RecordingStore(Folder(folder))
    reason: Literal["stopped"] | None = "stopped" if state == "finished" else None
    store.save(msgspec.structs.replace(INFO, state=state, reason=reason, size=1000, screens=1000, index=1000))
    for part, data in (PARTS | parts).items():
        (folder / f"r-1.{part}").write_bytes(data)
    return store


@pytest.mark.parametrize(
    "line",
    [b"5", b"[]", b'{"at":"x","t":1}', b'{"at":-1,"t":1}', b'{"at":1}', b'{"at":20,"t":-1}', b"[" * 5000, b"\xff"],
)
def test_a_damaged_line_of_the_index_is_passed_over(tmp_path: Path, line: bytes) -> None:
    (found,) = plant(tmp_path, index=line + b"\n").load()
    assert found.duration == 0.75


@pytest.mark.parametrize(
    "line", [b"[]", b'["x","o","a"]', b'[-5,"o","a"]', b"5", b"[" * 5000, b"\xff", b'[1e308,"o","a"]\n[1e308,"o","a"]']
)
def test_a_damaged_event_does_not_prevent_the_start(tmp_path: Path, line: bytes) -> None:
    (found,) = plant(tmp_path, cast=PARTS["cast"] + line + b"\n").load()
    assert found.duration in (0.75, 0.0)


def test_a_finished_recording_has_at_most_the_sizes_of_its_files(tmp_path: Path) -> None:
    (found,) = plant(tmp_path, state="finished").load()
    assert (found.size, found.screens, found.index) == tuple(map(len, (PARTS["cast"], b"abc", PARTS["index"])))
    assert found.truncated


@pytest.mark.parametrize("part", ["json", "cast", "index", "screens"])
@pytest.mark.parametrize("kind", ["fifo", "link", "directory"])
@pytest.mark.parametrize("state", ["recording", "finished"])
def test_only_regular_files_are_opened(
    tmp_path: Path, part: str, kind: str, state: Literal["recording", "finished"]
) -> None:
    """A FIFO would hang the start, and a link would name any file that the runtime can read."""
    folder = tmp_path / "recordings"
    store = plant(folder, state=state)
    path = folder / f"r-1.{part}"
    target = tmp_path / "elsewhere"
    path.replace(target)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(target)
    else:
        path.mkdir()
    before = target.read_bytes()
    found = [(info.size, info.screens, info.index) for info in store.load()]
    if state == "finished" and part != "json":  # it is listed, so that it can be deleted
        assert found[0][("cast", "screens", "index").index(part)] == 0
    else:
        assert found == [] or part == "screens"
    assert target.read_bytes() == before


def test_a_recording_whose_repair_cannot_be_written_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk may be full."""
    store = plant(tmp_path)

    def full(info: RecordingInfo) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "save", full)
    (found,) = store.load()
    assert found.state == "finished"


def test_recordings_whose_folder_is_a_file_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "recordings").write_bytes(b"x")
    assert list(RecordingStore(Folder(tmp_path / "recordings")).load()) == []
