"""The methods `file.*`: their results, and typed errors."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hawse.api import METHODS
from hawse_runtime.core.remove_tree import remove_tree
from tests.support.principals import VIEWER
from tests.support.runtime import Client, Served


def temporaries(served: Served) -> list[Path]:
    return list(served.workspace.rglob(".hawse-*"))


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("file.read", {"path": "missing"}, "not_found"),
        ("file.read", {"path": "folder"}, "is_directory"),
        ("file.read", {"path": "file/below"}, "not_directory"),
        ("file.read", {"path": "/dev/zero"}, "invalid_params"),
        ("file.read", {"path": "fifo"}, "invalid_params"),
        ("file.read", {"path": "a\0b"}, "invalid_params"),
        ("file.read", {"path": ""}, "invalid_params"),
        ("file.read", {"path": "file", "offset": -1}, "invalid_params"),
        ("file.read", {"path": "file", "length": "1"}, "invalid_params"),
        ("file.stat", {"path": "missing"}, "not_found"),
        ("file.stat", {"path": "x" * 300}, "invalid_params"),
        ("file.write", {"path": "folder", "input": "i"}, "is_directory"),
        ("file.write", {"path": "file/below", "input": "i"}, "not_directory"),
        ("file.write", {"path": "no/such", "input": "i", "parents": False}, "not_found"),
        ("file.write", {"path": "fifo", "input": "i"}, "invalid_params"),
        ("file.write", {"path": "/dev/null", "input": "i"}, "invalid_params"),
        ("file.write", {"path": "x" * 256, "input": "i"}, "invalid_params"),
        ("file.write", {"path": "x"}, "invalid_params"),
        ("file.write", {"path": "x", "input": "i", "mode": 0o10000}, "invalid_params"),
        ("file.write", {"path": "/proc/nothing/x", "input": "i"}, "not_found"),
    ],
)
async def test_an_invalid_call_is_a_typed_error(
    client: Client, served: Served, method: str, params: dict[str, Any], code: str
) -> None:
    (served.workspace / "folder").mkdir()
    (served.workspace / "file").write_text("x")
    os.mkfifo(served.workspace / "fifo")
    call = client.call(method, params)
    if method == "file.write" and "input" in params:
        call.send(b"data")
        call.end()  # before the error can be known
    assert (await call.refusal()).code == code
    assert temporaries(served) == []
    assert (served.workspace / "file").read_text() == "x"
    await client.info()


async def test_stat_describes_each_type_of_file(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("hello")
    (served.workspace / "d").mkdir()
    assert (await client.ask("file.stat", path="f")) | {"mtime": 0, "version": "", "mtime_ns": 0, "allocated": 0} == {
        "path": "f",
        "type": "file",
        "size": 5,
        "mode": 0o644,
        "mtime": 0,
        "version": "",
        "uid": os.getuid(),
        "gid": os.getgid(),
        "target": None,
        "mtime_ns": 0,
        "allocated": 0,
        "mime": None,
        "binary": None,
    }
    assert (await client.ask("file.stat", path="d"))["type"] == "directory"
    assert (await client.ask("file.stat", path="/dev/null"))["type"] == "device"


async def test_a_symlink_or_its_target_is_described(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("hello")
    (served.workspace / "link").symlink_to("f")
    (served.workspace / "nowhere").symlink_to("nothing")
    assert (await client.ask("file.stat", path="link"))["type"] == "file"
    link = await client.ask("file.stat", path="link", follow=False)
    assert (link["type"], link["target"]) == ("symlink", "f")
    assert (await client.refused("file.stat", path="nowhere")).code == "not_found"
    assert (await client.ask("file.stat", path="nowhere", follow=False))["target"] == "nothing"


async def test_exists_returns_false_for_a_missing_file_without_an_error(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("x")
    (served.workspace / "loose").symlink_to("nothing")
    os.mkfifo(served.workspace / "fifo")
    assert await client.ask("file.exists", path="f") == {"exists": True, "type": "file"}
    assert await client.ask("file.exists", path="fifo") == {"exists": True, "type": "fifo"}
    for path in ("none", "f/below", "loose"):
        assert await client.ask("file.exists", path=path) == {"exists": False, "type": None}
    assert (await client.ask("file.exists", path="loose", follow=False))["type"] == "symlink"
    assert (await client.refused("file.exists", path="x" * 300)).code == "invalid_params"


async def test_directories_are_made(client: Client, served: Served) -> None:
    assert await client.ask("file.mkdir", path="a", mode=0o711) == {"created": True}
    assert stat.S_IMODE((served.workspace / "a").stat().st_mode) == 0o711
    assert (await client.refused("file.mkdir", path="a")).code == "conflict"
    assert (await client.refused("file.mkdir", path="b/c")).code == "not_found"
    assert await client.ask("file.mkdir", path="b/c/d", parents=True) == {"created": True}
    assert await client.ask("file.mkdir", path="b/c/d", parents=True) == {"created": False}
    assert (served.workspace / "b/c/d").is_dir()
    (served.workspace / "f").write_text("x")
    assert (await client.refused("file.mkdir", path="f", parents=True)).code == "conflict"
    assert (await client.refused("file.mkdir", path="f/g", parents=True)).code == "not_directory"
    deep = "/".join(["d"] * 1500)
    try:
        assert await client.ask("file.mkdir", path=deep, parents=True) == {"created": True}
    finally:
        remove_tree(served.workspace / "d")  # pytest cannot: it would stumble over it in every later run


async def test_times_are_set_of_anything(client: Client, served: Served) -> None:
    os.mkfifo(served.workspace / "fifo")
    (served.workspace / "d").mkdir()
    (served.workspace / "link").symlink_to("d")
    for path, time in (("fifo", 1), ("link", 1_700_000_000_123_456_789)):
        assert await client.ask("file.utime", path=path, mtime_ns=time) == {}
    assert (served.workspace / "fifo").stat().st_mtime_ns == 1
    assert (served.workspace / "d").stat().st_mtime_ns == 1_700_000_000_123_456_789
    assert await client.ask("file.utime", path="link", mtime_ns=5, follow=False) == {}
    assert (served.workspace / "link").lstat().st_mtime_ns == 5
    assert (await client.ask("file.stat", path="d"))["mtime_ns"] == 1_700_000_000_123_456_789
    assert (await client.refused("file.utime", path="none", mtime_ns=1)).code == "not_found"
    assert (await client.refused("file.utime", path="d", mtime_ns=2**63)).code == "invalid_params"


async def test_symlinks_are_made_and_replaced(client: Client, served: Served) -> None:
    assert await client.ask("file.symlink", path="l\0ff", target="caf\0e9/../x") == {}
    assert os.readlink(os.fsencode(served.workspace) + b"/l\xff") == b"caf\xe9/../x"
    assert (await client.refused("file.symlink", path="l\0ff", target="y")).code == "conflict"
    assert await client.ask("file.symlink", path="l\0ff", target="y", overwrite=True) == {}
    assert os.readlink(os.fsencode(served.workspace) + b"/l\xff") == b"y"
    (served.workspace / "d").mkdir()
    assert (await client.refused("file.symlink", path="d", target="y", overwrite=True)).code == "is_directory"
    assert (await client.refused("file.symlink", path="no/l", target="y")).code == "not_found"
    assert sorted(os.listdir(os.fsencode(served.workspace))) == [b"d", b"l\xff"]


async def test_bits_are_set_of_anything_that_has_some(client: Client, served: Served) -> None:
    os.mkfifo(served.workspace / "fifo")
    (served.workspace / "f").write_text("x")
    (served.workspace / "link").symlink_to("f")
    for path in ("fifo", "link"):
        assert await client.ask("file.chmod", path=path, mode=0o4751) == {}
    assert stat.S_IMODE((served.workspace / "fifo").stat().st_mode) == 0o4751
    assert stat.S_IMODE((served.workspace / "f").stat().st_mode) == 0o4751
    assert (await client.refused("file.chmod", path="none", mode=0o600)).code == "not_found"
    assert (await client.refused("file.chmod", path="f", mode=0o10000)).code == "invalid_params"


async def test_a_name_that_is_not_valid_utf_8_is_sent_in_both_directions(client: Client, served: Served) -> None:
    (served.workspace / os.fsdecode(b"caf\xe9")).write_text("latin")
    assert (await client.ask("file.stat", path="caf\0e9"))["path"] == "caf\0e9"
    os.symlink(b"caf\xe9", served.workspace / "link")
    assert (await client.ask("file.stat", path="link", follow=False))["target"] == "caf\0e9"
    assert (await client.refused("file.stat", path="caf\0")).code == "invalid_params"


async def test_a_viewer_may_call_no_file_method(client: Client, served: Served) -> None:
    for method in filter(lambda name: name.startswith("file."), METHODS):
        refusal = await client.call(method, {"path": "x"}, principal=VIEWER).refusal()
        assert refusal.code == "forbidden"


async def test_relative_paths_begin_at_the_root_of_the_call_and_cannot_leave_it(client: Client, served: Served) -> None:
    (served.workspace / "jail").mkdir()
    (served.workspace / "jail/f").write_text("x")
    (served.workspace / "secret").write_text("s")
    (served.workspace / "jail/out").symlink_to("../secret")
    (served.workspace / "jail/in").symlink_to("f")
    for path in ("f", "in", str(served.workspace / "jail/f")):
        assert (await client.ask("file.stat", path=path, root="jail"))["size"] == 1
    for path in ("../secret", "out", str(served.workspace / "secret"), "/", ".."):
        assert (await client.refused("file.stat", path=path, root="jail")).code == "permission_denied"
        assert (await client.refused("file.read", path=path, root="jail")).code == "permission_denied"
        assert (await client.refused("file.write", path=path, root="jail", input="i")).code == "permission_denied"
    assert (served.workspace / "secret").read_text() == "s"


async def test_a_runtime_with_a_root_confines_every_call(tmp_path: Path) -> None:
    async with Served(tmp_path, root=tmp_path / "workspace") as served, served.client() as client:
        (tmp_path / "secret").write_text("s")
        (served.workspace / "f").write_text("x")
        (served.workspace / "out").symlink_to("../secret")
        assert (await client.ask("file.stat", path="f"))["size"] == 1
        for path in ("out", "../secret", "/etc/passwd", str(tmp_path / "secret")):
            for method in ("file.stat", "file.read", "file.archive", "file.list"):
                assert (await client.refused(method, path=path)).code == "permission_denied"
        assert (await client.refused("file.stat", path="f", root="/")).code == "permission_denied"
        assert (await client.refused("file.delete", path=".", recursive=True)).code == "permission_denied"
        await client.ask("file.delete", path="f/../out/../f")
        await client.ask("file.mkdir", path="a/b", parents=True)
        assert sorted(os.listdir(served.workspace)) == ["a", "out"]


async def test_the_type_of_a_content_is_reported_if_that_is_asked_for(client: Client, served: Served) -> None:
    (served.workspace / "page.html").write_text("<p>")
    (served.workspace / "data").write_bytes(b"\0\1")
    plain = await client.ask("file.stat", path="page.html")
    assert (plain["mime"], plain["binary"]) == (None, None)
    for path, mime, binary in (
        ("page.html", "text/html", False),
        ("data", "application/octet-stream", True),
        (".", None, None),
    ):
        found = await client.ask("file.stat", path=path, detect=True)
        assert (found["mime"], found["binary"]) == (mime, binary)


async def test_relative_paths_begin_in_the_directory_of_a_session(client: Client, served: Served) -> None:
    await client.ask("session.create", id="s")
    os.makedirs(os.fsencode(served.workspace) + b"/\xff/below")
    await client.call("session.exec", {"id": "s", "command": "cd ./?"}).result()
    await client.ask("file.mkdir", path="made", session="s")
    await client.ask("file.rename", path="made", to="below/moved", session="s")
    assert (served.workspace / os.fsdecode(b"\xff") / "below/moved").is_dir()
    assert (await client.ask("file.stat", path="moved", root="below", session="s"))["type"] == "directory"
    absolute = await client.ask("file.exists", path=str(served.workspace / "moved"), session="s")
    assert absolute["exists"] is False
    assert (await client.refused("file.stat", path="../..", root="below", session="s")).code == "permission_denied"
    assert (await client.refused("file.stat", path=".", session="missing")).code == "not_found"
    await client.call("session.exec", {"id": "s", "command": "exit"}).result()
    assert (await client.refused("file.stat", path=".", session="s")).code == "exited"
