"""`file.archive`: a tree is the same after packing and unpacking in each format, also if files change meanwhile."""

import io
import os
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from hawse.api.files import FileArchive, FileArchiveResult
from hawse_runtime.files.archive import archive
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.rpc.generator_stream import StreamEvent
from tests.support.runtime import Client, Served, eventually, no_fd_leaked
from tests.support.trees import plant, seen, trees


def archived(path: Path, **params: Any) -> tuple[bytes, FileArchiveResult]:
    work = archive(RootedPath(str(path)), FileArchive(path="x", **params))
    data = b""
    while True:
        try:
            item = next(work)
        except StopIteration as end:
            return data, end.value
        data += b"" if item is None or isinstance(item, StreamEvent) else item


@given(trees)
@settings(deadline=None, max_examples=30)
def test_a_tar_contains_every_tree_unchanged(tree: Any) -> None:
    """As GNU tar unpacks it."""
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        plant(Path(folder, "s"), tree)
        data, result = archived(Path(folder, "s"), format="tar")
        os.mkdir(Path(folder, "t"))
        subprocess.run(["tar", "xpf", "-", "-C", str(Path(folder, "t"))], input=data, check=True)
        assert seen(Path(folder, "t")) == seen(Path(folder, "s"))
        assert (result.bytes, result.files, result.failed) == (len(data), len(seen(Path(folder, "s"))), 0)


@pytest.mark.parametrize("format_", ["tar", "tar.gz", "zip"])
async def test_a_directory_streams_as_an_archive(client: Client, served: Served, format_: str) -> None:
    data = os.urandom(3_000_000)
    (served.workspace / "d/sub").mkdir(parents=True)
    (served.workspace / "d/sub/big").write_bytes(data)
    (served.workspace / "d/skip.log").write_text("no")
    (served.workspace / "d/link").symlink_to("/etc/passwd")
    call = client.call("file.archive", {"path": "d", "format": format_, "exclude": ["*.log"]})
    result = await call.result()
    assert call.events[0].value == {"name": f"d.{format_}"}
    assert result == {"bytes": len(call.output), "files": 3, "failed": 0, "skipped": 0}
    if format_ == "zip":
        with zipfile.ZipFile(io.BytesIO(call.output)) as zip_:
            assert zip_.read("sub/big") == data
            assert zip_.read("link") == b"/etc/passwd"
    else:
        with tarfile.open(fileobj=io.BytesIO(call.output)) as tar:
            member = tar.extractfile("sub/big")
            assert member is not None
            assert member.read() == data
            assert tar.getmember("link").linkname == "/etc/passwd"


async def test_a_single_file_is_an_archive_too(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("x")
    call = client.call("file.archive", {"path": "f", "format": "tar"})
    await call.result()
    with tarfile.open(fileobj=io.BytesIO(call.output)) as tar:
        assert tar.getnames() == ["f"]
    os.mkfifo(served.workspace / "fifo")
    assert (await client.refused("file.archive", path="fifo")).code == "invalid_params"
    assert (await client.refused("file.archive", path="none")).code == "not_found"


def test_a_file_that_shrinks_meanwhile_is_padded_and_counted(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(b"x" * 2_000_000))
    work = archive(RootedPath(str(tmp_path)), FileArchive(path="x", format="tar"))
    data = b""
    result = None
    while result is None:
        try:
            item = next(work)
        except StopIteration as end:
            result = end.value
        else:
            if isinstance(item, bytes) and item:
                if not data:
                    os.truncate(tmp_path / "f", 10)
                data += item
    assert result.failed == 1
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert tar.getmember("f").size == 2_000_000


async def test_cancel_stops_an_archive_and_leaves_no_descriptor_open(served: Served) -> None:
    (served.workspace / "big").write_bytes(os.urandom(3_000_000))
    before = served.runtime.info()["open_fds"]
    async with served.client(window=100_000) as client:
        call = client.call("file.archive", {"path": ".", "format": "zip"}, generous=False)
        await call.until(lambda: len(call.output) > 50_000)
        call.cancel()
        assert (await call.refusal()).code == "cancelled"
        cut = client.call("file.archive", {"path": ".", "format": "tar.gz"}, generous=False)
        await cut.until(lambda: len(cut.output) > 50_000)
    await eventually(lambda: served.runtime.info()["open_fds"] <= before)  # a thread closes them, without an event
