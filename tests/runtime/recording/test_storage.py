from pathlib import Path

from runtime.recording.storage import RecordingFile, RecordingQuota, RecordingStore


def info(name: str = "r-1", **fields: object) -> RecordingFile:
    return RecordingFile(id=name, terminal="t", instance="i", cols=80, rows=24, started=1.0, **fields)  # type: ignore[arg-type]


def test_what_was_saved_is_found_again_oldest_first(tmp_path: Path) -> None:
    archive = RecordingStore(tmp_path / "new")
    assert list(archive.load()) == []
    for name, started in (("b", 2.0), ("a", 3.0), ("c", 1.0)):
        one = info(name, state="finished", reason="stopped")
        one.started = started
        archive.save(one)
    assert [found.id for found in archive.load()] == ["c", "b", "a"]
    archive.delete("b")
    assert [found.id for found in archive.load()] == ["c", "a"]


def test_one_that_the_runtime_was_killed_in_ends_with_its_last_whole_line(tmp_path: Path) -> None:
    archive = RecordingStore(tmp_path)
    archive.save(info())
    head = b'{"version":3}\n[1.500,"o","a"]\n'
    (tmp_path / "r-1.cast").write_bytes(head + b'[0.250,"o","b"]\n[1.000,"o","to')
    (tmp_path / "r-1.index").write_bytes(
        b'{"t":1.5,"at":%d,"screen":0,"size":3}\n{"t":1.6,"label":"x"}\n{"t":' % len(head)
    )
    (tmp_path / "r-1.screens").write_bytes(b"abc")
    for _ in range(2):
        (found,) = archive.load()
        assert (found.state, found.reason, found.truncated) == ("finished", "killed", True)
        assert found.duration == 1.75
        assert found.size == len((tmp_path / "r-1.cast").read_bytes())
    assert (tmp_path / "r-1.cast").read_bytes() == head + b'[0.250,"o","b"]\n'
    assert (tmp_path / "r-1.index").read_bytes().endswith(b'"x"}\n')


def test_what_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"{")
    (tmp_path / "y.json").write_bytes(b'{"id": "../y"}')
    archive = RecordingStore(tmp_path)
    archive.save(info("z"))  # its files are gone
    assert list(archive.load()) == []
    assert (tmp_path / "x.json").exists()


def test_room_is_given_until_there_is_none() -> None:
    room = RecordingQuota(100)
    assert room.take(60)
    assert not room.take(60)
    room.count(-30)
    assert room.take(60)
    assert room.left == 10
