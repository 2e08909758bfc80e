"""`backup.pack` and `backup.unpack` of a real runtime."""

import hashlib
from pathlib import Path

import pytest

from tests.support.running import run
from tests.support.runtime import Served
from tests.support.trees import seen

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
