"""A cancellation ends a task, also if the code that it waits in loses the cancellation."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable

import pytest

from hawse_gateway.core.cancellation import cancellation_kept, finished, in_thread, kill_process, start_process
from tests.support.waiting import TIMEOUT


async def ignores() -> None:
    """Return a result instead of the cancellation, as `asyncio.wait_for` of Python 3.11 may do."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return


async def replaces() -> None:
    """Raise an error of the connection that is closed because of the cancellation."""
    try:
        await asyncio.Event().wait()
    finally:
        raise ConnectionResetError("closed")


@pytest.mark.parametrize("wait", [ignores, replaces])
async def test_a_task_that_goes_on_after_errors_ends_when_it_is_cancelled(wait: Callable[[], Awaitable[None]]) -> None:
    async def work() -> None:
        while True:
            try:
                with cancellation_kept():
                    await wait()
            except OSError:
                pass

    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work())
        await asyncio.sleep(0)  # it waits
        task.cancel()
    assert task.cancelled()


async def test_errors_and_results_without_a_cancellation_are_kept() -> None:
    with pytest.raises(ConnectionResetError), cancellation_kept():
        raise ConnectionResetError
    with cancellation_kept():
        await asyncio.sleep(0)


async def test_a_time_limit_inside_and_around_stays_a_time_limit() -> None:
    with pytest.raises(TimeoutError), cancellation_kept():
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            with cancellation_kept():
                await ignores()


async def test_a_task_that_was_cancelled_before_can_still_clean_up() -> None:
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            with cancellation_kept():
                await asyncio.sleep(0)
            cleaned.set()

    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
    assert cleaned.is_set()


async def test_a_cancellation_waits_for_the_thread() -> None:
    """The descriptor that a thread uses must not be closed: another file may get its number."""
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait()
        ended.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_clean_up_ends_also_if_its_task_is_cancelled_again_and_its_error_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cleaning, go = asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        cleaning.set()
        await go.wait()
        raise OSError("not removed")

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await finished(clean_up())

    task = asyncio.create_task(work())
    await asyncio.sleep(0)  # it waits
    task.cancel()
    await cleaning.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "not removed" in caplog.text


async def test_the_error_and_the_result_of_finished_work_are_passed_on() -> None:
    async def work(error: Exception | None) -> int:
        if error is not None:
            raise error
        return 7

    assert await finished(work(None)) == 7
    with pytest.raises(OSError, match="not removed"):
        await finished(work(OSError("not removed")))


@pytest.mark.parametrize("turns", range(4))
async def test_a_process_whose_start_is_cancelled_is_killed(turns: int) -> None:
    ours, theirs = os.pipe()
    ended = asyncio.Event()
    try:
        task = asyncio.create_task(start_process("sh", "-c", "sleep 1000; true", pass_fds=[theirs]))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        os.close(theirs)
        asyncio.get_running_loop().add_reader(ours, ended.set)  # when no process has the other end any more
        async with asyncio.timeout(TIMEOUT):
            await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        os.close(ours)


async def test_a_process_is_killed_with_what_it_has_started() -> None:
    process = await start_process("sh", "-c", "sleep 1000 & echo ready; wait", stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()
    await kill_process(process)
    assert process.returncode is not None
    await kill_process(process)  # it has ended already
    with pytest.raises(FileNotFoundError):
        await start_process("/missing")
