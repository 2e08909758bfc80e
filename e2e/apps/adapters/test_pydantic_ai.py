"""The toolset of pydantic-ai works in a sandbox, for a model with a script."""

from pathlib import Path

import pytest

from e2e.apps.adapters.running import run
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_agent_uses_the_tools_reads_why_some_fail_and_sees_an_image(stack: Stack, tmp_path: Path) -> None:
    assert await run("pydantic_agent.py", stack.url, tmp_path) == [
        "file_write success '13 bytes written'",
        r"exec success '42\n[exit code 0]'",
        """exec failed '{"error":"invalid arguments: Expected `str`, got `int` - at `$.command`"}'""",
        """file_read failed '{"error":"not_found: missing: No such file or directory"}'""",
        "code_run success '[no output]'",
        "['image/png']",
        "done",
    ]
