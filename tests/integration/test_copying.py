"""`hawse cp` over connections that are cut, and after the command was killed."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

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
