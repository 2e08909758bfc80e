from pathlib import Path

import msgspec

from hawse.api.recordings import RecordingInfo
from runtime.recording.storage import RecordingQuota, RecordingStore

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
    store = RecordingStore(tmp_path / "new")
    assert list(store.load()) == []
    for name, started in (("b", 2.0), ("a", 3.0), ("c", 1.0)):
        store.save(msgspec.structs.replace(INFO, id=name, started=started, state="finished", reason="stopped"))
    assert [found.id for found in store.load()] == ["c", "b", "a"]
    store.delete("b")
    assert [found.id for found in store.load()] == ["c", "a"]


def test_an_unfinished_recording_is_repaired_to_its_last_whole_line(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path)
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
    store = RecordingStore(tmp_path)
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
