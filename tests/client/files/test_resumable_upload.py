"""Uploads that another process continues, against a real sandbox."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import hawse
from hawse.client.files.resumable_upload import CHECKED
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    """A gateway with a separate sandbox."""
    async with Stack(tmp_path / "s") as stack:
        yield stack


def parts(files: Path) -> list[Path]:
    return list(files.rglob(".hawse-*.part"))


async def test_a_part_is_continued_unless_it_differs(stack: Stack, tmp_path: Path, connect: Connect) -> None:
    workspace = stack.state / "sandboxes" / "local" / "workspace"
    local = tmp_path / "big"
    data = os.urandom(3 << 20)
    local.write_bytes(data)
    sent: list[int] = []
    named: set[Path] = set()

    def note(done: int, whole: int) -> None:
        sent.append(done)
        if done == whole:  # more than the server may have buffered: the part exists
            named.update(parts(workspace))

    async with connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        await files.upload(local, "dir/big", resume=True, progress=note)
        (part,) = named
        assert not parts(workspace)
        for arrived in (data[: 2 << 20], data[: 2 << 20] + bytes(CHECKED), data + b"more", b""):
            part.write_bytes(arrived)
            sent.clear()
            done = await files.upload(local, "dir/big", mode=0o640, resume=True, progress=note)
            assert (workspace / "dir" / "big").read_bytes() == data
            assert (done.bytes, done.version) == (len(data), (await files.stat("dir/big")).version)
            assert len(sent) == (1 if arrived == data[: 2 << 20] else 3)
            assert not parts(workspace)
        assert (await files.stat("dir/big")).mode & 0o777 == 0o640
        await files.upload(local, "dir/big", resume=True)
        assert (await files.stat("dir/big")).mode & 0o777 == 0o640


async def test_a_local_file_that_changes_is_not_mixed(stack: Stack, tmp_path: Path, connect: Connect) -> None:
    local = tmp_path / "big"
    local.write_bytes(b"a" * (2 << 20))
    async with connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        with pytest.raises(hawse.HawseError, match="conflict"):
            await files.upload(local, "f", resume=True, progress=lambda done, whole: local.write_bytes(b"b"))
        assert not await files.exists("f")
        assert not parts(stack.state)


async def test_a_symlink_stays(stack: Stack, tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "local").write_bytes(b"new")
    async with connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        await files.write("target", b"old")
        (stack.state / "sandboxes" / "local" / "workspace" / "link").symlink_to("target")
        await files.upload(tmp_path / "local", "link", resume=True)
        assert await files.read("target") == b"new"
        assert (await files.stat("link", follow=False)).type == "symlink"


async def test_an_upload_that_is_refused_leaves_no_part(stack: Stack, tmp_path: Path, connect: Connect) -> None:
    local = tmp_path / "big"
    local.write_bytes(b"a" * (2 << 20))
    workspace = stack.state / "sandboxes" / "local" / "workspace"
    async with connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files

        def occupy(done: int, whole: int) -> None:
            (workspace / "f").mkdir(exist_ok=True)
            (workspace / "f" / "inside").touch()

        with pytest.raises(hawse.HawseError):
            await files.upload(local, "f", resume=True, progress=occupy)
        assert not parts(stack.state)


async def test_an_upload_that_is_given_up_leaves_its_part_for_a_day(
    stack: Stack, tmp_path: Path, connect: Connect
) -> None:
    local = tmp_path / "big"
    workspace = stack.state / "sandboxes" / "local" / "workspace"

    class GivenUpError(Exception):
        pass

    def give_up(done: int, whole: int) -> None:
        if done == whole and parts(workspace):
            raise GivenUpError

    async with connect(stack.base, token=stack.token) as hw:
        files = hw.sandbox().files
        left: list[Path] = []  # the older first: the sandbox may still write to the later one
        for number in range(2):
            local.write_bytes(bytes([number]) * (3 << 20))
            with pytest.raises(GivenUpError):
                await files.upload(local, "f", resume=True, progress=give_up)
            left += set(parts(workspace)) - set(left)
        (workspace / ".hawse-unrelated.part").touch()
        old, recent = left
        for path in (old, workspace / ".hawse-unrelated.part"):
            os.utime(path, (0, 0))
        local.write_bytes(b"new")
        await files.upload(local, "f", resume=True)
        assert sorted(parts(workspace)) == sorted([recent, workspace / ".hawse-unrelated.part"])
        assert await files.read("f") == b"new"
