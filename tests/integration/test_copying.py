"""`hawse cp` over interrupted connections, and after the command was killed."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import hawse
from hawse.client.files.endpoints import RemoteEndpoint
from hawse.client.files.tree_transfer import TreeTransfer
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack
from tests.support.trees import kept, plant_any, special

pytestmark = pytest.mark.asyncio(loop_scope="session")

SIZE = 12 << 20  # bytes


async def cp(url: str, stack: Stack, *arguments: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, "HAWSE_URL": url, "HAWSE_TOKEN": stack.token}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hawse.cli", "cp", "-q", *arguments, env=environment
    )


@pytest.mark.parametrize("direction", ["up", "down"])
async def test_a_copy_that_was_cut_and_killed_continues(stack: Stack, tmp_path: Path, direction: str) -> None:
    workspace = stack.state / "sandboxes" / "local" / "workspace"
    source, copied = tmp_path / "source", tmp_path / "copied"
    arguments = [str(source), ":copied"] if direction == "up" else [":source", str(copied)]
    if direction == "up":
        copied = workspace / "copied"
    else:
        source = workspace / "source"
    source.write_bytes(os.urandom(SIZE))
    async with CuttingProxy(stack.port, seed=5, cut_after=(2 << 20, 3 << 20), cuts_left=3) as proxy:
        process = await cp(proxy.url, stack, *arguments)
        await proxy.spent.wait()
        proxy.refuse()
        process.kill()
        await process.wait()
        assert not copied.exists()
        before = proxy.bytes_up + proxy.bytes_down
        proxy.cut_after = None
        proxy.resume()
        again = await cp(proxy.url, stack, *arguments)
        assert await again.wait() == 0
        assert proxy.bytes_up + proxy.bytes_down - before < SIZE - (3 << 20)
    assert copied.read_bytes() == source.read_bytes()
    assert [path.name for path in (*tmp_path.iterdir(), *workspace.iterdir()) if path.suffix == ".part"] == []  # noqa: ASYNC240


@pytest.mark.parametrize("seed", range(4))
async def test_a_random_tree_is_copied_in_every_direction_as_cp_a_does(stack: Stack, tmp_path: Path, seed: int) -> None:
    source, reference, back = tmp_path / "source", tmp_path / "reference", tmp_path / "back"
    plant_any(os.fsencode(source), random.Random(seed))
    subprocess.run(["cp", "-a", source, reference], check=True)  # noqa: ASYNC221
    workspace = stack.state / "sandboxes" / "local" / "workspace"
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.create() as other:
        files = hw.sandbox().files
        sent = await files.upload_tree(source, "sent")
        assert kept(workspace / "sent") == kept(reference)
        assert len(sent.skipped) == special(source)
        across = await TreeTransfer(RemoteEndpoint(files, "sent"), RemoteEndpoint(other.files, "passed")).run()
        assert kept(stack.state / "sandboxes" / other.id / "workspace" / "passed") == kept(reference)
        fetched = await other.files.download_tree("passed", back)
    assert kept(back) == kept(reference)
    assert (sent.files, sent.bytes, sent.links) == (across.files, across.bytes, across.links)
    assert (sent.files, sent.bytes, sent.links) == (fetched.files, fetched.bytes, fetched.links)
    assert sent.failed == across.failed == fetched.failed == []
