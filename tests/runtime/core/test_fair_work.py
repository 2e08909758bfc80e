import asyncio
from collections.abc import Callable, Generator

import pytest

from hawse.wire import HawseError
from runtime.core import fair_work
from runtime.core.fair_work import FairWork


@pytest.fixture(autouse=True)
def one_step_in_each_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_work, "SLICE", 0.0)


def steps(count: int, note: Callable[[], object]) -> Generator[None, None, int]:
    for _ in range(count):
        note()
        yield
    return count


async def test_work_returns_its_value_and_raises_its_exception() -> None:
    def broken() -> Generator[None, None, None]:
        yield
        raise ValueError("broken")

    work = FairWork()
    assert await work.run("a", steps(3, lambda: None)) == 3
    with pytest.raises(ValueError, match="broken"):
        await work.run("a", broken())


async def test_callers_take_turns() -> None:
    work, order = FairWork(), ""

    def note(name: str) -> None:
        nonlocal order
        order += name

    async with asyncio.TaskGroup() as tasks:
        for name in ("a", "a", "a", "b"):
            tasks.create_task(work.run(name, steps(3, lambda name=name: note(name))))  # type: ignore[misc]
    assert order == "abababaaaaaa"


async def test_other_work_of_the_event_loop_runs_between_steps() -> None:
    work, order = FairWork(), []
    task = asyncio.ensure_future(work.run("a", steps(10, lambda: order.append("step"))))
    while not task.done():
        order.append("other")
        await asyncio.sleep(0)
    assert order.count("step") == 10
    assert order.count("other") >= 10


async def test_cancelled_work_is_closed_and_does_no_further_step() -> None:
    closed: list[bool] = []

    def endless() -> Generator[None, None, None]:
        try:
            while True:
                begun.set()
                yield
        finally:
            closed.append(True)

    begun = asyncio.Event()
    work = FairWork()
    task = asyncio.ensure_future(work.run("a", endless()))
    async with asyncio.timeout(5):
        await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [True]
    assert await work.run("a", steps(2, lambda: None)) == 2


async def test_the_work_of_one_caller_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_work, "RUNS_EACH", 2)
    work = FairWork()
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(work.run("a", steps(5, lambda: None))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(HawseError, match="2 calls of 'a' wait"):
            await work.run("a", steps(1, lambda: None))
        assert await work.run("b", steps(1, lambda: None)) == 1
    assert [task.result() for task in running] == [5, 5]
    assert await work.run("a", steps(1, lambda: None)) == 1


async def test_an_exception_of_a_step_does_not_stop_other_steps() -> None:
    loop, work, failures = asyncio.get_running_loop(), FairWork(), []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    done = asyncio.Event()
    error = ValueError("broken")

    def broken() -> None:
        raise error

    work.submit("a", broken)
    work.submit("b", done.set)
    async with asyncio.timeout(5):
        await done.wait()
    assert failures == [error]
