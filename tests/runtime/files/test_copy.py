"""Copies are whole or not there; renames take no place that is taken; a move crosses file systems."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from hawse.api.files import FileCopy
from hawse.wire import HawseError
from hawse_runtime.files.copy import copy
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import Client, Served, no_fd_leaked
from tests.support.trees import finished, plant, seen, trees
from tests.support.waiting import in_directory


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory on another file system."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def copied(source: Path, target: Path, quota: int | None = None, **params: Any) -> Any:
    params = {"recursive": True, **params}
    return finished(
        copy(
            RootedPath(str(source)),
            RootedPath(str(target)),
            FileCopy(path="x", to="y", **params),
            Quota(str(source), quota),
        )
    )


@given(trees)
@settings(deadline=None, max_examples=50)
def test_every_tree_is_copied_as_it_is(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        source, target = Path(folder, "s"), Path(folder, "t")
        plant(source, tree)
        source.chmod(0o751)
        copied(source, target)
        assert seen(target) == seen(source)
        assert stat.S_IMODE(target.stat().st_mode) == 0o751
        assert target.stat().st_mtime_ns == source.stat().st_mtime_ns
        assert sorted(os.listdir(folder)) == ["s", "t"]


def unsupported(*_: object) -> int:
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


@pytest.mark.parametrize("kernel", [True, False])
def test_content_is_copied_with_and_without_the_kernels_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool
) -> None:
    if not kernel:
        monkeypatch.setattr(os, "copy_file_range", unsupported)
    data = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(data)
    with open(tmp_path / "sparse", "wb") as sparse:
        sparse.truncate(5_000_000)
    for name in ("f", "sparse"):
        result = copied(tmp_path / name, tmp_path / "copy", overwrite=True)
        assert result.bytes == (tmp_path / name).stat().st_size
        assert (tmp_path / "copy").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("kernel", [True, False])
def test_holes_stay_holes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    if not kernel:
        monkeypatch.setattr(os, "copy_file_range", unsupported)
    size = 1 << 40
    with open(tmp_path / "sparse", "wb") as sparse:
        for offset in (0, 1 << 30, size - 4096):
            sparse.seek(offset)
            sparse.write(b"data")
        sparse.truncate(size)
    assert copied(tmp_path / "sparse", tmp_path / "copy").bytes == size
    status = (tmp_path / "copy").stat()
    assert (status.st_size, status.st_blocks) == (size, (tmp_path / "sparse").stat().st_blocks)
    with open(tmp_path / "copy", "rb") as copy_:
        for offset in (0, 1 << 30, size - 4096):
            copy_.seek(offset)
            assert copy_.read(4) == b"data"
    with pytest.raises(HawseError, match="no_space"):
        copied(tmp_path / "sparse", tmp_path / "over", quota=1 << 30)
    assert sorted(os.listdir(tmp_path)) == ["copy", "sparse"]


async def test_a_cancelled_copy_stops_and_removes_its_temporary_file(
    client: Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "pread", lambda *_: b"x")  # as from a file that grows for ever
    (served.workspace / "f").write_bytes(b"x")
    call = client.call("file.copy", {"path": "f", "to": "g"})
    await in_directory(served.workspace, lambda: len(os.listdir(served.workspace)) == 2)
    call.cancel()
    assert (await call.refusal()).code == "cancelled"
    await in_directory(served.workspace, lambda: os.listdir(served.workspace) == ["f"])


def test_a_file_without_a_size_is_copied_with_its_content(tmp_path: Path) -> None:
    copied(Path("/proc/self/status"), tmp_path / "status")
    assert b"Pid:" in (tmp_path / "status").read_bytes()


def test_a_directory_is_copied_into_itself_once(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    copied(tmp_path / "d", tmp_path / "d/copy")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "d",
        "d/copy",
        "d/copy/e",
        "d/e",
    ]


def test_a_copy_that_fails_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_bytes(bytes(1000))
    os.makedirs(tmp_path / "deep" / "/".join("x" * 140))
    with no_fd_leaked():
        with pytest.raises(HawseError) as caught:
            copied(tmp_path / "d", tmp_path / "t", quota=1500)
        assert caught.value.code == "no_space"
        with pytest.raises(HawseError, match="levels of directories"):
            copied(tmp_path / "deep", tmp_path / "t")
    assert sorted(os.listdir(tmp_path)) == ["d", "deep"]


async def test_an_existing_target_is_replaced_only_with_overwrite(client: Client, served: Served) -> None:
    for name in ("f", "g"):
        (served.workspace / name).write_text(name)
    (served.workspace / "d/e").mkdir(parents=True)
    (served.workspace / "empty").mkdir()
    for method in ("file.copy", "file.move", "file.rename"):
        for path, to in (("f", "g"), ("f", "d"), ("d", "empty"), ("d", "f")):
            params = {"path": path, "to": to, **({"recursive": True} if method == "file.copy" else {})}
            assert (await client.refused(method, params)).code == "conflict"
    assert (await client.refused("file.copy", path="d", to="x")).code == "is_directory"
    assert (await client.refused("file.copy", path="d", to="g", recursive=True, overwrite=True)).code == "conflict"
    assert (await client.refused("file.rename", path="empty", to="d", overwrite=True)).code == "conflict"
    assert (await client.refused("file.copy", path="f", to="d", overwrite=True)).code == "is_directory"
    assert (await client.refused("file.rename", path="d", to="d/e/f")).code == "invalid_params"
    assert (await client.refused("file.copy", path="/dev/null", to="x")).code == "invalid_params"
    assert (await client.refused("file.copy", path="none", to="x")).code == "not_found"
    assert await client.ask("file.copy", path="f", to="g", overwrite=True) == {"files": 1, "bytes": 1, "skipped": 0}
    assert await client.ask("file.rename", path="f", to="h") == {}
    assert await client.ask("file.move", path="h", to="g", overwrite=True) == {}
    assert (served.workspace / "g").read_text() == "f"
    assert sorted(os.listdir(served.workspace)) == ["d", "empty", "g"]


async def test_a_move_crosses_file_systems_and_a_rename_is_refused(
    client: Client, served: Served, elsewhere: Path
) -> None:
    (served.workspace / "d").mkdir()
    (served.workspace / "d/f").write_text("x")
    (served.workspace / "d/link").symlink_to("f")
    refused = await client.refused("file.rename", path="d", to=str(elsewhere / "d"))
    assert refused.code == "invalid_params"
    before = seen(served.workspace / "d")
    assert await client.ask("file.move", path="d", to=str(elsewhere / "d")) == {}
    assert seen(elsewhere / "d") == before
    assert os.listdir(served.workspace) == []


async def test_neither_end_leaves_the_root(client: Client, served: Served, tmp_path: Path) -> None:
    (served.workspace / "jail").mkdir()
    (served.workspace / "jail/f").write_text("x")
    (served.workspace / "jail/out").symlink_to("..")
    for method in ("file.copy", "file.move", "file.rename"):
        for path, to in (("f", "../g"), ("f", "out/g"), ("out/jail/f", "g"), ("../f", "g")):
            refused = await client.refused(method, path=path, to=to, root="jail")
            assert refused.code == "permission_denied"
    assert os.listdir(served.workspace) == ["jail"]
