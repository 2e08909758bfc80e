"""The pool: executors that are ready, used once, and never handed out dirty. With executors that are not processes."""

import asyncio
from typing import Any

import pytest

from hawse.api.types import Exit
from hawse.code_pool import PoolLimits
from hawse.wire import HawseError
from hawse_runtime.code.executor import ExecutorOptions
from hawse_runtime.code.host_protocol import Kernel
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.code.pool import ExecutorPool
from hawse_runtime.core.tasks import Tasks

OPTIONS = ExecutorOptions(language="python", kernel=None, cwd="/", env=())


class FakeExecutor:
    """The attributes of an executor that the pool uses."""

    def __init__(self, options: ExecutorOptions, memory: int) -> None:
        self.options = options
        self.kernel = Kernel(kernel="python3", language="python", pid=1, memory=memory)
        self.exit: Exit | None = None
        self.on_exit: Any = None

    async def end(self) -> None:
        self.crash()

    def crash(self) -> None:
        self.exit = Exit(code=1)
        if self.on_exit is not None:
            self.on_exit(self.exit)


class Maker:
    """Starts executors, and counts them."""

    def __init__(self) -> None:
        self.made: list[FakeExecutor] = []
        self.memory = 1000
        self.error: HawseError | None = None

    async def __call__(self, options: ExecutorOptions) -> Any:
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        self.made.append(FakeExecutor(options, self.memory))
        return self.made[-1]


async def settle() -> None:
    """Let all tasks that can run run."""
    for _ in range(20):
        await asyncio.sleep(0)


def pool_of(group: asyncio.TaskGroup, maker: Maker, **limits: Any) -> ExecutorPool:
    return ExecutorPool(maker, Tasks(group), CodeLimits(pool=PoolLimits(**{"idle": 600.0, **limits})))


async def test_it_is_filled_after_the_first_use_and_refilled_after_each() -> None:
    maker = Maker()
    async with asyncio.TaskGroup() as group:
        pool = pool_of(group, maker, size=2)
        assert pool.ready == {}
        first = await pool.take(OPTIONS, usual=True)
        await settle()
        assert pool.ready == {"python3": 2}
        others = [await pool.take(OPTIONS, usual=True) for _ in range(3)]
        assert len({id(executor) for executor in (first, *others)}) == 4
        await settle()
        assert pool.ready == {"python3": 2}
        await pool.close()
    assert sum(executor.exit is None for executor in maker.made) == 4


async def test_an_executor_that_has_ended_or_was_started_otherwise_is_not_handed_out() -> None:
    maker = Maker()
    async with asyncio.TaskGroup() as group:
        pool = pool_of(group, maker, size=2)
        await pool.take(OPTIONS, usual=True)
        await settle()
        maker.made[1].crash()
        assert pool.ready == {"python3": 1}
        changed = ExecutorOptions(language="python", kernel=None, cwd="/", env=(("A", "1"),))
        assert (await pool.take(changed, usual=True)).options == changed
        await settle()
        assert [executor.options for executor in maker.made if executor.exit is None][1:] == [changed] * 3
        unusual = await pool.take(OPTIONS, usual=False)
        assert id(unusual) == id(maker.made[-1])
        await pool.close()


async def test_it_holds_no_more_memory_than_allowed() -> None:
    maker = Maker()
    maker.memory = 400
    async with asyncio.TaskGroup() as group:
        pool = pool_of(group, maker, size=5, memory=1000)
        await pool.take(OPTIONS, usual=True)
        await settle()
        assert pool.ready == {"python3": 2}
        await pool.close()
    assert [executor.exit is None for executor in maker.made].count(True) == 1


async def test_executors_that_are_not_used_for_long_are_ended() -> None:
    maker = Maker()
    async with asyncio.TaskGroup() as group:
        pool = pool_of(group, maker, size=2, idle=0.01)
        taken = await pool.take(OPTIONS, usual=True)
        await settle()
        while pool.ready:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await settle()
        assert [executor.exit is None for executor in maker.made] == [
            id(executor) == id(taken) for executor in maker.made
        ]
        await pool.close()


async def test_a_failure_of_a_start_is_the_callers_and_stops_nothing_else() -> None:
    maker = Maker()
    maker.error = HawseError("spawn_failed")
    async with asyncio.TaskGroup() as group:
        pool = pool_of(group, maker, size=1)
        with pytest.raises(HawseError, match="spawn_failed"):
            await pool.take(OPTIONS, usual=True)
        maker.error = None
        await pool.take(OPTIONS, usual=True)
        maker.error = HawseError("spawn_failed")
        await settle()
        assert pool.ready == {}
        maker.error = None
        await pool.take(OPTIONS, usual=True)
        await settle()
        assert pool.ready == {"python3": 1}
        await pool.close()
