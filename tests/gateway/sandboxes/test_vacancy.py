"""How long no other runtime has been in a sandbox, by clocks that may differ."""

import asyncio
from pathlib import Path

import pytest

from hawse.api.runtime import RuntimeActivityResult
from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.vacancy import Vacancy
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import Begin, ModelProvider
from tests.support.sandboxes import create
from tests.support.waiting import TIMEOUT


class SharedStore(SqliteStore):
    """One with a clock, as a store for several gateways has."""

    seconds: float | None = 5_000_000.0

    async def time(self) -> float | None:  # type: ignore[override]
        return self.seconds


async def test_a_sandbox_that_never_ran_is_vacant_since_the_machine_was_started(
    sandboxes: Sandboxes, clock: ManualClock
) -> None:
    assert await sandboxes.vacancy.seconds("local") == clock.uptime


async def test_a_new_sandbox_is_vacant_since_its_creation(sandboxes: Sandboxes, clock: ManualClock) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    clock.advance(3.0)
    assert await sandboxes.vacancy.seconds("a") == 3.0


async def test_what_runs_does_not_count_and_what_ran_before_does(sandboxes: Sandboxes, clock: ManualClock) -> None:
    await sandboxes.ensure("local")
    clock.advance(50.0)
    await sandboxes.stop("local")
    clock.advance(7.0)
    await sandboxes.start("local")
    clock.advance(2.0)
    assert await sandboxes.vacancy.seconds("local") == 9.0


async def test_the_wait_for_the_end_of_a_runtime_does_not_count(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await sandboxes.ensure("local")
    hold = provider.holds["stop"] = asyncio.Event()
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        tasks.create_task(sandboxes.stop("local"))
        await provider.begun("stop")
        clock.advance(30.0)
        hold.set()
    clock.advance(1.0)
    assert await sandboxes.vacancy.seconds("local") == 1.0


class Idle:
    """All runtimes go to sleep when they are asked."""

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = 0.0
    ) -> RuntimeActivityResult:
        return RuntimeActivityResult(idle=sleep_after or 0.0, busy=[], asleep=True)

    async def configure(self, sandbox: str) -> None: ...


async def test_the_wait_for_the_end_of_a_runtime_that_goes_to_sleep_counts(
    begin: Begin, provider: ModelProvider, clock: ManualClock
) -> None:
    async with begin(Idle()) as sandboxes:
        await create(sandboxes, SandboxCreate(id="a", idle_timeout=60.0))
        clock.advance(60.0)
        hold = provider.holds["stop"] = asyncio.Event()
        async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
            tasks.create_task(sandboxes.sweep())
            await provider.begun("stop")
            clock.advance(5.0)
            hold.set()
        clock.advance(1.0)
        assert await sandboxes.vacancy.seconds("a") == 6.0, "it has refused calls since then"


async def test_a_runtime_that_never_accepted_links_does_not_count(
    begin: Begin, provider: ModelProvider, clock: ManualClock
) -> None:
    async with begin() as first:
        await create(first, SandboxCreate(id="a"))
        await first.stop("a")
        clock.advance(100.0)
        provider.errors["start"] = HawseError("unavailable")
        with pytest.raises(HawseError, match="unavailable"):
            await first.start("a")
        provider.errors.clear()
        provider.holds["start"] = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(first.start("a"))
            await provider.begun("start")
            await provider.begun("start")
            waiting.cancel()
    provider.holds.clear()
    provider.busy.clear()
    async with begin() as second:  # the first has ended in the middle
        await second.start("a")
        assert await second.vacancy.seconds("a") == 100.0


async def test_a_sandbox_that_was_deleted_and_created_again_is_vacant_since_then(
    sandboxes: Sandboxes, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    clock.advance(100.0)
    await sandboxes.delete("a")
    await create(sandboxes, SandboxCreate(id="a"))
    assert await sandboxes.vacancy.seconds("a") == 0.0


async def test_nothing_is_known_of_a_sandbox_that_an_empty_store_has_found(
    begin: Begin, provider: ModelProvider, tmp_path: Path, clock: ManualClock
) -> None:
    async with begin() as first:
        await first.ensure("local")
    (tmp_path / "store.db").unlink()
    async with begin() as second:
        await second.ensure("local")
        clock.advance(100.0)
        assert await second.vacancy.seconds("local") == 0.0
    assert provider.violations == []


async def test_nothing_is_known_of_a_sandbox_that_does_not_exist(sandboxes: Sandboxes) -> None:
    assert await sandboxes.vacancy.seconds("missing") == 0.0


@pytest.mark.parametrize(("uptime", "wall", "seconds"), [(20.0, 300.0, 20.0), (500.0, 300.0, 300.0), (20.0, -9.0, 0.0)])
async def test_after_a_start_of_the_machine_neither_clock_alone_decides(
    begin: Begin, tmp_path: Path, uptime: float, wall: float, seconds: float
) -> None:
    async with begin() as before:
        await before.ensure("local")
        await before.stop("local")
        ended = (await records.read(before.store, "local")).sandbox
        assert ended is not None
        assert ended.value.vacant_since is not None
    after = ManualClock("another boot")
    after.uptime, after.wall = uptime, ended.value.vacant_since.wall + wall
    store = SqliteStore(tmp_path / "store.db")
    assert await Vacancy(store, after.clock).seconds("local") == seconds
    await store.close()


async def test_gateways_with_one_store_measure_by_its_clock(tmp_path: Path, provider: ModelProvider) -> None:
    ahead = ManualClock("one machine")
    ahead.advance(3600.0)
    store = SharedStore(tmp_path / "store.db")
    first = Sandboxes(store, {"model": provider}, clock=ahead.clock, sweep=3600)
    async with first.running():
        await first.ensure("local")
        await first.stop("local")
        store.seconds = 5_000_004.0
        other = Vacancy(store, ManualClock("another machine").clock)
        assert await other.seconds("local") == 4.0
