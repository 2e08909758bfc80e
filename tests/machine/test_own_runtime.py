import os
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from hawse.machine.own_runtime import OwnRuntime
from hawse.wire import HawseError
from tests.support.waiting import gone


async def test_each_start_has_an_id_and_a_stop_ends_the_process(tmp_path: Path) -> None:
    runtime = OwnRuntime(tmp_path / "state", tmp_path)
    ids = []
    for _ in range(2):
        await runtime.start()
        ids.append(runtime.id)
        assert runtime.alive
        _, writer = await runtime.connect()
        writer.close()
        await runtime.stop()
        assert not runtime.alive
        with pytest.raises(OSError):
            await runtime.connect()
    assert ids[0] != ids[1]
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    await runtime.stop()


async def test_two_runtimes_cannot_have_one_directory(tmp_path: Path) -> None:
    first, second = (OwnRuntime(tmp_path / "state", tmp_path) for _ in range(2))
    await first.start()
    try:
        with pytest.raises(HawseError, match="conflict"):
            await second.start()
    finally:
        await second.stop()
        await first.stop()


async def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HawseError, match="unavailable"):
        await OwnRuntime(tmp_path / "file" / "state", tmp_path).start()


def process_of(tmp_path: Path) -> psutil.Process:
    """The runtime that this process has started. Other children may end meanwhile."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if str(tmp_path) in " ".join(child.cmdline()):
                found.append(child)
    (process,) = found
    return process


async def test_the_end_of_a_killed_runtime_is_noticed(tmp_path: Path) -> None:
    runtime = OwnRuntime(tmp_path / "state", tmp_path)
    await runtime.start()
    found = process_of(tmp_path)
    os.kill(found.pid, signal.SIGKILL)
    assert await runtime.ended() == -signal.SIGKILL
    assert not runtime.alive
    await runtime.stop()


async def test_the_variables_of_the_gateway_and_its_token_stay_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    runtime = OwnRuntime(tmp_path / "state", tmp_path)
    await runtime.start()
    found = process_of(tmp_path)
    environment = {}
    with suppress(psutil.AccessDenied):  # only the superuser may read it
        environment = found.environ()
    await runtime.stop()
    assert "secret" not in environment.values()
    await gone(found.pid)
