"""Runs a program of e2e/apps/programs with the frameworks of build/apps/venv and with this checkout of hawse."""

import os
from pathlib import Path

from e2e.apps.conftest import PYTHON, ROOT, SOURCES
from tests.support import running

TIMEOUT = 270.0  # s on a busy machine; a framework needs up to 10 s of processor time to be imported
SILENT = {  # no program may wait for addresses that the machine may not reach
    "DEEPAGENTS_TELEMETRY": "0",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}


async def run(program: str, address: str, folder: Path) -> list[str]:
    """Run a program, which has to exit with 0, in a folder; return the lines that it printed."""
    env = os.environ | SILENT | {"PYTHONPATH": str(ROOT), "NO_PROXY": "*"}
    printed = await running.run(PYTHON, SOURCES / program, address, cwd=folder, env=env, timeout=TIMEOUT)
    return printed.splitlines()
