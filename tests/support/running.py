"""Runs programs to completion."""

import asyncio
from collections.abc import Mapping
from pathlib import Path


async def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None, timeout: float) -> str:
    """Run a program, which must exit with 0; return its standard output.

    Args:
        command: The program and its arguments.
        cwd: Its working directory.
        env: Its complete environment; None means the tests' environment.
        timeout: Seconds after which it is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(timeout):
            printed, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, f"{command}: {printed.decode()}{errors.decode()}"
    return printed.decode()
