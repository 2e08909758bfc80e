import asyncio

import pytest

from hawse_gateway.core.turns import concurrently, turns
from tests.support.waiting import TIMEOUT


async def test_other_tasks_run_after_each_turn() -> None:
    seen: list[object] = []

    async def other() -> None:
        seen.append("other")

    async with asyncio.TaskGroup() as tasks:
        async for turn in turns(range(5), 2):
            seen.append(turn)
            tasks.create_task(other())
    assert seen == [[0, 1], "other", [2, 3], "other", [4], "other"]


async def test_changes_during_the_turns_have_no_effect() -> None:
    items = [1, 2, 3]
    async for turn in turns(items, 2):
        items.append(turn[0])
        if len(items) > 5:
            break
    assert items == [1, 2, 3, 1, 3]


async def test_a_limited_number_of_items_is_worked_on_at_the_same_time() -> None:
    barrier, running, highest, done = asyncio.Barrier(3), 0, 0, []

    async def work(item: int) -> None:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await barrier.wait()
        running -= 1
        done.append(item)

    async with asyncio.timeout(TIMEOUT):
        await concurrently(range(9), work, 3)
    assert (highest, sorted(done)) == (3, list(range(9)))


async def test_an_item_that_fails_does_not_keep_the_others_from_being_worked_on() -> None:
    done = []

    async def work(item: int) -> None:
        if item in (1, 2):
            raise ValueError(item)
        done.append(item)

    with pytest.raises(ValueError, match="1"):
        await concurrently(range(5), work, 1)
    assert done == [0, 3, 4]
