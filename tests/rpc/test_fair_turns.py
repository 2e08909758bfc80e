"""Users take turns: one user's requests do not keep another one waiting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hawse.rpc.fair_turns import FairTurns
from hawse.wire import HawseError
from tests.support.gateway import eventually


class Work:
    """Pieces of work that end when they are told."""

    def __init__(self, places: int) -> None:
        self.turns = FairTurns(places)
        self.began: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def ask(self, *names: str) -> None:
        """Start work. The first letter of its name is its user."""
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.ensure_future(self._do(name))

    async def _do(self, name: str) -> None:
        async with self.turns.turn(name[0]):
            self.began.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]

    async def until(self, *names: str) -> None:
        await eventually(lambda: self.began == list(names))


@asynccontextmanager
async def working(places: int) -> AsyncIterator[Work]:
    work = Work(places)
    yield work
    for task in work.tasks.values():
        task.cancel()
    await asyncio.gather(*work.tasks.values(), return_exceptions=True)


async def test_a_user_does_not_get_the_last_place_however_much_it_asks_for() -> None:
    async with working(3) as work:
        work.ask("a1", "a2", "a3", "a4")
        await work.until("a1", "a2")
        work.ask("b1")
        await work.until("a1", "a2", "b1")


async def test_users_that_wait_take_turns() -> None:
    async with working(1) as work:
        work.ask("a1", "a2", "a3", "b1", "b2", "c1")
        order = ["a1", "a2", "b1", "c1", "a3", "b2"]
        for number, name in enumerate(order):
            await work.until(*order[: number + 1])
            await work.end(name)


async def test_cancelled_work_releases_its_slot_even_while_waiting() -> None:
    async with working(1) as work:
        work.ask("a1", "b1", "c1")
        await work.until("a1")
        for name in ("b1", "a1"):
            work.tasks[name].cancel()
            with pytest.raises(asyncio.CancelledError):
                await work.tasks[name]
        await work.until("a1", "c1")


async def test_work_cancelled_in_its_turn_passes_the_turn_on() -> None:
    async with working(1) as work:
        work.ask("a1", "b1", "c1")
        await work.until("a1")
        work.ends["a1"].set()
        await work.tasks["a1"]
        work.tasks["b1"].cancel()
        await eventually(lambda: work.began[-1] == "c1")


async def test_waiting_work_reports_progress_at_once() -> None:
    turns, signs = FairTurns(1), []
    async with turns.turn("a"):
        waiting = asyncio.ensure_future(turns.turn("b", lambda: signs.append(1)).__aenter__())
        await eventually(lambda: signs)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_the_waiting_work_of_one_user_is_limited() -> None:
    turns = FairTurns(1, waiting_each=2)

    async def work(user: str) -> None:
        async with turns.turn(user):
            pass

    async with asyncio.TaskGroup() as tasks, turns.turn("a"):
        for _ in range(2):
            tasks.create_task(work("a"))
        await asyncio.sleep(0)
        with pytest.raises(HawseError, match="2 calls of 'a' are waiting"):
            await work("a")
        tasks.create_task(work("b"))
