import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse_gateway.providers.runtime_process import RuntimeProcess

IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"


@pytest.fixture
async def child() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec("sleep", "300")
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


def of(child: asyncio.subprocess.Process) -> RuntimeProcess:
    process = RuntimeProcess.of_pid(child.pid)
    assert process is not None
    return process


async def test_a_process_is_found_again_by_its_saved_identity(
    child: asyncio.subprocess.Process, tmp_path: Path
) -> None:
    process = of(child)
    process.save(tmp_path / "process")
    assert RuntimeProcess.load(tmp_path / "process") == process
    assert process.alive


async def test_a_reader_never_sees_a_partially_saved_process(child: asyncio.subprocess.Process, tmp_path: Path) -> None:
    process = of(child)
    process.save(tmp_path / "process")

    def save() -> None:
        for _ in range(1000):
            process.save(tmp_path / "process")

    saving = asyncio.create_task(asyncio.to_thread(save))
    while not saving.done():
        assert RuntimeProcess.load(tmp_path / "process") == process
        await asyncio.sleep(0)
    await saving


@pytest.mark.parametrize("content", ["", "one two", "x 1 boot", "1 2 3 4"])
def test_a_file_with_invalid_content_identifies_no_process(tmp_path: Path, content: str) -> None:
    (tmp_path / "process").write_text(content)
    assert RuntimeProcess.load(tmp_path / "process") is None
    assert RuntimeProcess.load(tmp_path / "missing") is None


async def test_another_process_with_the_same_pid_is_not_ended(child: asyncio.subprocess.Process) -> None:
    process = of(child)
    for other in (process._replace(started="1"), process._replace(boot="another")):
        assert not other.alive
        assert await other.end(grace=1, timeout=1)
    assert process.alive


async def test_a_process_is_ended_with_sigterm(child: asyncio.subprocess.Process) -> None:
    process = of(child)
    assert await process.end(grace=10, timeout=10)
    assert not process.alive
    assert await child.wait() == -signal.SIGTERM
    assert await process.end(grace=10, timeout=10)


async def test_a_process_that_ignores_sigterm_is_killed() -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", IGNORES_SIGTERM, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    await child.stdout.readline()
    assert await of(child).end(grace=0.05, timeout=10)
    assert await child.wait() == -signal.SIGKILL


async def test_a_stopped_process_is_frozen_and_can_be_ended(child: asyncio.subprocess.Process) -> None:
    process = of(child)
    assert not process.frozen
    child.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(os.waitpid, child.pid, os.WUNTRACED)
    assert process.frozen
    assert process.alive
    assert await process.end(grace=10, timeout=10)


def test_a_path_without_a_listener_has_no_process(tmp_path: Path) -> None:
    assert RuntimeProcess.listening_on(tmp_path / "missing") is None
