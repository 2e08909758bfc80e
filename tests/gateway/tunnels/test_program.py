"""Programs that write a lot, start others, ignore signals and keep their pipe open. They are shell scripts."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from hawse_gateway.tunnels.program import LINE_MAX, lines, run_program
from tests.support.gateway import eventually

TIMEOUT = 30.0  # s until a waiting test fails


class Run:
    """A run of a shell script."""

    def __init__(self, script: str, folder: Path) -> None:
        self.lines: list[str] = []
        self._script = script
        self._folder = folder

    async def run(self) -> int:
        async with asyncio.timeout(TIMEOUT):
            command = [shutil.which("sh") or "", "-c", self._script]
            return await run_program(command, self.read_line, folder=self._folder, environment=os.environ)

    async def read_line(self, line: str) -> None:
        self.lines.append(line)

    async def pids(self, count: int) -> list[int]:
        """Wait until the script has written so many numbers."""
        await eventually(lambda: len(self.lines) >= count)
        return [int(line) for line in self.lines[:count]]


@asynccontextmanager
async def running(run: Run) -> AsyncIterator[asyncio.Task[int]]:
    """Run it, and cancel it at the end."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run.run())
        yield task
        task.cancel()


async def test_its_lines_and_its_code_are_known(tmp_path: Path) -> None:
    run = Run("pwd >&2; echo 1; echo 2 >&2; printf end >&2; exit 3", tmp_path)
    assert await run.run() == 3
    assert run.lines == [str(tmp_path), "2", "end"]


async def test_it_ends_together_with_its_children(tmp_path: Path) -> None:
    run = Run("sleep 60 & echo $! >&2; echo $$ >&2; wait", tmp_path)
    async with running(run):
        pids = await run.pids(2)
    await eventually(lambda: not any(map(psutil.pid_exists, pids)))


async def test_its_children_end_when_it_ends_by_itself(tmp_path: Path) -> None:
    run = Run("sleep 60 & echo $! >&2; exit 5", tmp_path)
    assert await run.run() == 5, "its end counts, although the pipe stays open"
    (pid,) = await run.pids(1)
    await eventually(lambda: not psutil.pid_exists(pid))


async def test_a_program_that_escapes_its_group_delays_nothing(tmp_path: Path) -> None:
    run = Run("setsid sleep 60 & echo $! >&2; exit 5", tmp_path)
    descriptors = psutil.Process().num_fds()
    try:
        assert await run.run() == 5
        assert psutil.Process().num_fds() <= descriptors
    finally:
        for pid in await run.pids(1):
            os.kill(pid, signal.SIGKILL)


async def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    run = Run("trap '' TERM; echo $$ >&2; while :; do sleep 1; done", tmp_path)
    async with running(run):
        (pid,) = await run.pids(1)
    assert not psutil.pid_exists(pid)


async def test_a_program_is_killed_at_once_without_grace(tmp_path: Path) -> None:
    run = Run("trap 'echo 0 >&2' TERM; echo $$ >&2; while :; do sleep 0.1; done", tmp_path)
    async with running(run) as task:
        (pid,) = await run.pids(1)
        task.cancel()
        await eventually(lambda: "0" in run.lines)  # it has got SIGTERM
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


async def test_a_flood_of_lines_leaves_time_for_others(tmp_path: Path) -> None:
    run = Run("yes '' >&2", tmp_path)
    async with running(run):
        for _ in range(1000):
            await asyncio.sleep(0)
    run = Run("yes >&2", tmp_path)
    async with running(run):
        await eventually(lambda: len(run.lines) > 5 * LINE_MAX)


async def test_a_missing_program_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(OSError, match="util-linux"):
        await Run("exit", tmp_path).run()


async def test_lines_are_bounded() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"a\xff\n\n"
        for _ in range(4):
            yield b"b" * LINE_MAX
        yield b"\nend"

    first, long, last = [line async for line in lines(chunks())]
    assert (first, last) == ("a\ufffd", "end")
    assert set(long) == {"b"}
    assert len(long) <= LINE_MAX
