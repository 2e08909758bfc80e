"""The threads for the disk: bounded, and long work takes turns."""

import asyncio
import errno
import gc
import threading
from collections.abc import Generator, Iterator

import pytest

from hawse_runtime.core.thread_pool import ThreadPool


@pytest.fixture
def disk() -> Iterator[ThreadPool]:
    disk = ThreadPool("disk", 4)
    yield disk
    disk.close()


async def test_work_runs_in_a_thread_and_its_errors_come_back(disk: ThreadPool) -> None:
    assert await disk.run(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await disk.run(lambda: 1 // 0)


async def test_a_thread_that_cannot_be_started_is_an_error_of_the_system(disk: ThreadPool) -> None:
    before = threading.stack_size(1 << 47)  # bytes: more than the address space of a process
    try:
        with pytest.raises(OSError) as caught:
            await disk.run(threading.get_ident)
    finally:
        threading.stack_size(before)
    assert caught.value.errno == errno.EAGAIN
    assert await disk.run(threading.get_ident) != threading.get_ident()


async def test_more_work_than_threads_gets_its_turns(disk: ThreadPool) -> None:
    """Twice as many tasks as threads; each ends only when all have started."""
    begun: set[int] = set()

    def long(number: int) -> Generator[None, None, int]:
        while len(begun) < 2 * disk.threads:
            begun.add(number)
            yield
        return number

    async with asyncio.timeout(20):
        ends = await asyncio.gather(*(disk.finish(long(number)) for number in range(2 * disk.threads)))
    assert ends == list(range(2 * disk.threads))


async def test_a_step_reports_whether_it_was_the_last(disk: ThreadPool) -> None:
    def work() -> Generator[str, None, str]:
        yield "one"
        return "two"

    steps = work()
    assert await disk.step(steps) == (False, "one")
    assert await disk.step(steps) == (True, "two")


async def test_its_threads_end() -> None:
    disk = ThreadPool("disk", 4)
    await disk.run(lambda: None)
    names = [thread for thread in threading.enumerate() if thread.name.startswith("disk")]
    assert names
    disk.close()
    for thread in names:
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()


async def test_work_that_is_cancelled_is_closed_after_the_step_that_runs(disk: ThreadPool) -> None:
    in_step, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def long() -> Generator[None, None, None]:
        try:
            yield
            in_step.set()
            assert go_on.wait(20)
            yield
        finally:
            closed.set()

    task = asyncio.ensure_future(disk.finish(long()))
    await disk.run(in_step.wait, 20)
    task.cancel()
    await asyncio.sleep(0)
    assert not closed.is_set()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_the_error_of_a_step_whose_caller_was_cancelled_is_not_reported_as_lost(disk: ThreadPool) -> None:
    reports: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["message"]))
    in_step, go_on = threading.Event(), threading.Event()

    def failing() -> Generator[None, None, None]:
        in_step.set()
        assert go_on.wait(20)
        raise OSError(errno.ENOENT, "the directory was removed")
        yield

    task = asyncio.ensure_future(disk.finish(failing()))
    await disk.run(in_step.wait, 20)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    await asyncio.sleep(0)  # until the loop has forgotten it
    gc.collect()
    assert reports == []


async def test_the_error_of_work_that_no_caller_waits_for_any_more_is_not_reported_as_lost(disk: ThreadPool) -> None:
    reports: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["message"]))
    go_on = threading.Event()

    def failing() -> None:
        assert go_on.wait(20)
        raise OSError(errno.EMFILE, "no descriptor is left")

    running = disk.submit(failing)
    waiting = asyncio.ensure_future(asyncio.wait_for(asyncio.shield(running), 20))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    await asyncio.wait([running])
    del running, waiting
    gc.collect()
    assert reports == []


async def test_work_that_is_cancelled_twice_is_closed_all_the_same(disk: ThreadPool) -> None:
    in_step, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def long() -> Generator[None, None, None]:
        try:
            in_step.set()
            assert go_on.wait(20)
            yield
        finally:
            closed.set()

    task = asyncio.ensure_future(disk.finish(long()))
    await disk.run(in_step.wait, 20)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()
