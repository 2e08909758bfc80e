"""`backup.pack` and `backup.unpack` of a real runtime."""

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from tests.support.running import run
from tests.support.runtime import Served
from tests.support.trees import plant, seen

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_directory_is_packed_and_unpacked(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        source = served.workspace / "s"
        (source / "sub").mkdir(parents=True)
        (source / "sub/f").write_bytes(b"x" * 1_000_000)
        pack = client.call("backup.pack", {"path": "s", "compression": "none"})
        value = await pack.result()
        data = bytes(pack.output)
        assert (value["format"], value["size"], value["entries"]) == ("tar", len(data), 3)
        assert value["sha256"] == hashlib.sha256(data).hexdigest()
        (served.workspace / "archive").write_bytes(data)
        unpack = client.call("backup.unpack", {"archive": "archive", "path": "t", "sha256": value["sha256"]})
        assert (await unpack.result())["bytes"] == 1_000_000
        assert seen(source) == seen(served.workspace / "t")


async def test_what_a_killed_runtime_has_left_is_undone_before_anything_else(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    async with Served(tmp_path) as served:
        workspace = served.workspace
    plant(workspace / ".hawse-restore-0123456789abcdef", {b"new": {b"f": b"new"}, b"old": {b"f": b"old"}})
    (workspace / ".hawse-restore-fedcba9876543210").write_text("an archive")
    async with Served(tmp_path) as served, served.client() as client:
        assert (workspace / "f").read_text() == "old"
        pack = client.call("backup.pack", {"path": ".", "compression": "none"})
        assert (await pack.result())["entries"] == 2
        async with asyncio.timeout(20):
            while os.listdir(workspace) != ["f"]:  # noqa: ASYNC110  # they are removed without an event
                await asyncio.sleep(0.01)


async def test_the_recordings_in_the_workspace_are_neither_packed_nor_replaced(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        plant(served.workspace / ".hawse", {b"recordings": {b"r": b"old"}})
        plant(served.workspace / "sub", {b".hawse": {b"f": b"x"}})
        pack = client.call("backup.pack", {"compression": "none"})
        value = await pack.result()
        assert value["entries"] == 4
        (served.workspace / ".hawse/recordings/r").write_text("new")
        (served.workspace / "archive").write_bytes(bytes(pack.output))
        unpack = client.call("backup.unpack", {"archive": "archive", "sha256": value["sha256"]})
        assert (await unpack.result())["entries"] == 4
        assert (served.workspace / ".hawse/recordings/r").read_text() == "new"
        assert sorted(os.listdir(served.workspace)) == [".hawse", "archive", "sub"]


async def test_the_root_of_a_runtime_is_restored_and_extracted_to(tmp_path: Path) -> None:
    async with Served(tmp_path, root=tmp_path / "workspace") as served, served.client() as client:
        (served.workspace / "f").write_text("one")
        pack = client.call("backup.pack", {"compression": "none"})
        value = await pack.result()
        (served.workspace / "f").write_text("two")
        (served.workspace / "archive").write_bytes(bytes(pack.output))
        await client.call("backup.unpack", {"archive": "archive", "sha256": value["sha256"]}).result()
        assert (served.workspace / "f").read_text() == "one"
        await client.call("file.extract", {"path": "archive", "overwrite": True}).result()


async def test_what_git_ignores_is_left_out_where_there_is_a_repository(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        for name in ("keep", "a.log", "build/deep/f"):
            path = served.workspace / "s" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        (served.workspace / "s/.gitignore").write_text("*.log\nbuild/\n")
        assert (await client.call("backup.pack", {"path": "s", "gitignore": True}).result())["entries"] == 7
        await run("git", "init", "-q", "s", cwd=served.workspace, timeout=20)
        pack = client.call("backup.pack", {"path": "s", "gitignore": True, "exclude": [".git"]})
        assert (await pack.result())["entries"] == 3


async def test_a_path_that_cannot_be_packed_is_typed(tmp_path: Path) -> None:
    async with Served(tmp_path) as served, served.client() as client:
        for gitignore in (False, True):
            call = client.call("backup.pack", {"path": "missing", "gitignore": gitignore})
            assert (await call.refusal()).code in ("not_found", "spawn_failed")
        call = client.call("backup.unpack", {"archive": "missing", "path": "t", "sha256": "0" * 64})
        assert (await call.refusal()).code == "not_found"
