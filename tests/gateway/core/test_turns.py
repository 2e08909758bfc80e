import asyncio

from hawse_gateway.core.turns import turns


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
