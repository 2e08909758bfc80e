"""The operator's file: who can mount what, and the visible part."""

import os
from pathlib import Path

import pytest

from hawse.api.mounts import MountCredentials
from hawse.wire import HawseError, Principal
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.mounts.settings import (
    MountSettings,
    check_named,
    check_prefix,
    given_source,
    named_source,
    read_mount_settings,
)


def read(folder: Path, text: str) -> MountSettings:
    path = folder / "mounts.toml"
    path.write_text(text)
    return read_mount_settings(path)


def test_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret")
    (tmp_path / "id").write_text("the-id\n")
    settings = read(
        tmp_path,
        f"""
        per_sandbox = 2
        [buckets.data]
        bucket = "company-data"
        endpoint = "https://s3.test:9000"
        prefix = "users/{{user}}/{{sandbox}}"
        access_key_id_file = "{tmp_path}/id"
        secret_access_key_env = "THE_KEY"
        users = ["ana"]
        [buckets.public]
        [directories.here]
        path = "{tmp_path}"
        """,
    )
    source = named_source(settings, "data", "sub/", "a/b", "box")
    assert (source.bucket, source.prefix) == ("company-data", "users/a%2Fb/box/sub")
    assert source.credentials == MountCredentials(access_key_id="the-id", secret_access_key="secret")
    assert named_source(settings, "data", "", "..", "box").prefix == "users/%2E%2E/box"
    assert named_source(settings, "public", "", "ana", "box").credentials is None
    with pytest.raises(HawseError, match="no longer"):
        named_source(settings, "gone", "", "ana", "box")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "unknown field"),
        ("per_sandbox = 0", "per_sandbox"),
        ("[buckets.a]\nbucket = 'a/b'", "not the name of a bucket"),
        ("[buckets.a]\nbucket = 'abc'\nendpoint = 'ftp://x'", "not the URL of a store"),
        ("[buckets.abc]\nprefix = '../x'", "is not allowed in a prefix"),
        ("[buckets.abc]\naccess_key_id_env = 'MISSING_VARIABLE'", "MISSING_VARIABLE"),
        ("[buckets.abc]\naccess_key_id_env = 'HOME'", "or neither"),
        ("[buckets.abc]\naccess_key_id_env = 'HOME'\naccess_key_id_file = 'x'", "one of"),
        ("[buckets.abc]\naccess_key_id_file = '/missing'", "cannot be read"),
        ("[directories.a]\npath = 'relative'", "absolute path"),
        ("[directories.a]\npath = '/missing'", "absolute path"),
        ("[directories.abc]\npath = '/'\n[buckets.abc]", "a bucket and a directory"),
    ],
)
def test_the_error_names_the_invalid_setting(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read(tmp_path, text)
    with pytest.raises(SettingsError, match="No such file"):
        read_mount_settings(tmp_path / "missing")


def principal(id: str, *rights: str) -> Principal:
    return Principal(id=id, name=id, kind="user", rights=rights)


def test_users_can_mount_buckets_that_list_them(tmp_path: Path) -> None:
    text = "[directories.{}]\npath = '/'\nusers = {}\n"
    settings = read(tmp_path, text.format("all", '["*"]') + text.format("one", '["ana"]') + text.format("none", "[]"))
    ana, bo, owner = (principal("ana", "operate"), principal("bo"), principal("o", "*"))
    for name, callers in {"all": (ana, bo, owner), "one": (ana, owner), "none": (owner,)}.items():
        for caller in (ana, bo, owner):
            if caller in callers:
                check_named(settings, name, caller)
            else:
                with pytest.raises(HawseError) as raised:
                    check_named(settings, name, caller)
                assert raised.value.code == "not_found"
    with pytest.raises(HawseError, match="missing"):
        check_named(settings, "missing", owner)


@pytest.mark.parametrize("prefix", ["..", "a/../b", "./a", "/a", "a//b", "a\n", "a/\x7f", "x" * 1001])
def test_a_prefix_stays_below(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        check_prefix(prefix)


def test_a_prefix_can_have_any_printable_name() -> None:
    assert check_prefix("") == ""
    assert check_prefix("a b/ü:x/..c/") == "a b/ü:x/..c"


def test_a_directory_is_never_left_by_a_link(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "out").symlink_to("/etc")
    (root / "file").touch()
    settings = read(
        tmp_path,
        f'[directories.all]\npath = "{root}"\n[directories.own]\npath = "{root}"\nprefix = "users/{{user}}"\n',
    )
    assert named_source(settings, "all", "in", "ana", "box").directory == str(root / "in")
    for prefix in ("out", "file", "missing"):
        with pytest.raises(HawseError) as raised:
            named_source(settings, "all", prefix, "ana", "box")
        assert raised.value.code == "unavailable"
    made = named_source(settings, "own", "", "ana", "box")
    assert made.directory == str(root / "users/ana")
    assert os.stat(root / "users/ana").st_uid == os.stat(root).st_uid
    (root / "users/bo").symlink_to("/tmp")
    with pytest.raises(HawseError):
        named_source(settings, "own", "", "bo", "box")


def test_a_given_bucket_has_a_name_and_an_endpoint() -> None:
    for bucket, endpoint in (("a/b", None), (":local:", None), ("abc", "http://10.0.0.1/x y"), ("abc", "file:///etc")):
        with pytest.raises(HawseError) as raised:
            given_source(bucket, "", MountCredentials(access_key_id="i", secret_access_key="s", endpoint=endpoint))
        assert raised.value.code == "invalid_params"
