"""The sandbox provider of Inspect runs an evaluation, and passes Inspect's own checks of providers."""

from pathlib import Path

import pytest

import hawse
from e2e.apps.adapters.running import run
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_evaluation_is_scored_inspects_checks_pass_and_no_sandbox_is_left(
    stack: Stack, tmp_path: Path
) -> None:
    assert await run("inspect_task.py", stack.url, tmp_path) == [
        "success None 1.0",
        "['What is 6 * 7?', '']",
        "failed: []",
    ]
    async with hawse.connect(stack.url) as hw:
        assert [sandbox.id for sandbox in await hw.sandboxes.list()] == ["local"]
