import asyncio

import pytest

from hawse_runtime.core import fair_work
from hawse_runtime.core.fair_work import FairWork
from tests.support.waiting import TIMEOUT


@pytest.fixture(autouse=True)
def one_step_in_each_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_work, "SLICE", 0.0)


async def test_callers_take_turns() -> None:
    work, order = FairWork(), ""
    done = asyncio.Event()

    def note(name: str) -> None:
        nonlocal order
        order += name

    for name in "aaab":
        work.submit(name, lambda name=name: note(name))  # type: ignore[misc]
    work.submit("a", done.set)
    async with asyncio.timeout(TIMEOUT):
        await done.wait()
    assert order == "abaa"


async def test_other_work_of_the_event_loop_runs_between_steps() -> None:
    work, order = FairWork(), []
    for _ in range(10):
        work.submit("a", lambda: order.append("step"))
    while order.count("step") < 10:
        order.append("other")
        await asyncio.sleep(0)
    assert order.count("other") >= 10


async def test_an_exception_of_a_step_does_not_stop_other_steps() -> None:
    loop, work, failures = asyncio.get_running_loop(), FairWork(), []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    done = asyncio.Event()
    error = ValueError("broken")

    def broken() -> None:
        raise error

    work.submit("a", broken)
    work.submit("b", done.set)
    async with asyncio.timeout(TIMEOUT):
        await done.wait()
    assert failures == [error]
