"""rclone's command and environment, and the contents of its cache."""

import json
from pathlib import Path

import pytest

from hawse.api.mounts import MountCredentials
from hawse.wire import HawseError
from hawse_gateway.mounts import rclone
from hawse_gateway.mounts.settings import Source

BUCKET = Source(
    bucket="b",
    prefix="p/q",
    endpoint="https://s3.test",
    credentials=MountCredentials(access_key_id="the-id", secret_access_key="the-key"),
)


def test_credentials_are_in_the_environment_and_in_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "of the gateway")
    argv = rclone.arguments("/bin/rclone", BUCKET, size=1, user=1000, read_only=True)
    environment = rclone.environment(BUCKET, 1 << 28)
    assert "store:b/p/q" in argv
    assert "--read-only" in argv
    assert not any("the-" in word for word in argv)
    assert environment["RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY"] == "the-key"
    assert "HAWSE_TOKEN" not in environment


def test_a_probe_lists_a_missing_directory_so_that_a_large_bucket_costs_one_request() -> None:
    command = rclone.probe("/bin/rclone", BUCKET)
    assert command[:2] == ["/bin/rclone", "lsf"]
    assert command[-1] == "store:b/p/q/.hawse-probe"
    assert not any("the-" in word for word in command)


def test_a_directory_is_named_by_its_descriptor() -> None:
    source = Source(directory="/srv/secret-name")
    argv = rclone.arguments("/bin/rclone", source, size=1, user=1000, read_only=False)
    assert "/proc/self/fd/101" in argv
    assert not any(name.startswith("RCLONE_CONFIG") for name in rclone.environment(source, 1))


def test_files_that_are_not_uploaded_are_counted(tmp_path: Path) -> None:
    assert rclone.look(tmp_path / "missing") == (0, 0)
    meta = tmp_path / "vfsMeta/store/b"
    meta.mkdir(parents=True)
    for name, dirty in (("a", True), ("b", False), ("c", True)):
        (meta / name).write_text(json.dumps({"Dirty": dirty}))
    (meta / "damaged").write_text("{")
    data = tmp_path / "vfs/store/b"
    data.mkdir(parents=True)
    (data / "a").write_bytes(b"x" * 100_000)
    found = rclone.look(tmp_path)
    assert found.pending == 3
    assert found.size >= 100_000


def test_the_error_names_the_missing_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rclone.check_available().endswith("/rclone")
    monkeypatch.setattr(rclone, "find", lambda: None)
    with pytest.raises(HawseError, match="apt install rclone") as raised:
        rclone.check_available()
    assert raised.value.code == "unavailable"


def test_metadata_that_rclone_was_writing_when_it_was_killed_is_written_anew(tmp_path: Path) -> None:
    meta, data = tmp_path / "vfsMeta/store/b", tmp_path / "vfs/store/b"
    meta.mkdir(parents=True)
    data.mkdir(parents=True)
    assert rclone.repair(tmp_path / "missing") == []
    for name in ("damaged", "empty", "intact", "no-data", "holes", "link"):
        (meta / name).write_text("")
    (meta / "intact").write_text('{"Dirty": false}')
    (meta / "damaged").write_text('{"Dirty": ')
    for name in ("damaged", "intact"):
        (data / name).write_text("text")
    (data / "empty").touch()
    with (data / "holes").open("wb") as file:
        file.truncate(1 << 20)
    (data / "link").symlink_to(data / "damaged")
    assert sorted(rclone.repair(tmp_path)) == ["store/b/damaged", "store/b/empty"]
    written = json.loads((meta / "damaged").read_text())
    assert (written["Size"], written["Rs"], written["Dirty"]) == (4, [{"Pos": 0, "Size": 4}], True)
    assert json.loads((meta / "empty").read_text())["Size"] == 0
    assert (meta / "intact").read_text() == '{"Dirty": false}'
    assert (meta / "holes").read_text() == (meta / "link").read_text() == ""
    assert rclone.repair(tmp_path) == []
