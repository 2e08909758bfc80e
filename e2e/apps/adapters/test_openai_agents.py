"""The shell, the editor and the functions of the OpenAI Agents SDK work in a sandbox, for a model with a script."""

from pathlib import Path

import pytest

from e2e.apps.adapters.running import run
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_agent_creates_runs_repairs_and_deletes_files_with_the_sdks_tools(
    stack: Stack, tmp_path: Path
) -> None:
    assert await run("openai_agent.py", stack.url, tmp_path) == [
        "'Created work/double.py'",
        "'conflict: the file exists'",  # it is not created again
        r"'$ python3 work/double.py\n23\n\n$ exit 3\nexit code: 3'",
        "'Updated work/double.py'",
        r"'$ python3 work/double.py\n42'",
        r"'42\n[exit code 0]'",
        "'not_found: missing: No such file or directory'",
        "'Deleted answer'",
        "done",
    ]
