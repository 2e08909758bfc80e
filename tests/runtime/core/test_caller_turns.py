"""Callers take turns, one call at a time."""

import asyncio

import pytest

from hawse.wire import HawseError
from hawse_runtime.core import caller_turns
from hawse_runtime.core.caller_turns import CallerTurns
from tests.support.waiting import TIMEOUT


async def test_callers_take_turns() -> None:
    turns, order = CallerTurns(), ""

    async def work(caller: str) -> None:
        nonlocal order
        async with turns.turn(caller):
            order += caller
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        for caller in "aaaab":
            tasks.create_task(work(caller))
    assert order == "aabaa"
    async with turns.turn("c"):
        pass


async def test_a_cancelled_call_passes_its_turn_on() -> None:
    turns = CallerTurns()
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        async with turns.turn("a"):
            waiting = [tasks.create_task(_take(turns, caller)) for caller in "bcd"]
            await asyncio.sleep(0)
            waiting[0].cancel()
        waiting[1].cancel()  # it has its turn, and does not know it yet
    assert [task.cancelled() for task in waiting] == [True, True, False]


async def test_the_calls_of_one_caller_that_wait_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller_turns, "WAITING_EACH", 2)
    turns = CallerTurns()
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks, turns.turn("a"):
        for _ in range(2):
            tasks.create_task(_take(turns, "a"))
        await asyncio.sleep(0)
        with pytest.raises(HawseError, match="2 calls of 'a' wait"):
            await _take(turns, "a")
        tasks.create_task(_take(turns, "b"))


async def _take(turns: CallerTurns, caller: str) -> None:
    async with turns.turn(caller):
        pass
