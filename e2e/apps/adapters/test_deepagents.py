"""The backend of deepagents works in a sandbox, for a model with a script."""

from pathlib import Path

import pytest

from e2e.apps.adapters.running import run
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_agent_works_with_files_and_commands_of_the_sandbox(stack: Stack, tmp_path: Path) -> None:
    assert await run("deep_agent.py", stack.url, tmp_path) == [
        "write_file 'Updated file FOLDER/program.py'",
        """edit_file "Successfully replaced 1 instance(s) of the string in 'FOLDER/program.py'\"""",
        r"execute '42\n\n[Command failed with exit code 3]'",
        r"read_file '@@ lines 1-1 of 1 @@\nprint(6 * 7)'",
        r"grep 'FOLDER/program.py:\n  1: print(6 * 7)'",
        """glob "['FOLDER/program.py']\"""",
        """ls "['FOLDER/program.py']\"""",
        """read_file "Error: File 'FOLDER/missing': file_not_found\"""",
        "done",
        "ended after 1 seconds",
        "[None, 'is_directory']",
        r"[(b'\x00', None), (None, 'file_not_found')]",
    ]
