"""Time limits of the synchronous client."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hawse.client import CommandResult, CommandTimeoutError, DeadlineExceededError
from hawse.sync.background import BackgroundLoop
from hawse.sync.deadline import limited, timeout

FOREVER = 1000.0  # s


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    loop = BackgroundLoop()
    yield loop
    loop.stop()


async def wait(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


async def answer() -> int:
    return 42


def test_what_waits_is_cancelled_and_nothing_begins_afterwards(loop: BackgroundLoop) -> None:
    ended: list[str] = []
    with timeout(0.01):
        for admitted in ("unknown", "no"):
            with pytest.raises(DeadlineExceededError, match="has passed") as caught:
                loop.run(limited(wait, ended))
            assert caught.value.admitted == admitted
    assert ended == ["cancelled"]
    assert loop.run(limited(answer)) == 42


def test_the_earliest_limit_of_nested_blocks_counts(loop: BackgroundLoop) -> None:
    with timeout(0.01), timeout(FOREVER), pytest.raises(TimeoutError):
        loop.run(limited(wait, []))
    with timeout(FOREVER), timeout(0.01), pytest.raises(TimeoutError):
        loop.run(limited(wait, []))
    with timeout(FOREVER):
        assert loop.run(limited(answer)) == 42


def test_other_threads_are_not_limited(loop: BackgroundLoop) -> None:
    found: list[int] = []
    with timeout(0):
        other = threading.Thread(target=lambda: found.append(loop.run(limited(answer))))
        other.start()
        other.join()
    assert found == [42]


def test_a_time_limit_of_the_call_itself_is_its_own_error(loop: BackgroundLoop) -> None:
    async def fail() -> None:
        raise CommandTimeoutError(CommandResult(124, timed_out=True))

    with timeout(FOREVER), pytest.raises(CommandTimeoutError):
        loop.run(limited(fail))
