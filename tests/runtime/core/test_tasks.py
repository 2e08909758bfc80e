"""A task that fails is logged and takes nothing else with it."""

import asyncio

import pytest

from hawse_runtime.core.tasks import Tasks


async def test_a_failing_task_leaves_the_others_running(caplog: pytest.LogCaptureFixture) -> None:
    done = asyncio.Event()

    async def fails() -> None:
        raise ValueError("a bug")

    async def works() -> None:
        await asyncio.sleep(0)
        done.set()

    async with asyncio.TaskGroup() as group:
        tasks = Tasks(group)
        tasks.start(fails())
        tasks.start(works())
    assert done.is_set()
    assert "a bug" in caplog.text


async def test_the_group_waits_for_its_tasks() -> None:
    go, done = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        await go.wait()
        done.set()

    async with asyncio.TaskGroup() as group:
        Tasks(group).start(waits())
        go.set()
    assert done.is_set()
