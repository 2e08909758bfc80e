"""A child's end is learned once, as it was, and nothing of it is left."""

import asyncio
import os
import signal
from collections.abc import Sequence

import pytest

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.posix.child import Child, adopt, signal_name
from tests.support.runtime import alive, children, no_fd_leaked
from tests.support.waiting import TIMEOUT


def start(*argv: str) -> int:
    return os.posix_spawn(argv[0], argv, os.environ)


async def ended(argv: Sequence[str], then: int | None = None) -> Exit:
    ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
    child = Child(start("/bin/sh", "-c", *argv), ended.set_result)
    if then is not None:
        os.kill(child.pid, then)
    async with asyncio.timeout(TIMEOUT):
        result = await ended
    assert child.exit == result
    assert child.pid not in children()
    return result


@pytest.mark.parametrize("code", [0, 1, 127, 255])
async def test_an_exit_code_is_reported(code: int) -> None:
    with no_fd_leaked():
        assert await ended([f"exit {code}"]) == Exit(code=code)


async def test_a_signal_is_reported_by_name() -> None:
    assert await ended(["exec sleep 60"], signal.SIGKILL) == Exit(signal="SIGKILL")


def test_a_real_time_signal_has_a_number() -> None:
    assert signal_name(signal.SIGTERM) == "SIGTERM"
    assert signal_name(40) == "SIG40"


async def test_a_signal_to_a_group_without_members_is_no_error() -> None:
    ended = asyncio.Event()
    child = Child(start("/bin/true"), lambda _: ended.set())
    await ended.wait()
    child.signal_group(signal.SIGTERM)


async def test_a_child_that_cannot_be_watched_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_descriptor(pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", no_descriptor)
    with no_fd_leaked():
        reader, writer = os.pipe()
        pid = start("/bin/sleep", "60")
        with pytest.raises(HawseError, match="limit_exceeded"):
            adopt(pid, lambda _: None, reader, writer)
    assert not alive(pid)
    assert pid not in children()
