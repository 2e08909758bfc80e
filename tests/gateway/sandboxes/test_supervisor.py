"""What is found by comparing the rows with what the provider sees, and what is due."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from hawse.api.runtime import RuntimeActivityResult
from hawse.api.sandboxes import SandboxCreate, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.base import Endpoint, TcpAddress
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import read
from hawse_gateway.sandboxes.supervisor import QUERIED
from hawse_gateway.store.base import Delete, Lease
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import Begin, ModelProvider, ModelUnit
from tests.support.sandboxes import create
from tests.support.stores import CountingStore
from tests.support.waiting import TIMEOUT


async def state(sandboxes: Sandboxes, id: str) -> str | None:
    return {info.id: info.state for info in await sandboxes.list()}.get(id)


async def previews(sandboxes: Sandboxes, id: str) -> list[str] | None:
    """Return the digests that are stored of a sandbox."""
    rows = await read(sandboxes.store, id)
    assert rows.sandbox is not None
    return rows.sandbox.value.previews


async def test_units_of_a_version_without_a_store_get_rows_once_and_go_on_running(
    begin: Begin, provider: ModelProvider
) -> None:
    for unit in ("local", "mine"):
        provider.units[unit] = ModelUnit()
    provider.units["local"].running.append("0123456789abcdef")
    async with begin() as first:
        states = {info.id: info.state for info in await first.list()}
        assert states == {"local": "running", "mine": "sleeping"}
        await first.ensure("local")
    assert provider.running == {"local": ["0123456789abcdef"]}
    provider.units["later"] = ModelUnit()
    async with begin() as second:
        assert await state(second, "later") is None


async def test_a_store_that_was_emptied_gets_the_rows_of_what_exists_again(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    running = provider.running
    for table in ("meta", "sandboxes", "runs"):
        for key, row in (await sandboxes.store.rows(table)).items():
            await sandboxes.store.write(Delete(table, key, row.version))
    await create(sandboxes, SandboxCreate(id="b"))
    provider.errors["discover"] = HawseError("unavailable", "the daemon does not answer")
    clock.advance(60)
    await sandboxes.sweep()
    assert provider.running == running | {"b": provider.running["b"]}, "nothing is ended before all is known"
    del provider.errors["discover"]
    await sandboxes.sweep()
    clock.advance(60)
    await sandboxes.sweep()
    assert {info.id: info.state for info in await sandboxes.list()} == {
        "a": "running",
        "b": "running",
        "local": "sleeping",
    }
    assert provider.running["a"] == running["a"]


async def test_a_runtime_whose_token_was_lost_with_the_store_is_ended_and_its_sandbox_sleeps(
    begin: Begin, provider: ModelProvider
) -> None:
    provider.units["mine"] = ModelUnit()
    provider.units["mine"].running.append("0123456789abcdef")
    provider.units["mine"].endpoint = Endpoint(TcpAddress("10.0.0.1", 7070))
    async with begin() as sandboxes:
        await sandboxes.sweep()
        assert await state(sandboxes, "mine") == "sleeping"
        assert provider.running == {}
        await sandboxes.ensure("mine")
    assert provider.violations == []


async def test_a_member_of_a_pool_without_files_is_deleted_after_the_store_was_lost(
    begin: Begin, provider: ModelProvider
) -> None:
    for unit, keeps in (("p-0123456789abcdef", False), ("p-fedcba9876543210", True), ("mine", False)):
        provider.units[unit] = ModelUnit()
        provider.units[unit].running.append("0123456789abcdef")
        provider.units[unit].endpoint = Endpoint(TcpAddress("10.0.0.1", 7070))
        provider.units[unit].keeps = keeps
    async with begin() as sandboxes:
        await sandboxes.sweep()
        assert {info.id: info.state for info in await sandboxes.list()} == {
            "local": "sleeping",
            "mine": "sleeping",
            "p-fedcba9876543210": "sleeping",
        }
        assert provider.running == {}
        assert "p-0123456789abcdef" not in provider.units


async def test_a_runtime_that_has_ended_is_noticed_and_its_sandbox_sleeps(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    provider.units["a"].running.clear()
    await sandboxes.sweep()
    (info,) = [info for info in await sandboxes.list() if info.id == "a"]
    assert (info.state, info.reason) == ("sleeping", "the runtime has ended")


async def test_nothing_is_concluded_from_a_list_that_is_not_complete(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    provider.errors["discover"] = HawseError("unavailable", "the daemon does not answer")
    provider.units["a"].running.clear()
    await sandboxes.sweep()
    assert await state(sandboxes, "a") == "running"


async def test_what_runs_without_a_row_is_ended_after_a_grace_period_and_its_files_stay(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    provider.units["orphan"] = ModelUnit()
    provider.units["orphan"].running.append("r")
    await sandboxes.sweep()
    clock.advance(29)
    await sandboxes.sweep()
    assert provider.running == {"orphan": ["r"]}
    clock.advance(2)
    await sandboxes.sweep()
    assert provider.running == {}
    assert "orphan" in provider.units
    assert provider.count("delete") == 0


async def test_an_orphan_that_does_not_end_blocks_its_id_until_it_has(
    begin: Begin, provider: ModelProvider, clock: ManualClock
) -> None:
    async with begin() as first:
        provider.units["orphan"] = ModelUnit()
        provider.units["orphan"].running.append("r")
        provider.errors["stop"] = HawseError("unavailable", "it does not end")
        await first.sweep()
        clock.advance(31)
        await first.sweep()
        with pytest.raises(HawseError, match="cleanup_pending"):
            await create(first, SandboxCreate(id="orphan"))
    del provider.errors["stop"]
    async with begin() as second:
        clock.advance(61)
        await second.sweep()
        assert provider.running == {}
        await create(second, SandboxCreate(id="orphan"))
    assert provider.violations == []


async def test_a_run_without_its_sandbox_is_ended_and_its_id_refused_meanwhile(
    begin: Begin, provider: ModelProvider, clock: ManualClock
) -> None:
    async with begin() as first:
        await create(first, SandboxCreate(id="a"))
        row = await first.store.get("sandboxes", "a")
        assert row is not None
        await first.store.write(Delete("sandboxes", "a", row.version))
        provider.errors["stop"] = HawseError("unavailable", "it does not end")
        with pytest.raises(HawseError, match="cleanup_pending"):
            await create(first, SandboxCreate(id="a"))
    assert len(provider.running["a"]) == 1
    del provider.errors["stop"]
    clock.advance(60)
    async with begin() as second:
        await second.sweep()
        assert provider.running == {}
        await create(second, SandboxCreate(id="a"))
    assert provider.violations == []


async def test_a_sandbox_is_deleted_at_the_end_of_its_life_which_an_update_moves(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a", timeout=100.0))
    clock.advance(90)
    await sandboxes.update(SandboxUpdate(id="a", timeout=100.0))
    clock.advance(90)
    await sandboxes.sweep()
    assert await state(sandboxes, "a") == "running"
    clock.advance(11)
    await sandboxes.sweep()
    assert await state(sandboxes, "a") is None
    assert provider.units == {}


async def test_a_wall_clock_that_jumps_deletes_nothing(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a", timeout=100.0))
    clock.wall += 10 * 365 * 86_400
    await sandboxes.sweep()
    clock.wall = 0
    await sandboxes.sweep()
    assert await state(sandboxes, "a") == "running"


class Runtimes:
    """Answers for the runtimes: `idle` seconds by sandbox; None: no answer."""

    def __init__(self) -> None:
        self.idle: dict[str, float | None] = {}
        self.asked: list[tuple[str, float | None]] = []
        self.configured: list[str] = []

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = 0.0
    ) -> RuntimeActivityResult | None:
        self.asked.append((sandbox, sleep_after))
        idle = self.idle.get(sandbox, 0.0)
        if idle is None:
            return None
        asleep = sleep_after is not None and idle >= sleep_after
        return RuntimeActivityResult(idle=idle, busy=[], asleep=asleep, previews=["digest"])

    async def configure(self, sandbox: str) -> None:
        self.configured.append(sandbox)


async def test_an_idle_sandbox_sleeps_and_a_busy_one_is_asked_again_when_it_can_be_idle(
    begin: Begin, provider: ModelProvider, clock: ManualClock
) -> None:
    runtimes = Runtimes()
    async with begin(runtimes) as sandboxes:
        await create(sandboxes, SandboxCreate(id="a", idle_timeout=100.0))
        await create(sandboxes, SandboxCreate(id="kept", keep_alive=True))
        clock.advance(99)
        await sandboxes.sweep()
        assert runtimes.asked == [], "it cannot have been idle for long enough"
        clock.advance(2)
        runtimes.idle["a"] = 40.0
        await sandboxes.sweep()
        clock.advance(59)
        await sandboxes.sweep()
        assert runtimes.asked == [("a", 100.0)]
        clock.advance(2)
        runtimes.idle["a"] = None
        await sandboxes.sweep()
        assert await state(sandboxes, "a") == "running", "a runtime that does not answer is not known to be idle"
        runtimes.idle["a"] = 101.0
        await sandboxes.sweep()
        assert len(runtimes.asked) == 2, "it is not asked in each sweep"
        clock.advance(31)
        await sandboxes.sweep()
        assert await state(sandboxes, "a") == "sleeping"
        assert await previews(sandboxes, "a") == ["digest"]
        assert await state(sandboxes, "kept") == "running"
        await sandboxes.ensure("a")
        assert await state(sandboxes, "a") == "running"
        assert await previews(sandboxes, "a") is None


async def test_many_idle_runtimes_are_asked_at_the_same_time(begin: Begin, clock: ManualClock) -> None:
    class Slow(Runtimes):
        def __init__(self) -> None:
            super().__init__()
            self.all_asked = asyncio.Barrier(QUERIED)
            self.at_once = self.highest = 0

        async def activity(
            self, sandbox: str, sleep_after: float | None = None, *, timeout: float = 0.0
        ) -> RuntimeActivityResult | None:
            self.at_once += 1
            self.highest = max(self.highest, self.at_once)
            await self.all_asked.wait()
            self.at_once -= 1
            return await super().activity(sandbox, sleep_after, timeout=timeout)

    runtimes = Slow()
    names = [f"s{number}" for number in range(2 * QUERIED)]
    async with begin(runtimes) as sandboxes:
        for name in names:
            await create(sandboxes, SandboxCreate(id=name, idle_timeout=100.0))
            runtimes.idle[name] = 101.0
        clock.advance(101)
        async with asyncio.timeout(TIMEOUT):
            await sandboxes.sweep()
        assert {await state(sandboxes, name) for name in names} == {"sleeping"}
    assert runtimes.highest == QUERIED


@pytest.mark.parametrize("answers", [True, False])
async def test_the_previews_of_a_stopped_or_paused_sandbox_are_known_if_its_runtime_answered(
    begin: Begin, answers: bool
) -> None:
    runtimes = Runtimes()
    async with begin(runtimes) as sandboxes:
        known = ["digest"] if answers else None
        for end in (sandboxes.stop, sandboxes.pause):
            await create(sandboxes, SandboxCreate(id=end.__name__))
            runtimes.idle[end.__name__] = 0.0 if answers else None
            await end(end.__name__)
            assert await previews(sandboxes, end.__name__) == known
        await sandboxes.stop("pause")  # its runtime cannot be asked
        assert await previews(sandboxes, "pause") == known
        await sandboxes.start("pause")
        assert await previews(sandboxes, "pause") is None


async def test_an_idle_sandbox_sleeps_although_the_clock_of_the_gateway_that_started_it_was_ahead(
    tmp_path: Path, provider: ModelProvider
) -> None:
    ahead, right = ManualClock("one machine"), ManualClock("another machine")
    ahead.advance(3600.0)
    first = Sandboxes(SqliteStore(tmp_path / "store.db"), {"model": provider}, clock=ahead.clock, sweep=3600)
    async with first.running():
        await create(first, SandboxCreate(id="a", idle_timeout=100.0))
    second = Sandboxes(SqliteStore(tmp_path / "store.db"), {"model": provider}, clock=right.clock, sweep=3600)
    runtimes = Runtimes()
    async with second.running(runtimes):
        runtimes.idle["a"] = 101.0
        right.advance(101.0)
        await second.sweep()
        assert await state(second, "a") == "sleeping"


async def test_an_update_of_the_environment_is_sent_to_the_runtime(begin: Begin) -> None:
    runtimes = Runtimes()
    async with begin(runtimes) as sandboxes:
        await create(sandboxes, SandboxCreate(id="a"))
        await sandboxes.update(SandboxUpdate(id="a", labels={"x": "1"}))
        await sandboxes.update(SandboxUpdate(id="a", env={"A": "1"}))
        assert runtimes.configured == ["a"]
        configuration = await sandboxes.configuration("a")
        assert configuration is not None
        assert configuration.env == {"A": "1"}
        assert await sandboxes.configuration("unknown") is None


async def test_a_paused_sandbox_whose_runtime_has_ended_is_stopped(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    await sandboxes.pause("a")
    provider.units["a"].running.clear()
    await sandboxes.sweep()
    assert await state(sandboxes, "a") == "stopped"
    await sandboxes.start("a")
    assert len(provider.running["a"]) == 1


async def test_a_stop_that_failed_is_tried_again_when_it_is_due(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    provider.errors["stop"] = HawseError("unavailable", "pid 7 does not end")
    with pytest.raises(HawseError, match="pid 7 does not end") as caught:
        await sandboxes.delete("a")
    assert caught.value.details == {"retry_after": 1.0}
    for delay in (1, 2, 4, 8, 16, 32, 60, 60):
        count = provider.count("stop")
        clock.advance(delay - 0.5)
        await sandboxes.sweep()
        assert provider.count("stop") == count, "not before it is due"
        clock.advance(0.5)
        await sandboxes.sweep()
        assert provider.count("stop") == count + 1
    with pytest.raises(HawseError, match="cleanup_pending"):
        await create(sandboxes, SandboxCreate(id="a"))
    del provider.errors["stop"]
    clock.advance(60)
    await sandboxes.sweep()
    assert await state(sandboxes, "a") is None
    await create(sandboxes, SandboxCreate(id="a"))


async def test_files_that_cannot_be_removed_keep_the_id_until_they_are(
    sandboxes: Sandboxes, provider: ModelProvider, clock: ManualClock
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    provider.errors["delete"] = HawseError("unavailable", "busy")
    with pytest.raises(HawseError, match="cleanup_pending"):
        await sandboxes.delete("a")
    assert await state(sandboxes, "a") == "deleting"
    del provider.errors["delete"]
    clock.advance(1)
    await sandboxes.sweep()
    assert await state(sandboxes, "a") is None


async def test_a_provider_that_hangs_does_not_block_other_sandboxes(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    provider.holds["stop"] = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        stopping = tasks.create_task(sandboxes.stop("a"))
        await provider.begun("stop")
        await create(sandboxes, SandboxCreate(id="b"))
        assert await state(sandboxes, "b") == "running"
        provider.holds["stop"].set()
        await stopping


async def test_a_sweep_reads_only_the_rows_of_sandboxes_that_need_attention(
    tmp_path: Path, provider: ModelProvider, clock: ManualClock
) -> None:
    store = CountingStore(tmp_path / "store.db")
    runtimes = Runtimes()
    sandboxes = Sandboxes(store, {"model": provider}, clock=clock.clock, sweep=3600)
    async with sandboxes.running(runtimes):
        for number in range(20):
            await create(sandboxes, SandboxCreate(id=f"s{number}", timeout=1000.0, idle_timeout=500.0))
        await create(sandboxes, SandboxCreate(id="short", timeout=10.0))
        await create(sandboxes, SandboxCreate(id="gone", keep_alive=True))
        await sandboxes.sweep()
        await sandboxes.index.current(runs=True)
        read, scans = store.read, store.scans
        await sandboxes.sweep()
        assert (store.read - read, store.scans) == (1, scans), "whether the store was emptied"
        clock.advance(11.0)
        provider.units["gone"].running.clear()
        await sandboxes.sweep()
        assert [await state(sandboxes, id) for id in ("short", "gone", "s1")] == [None, "sleeping", "running"]
        assert runtimes.asked == []
        assert store.scans == scans


async def test_the_run_of_a_unit_that_was_just_claimed_is_kept(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    row = await read(sandboxes.store, "a")
    assert row.sandbox is not None
    assert row.run is not None
    claimed = msgspec.structs.replace(row.sandbox.value, id="b")
    run = msgspec.structs.replace(row.run.value, sandbox="b")
    await sandboxes.store.write(row.sandbox.delete(), records.new(claimed), row.run.put(run))
    await sandboxes.sweep()
    assert await state(sandboxes, "b") == "running"
    assert len(provider.running["a"]) == 1


class Supervised(SqliteStore):
    """Sets `acquired` once a gateway supervises, and keeps the names of released leases."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.acquired = asyncio.Event()
        self.released: list[str] = []

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        lease = await super().acquire(name, holder, seconds)
        if name == "supervisor":
            self.acquired.set()
        return lease

    async def release(self, lease: Lease) -> None:
        await super().release(lease)
        self.released.append(lease.name)


async def test_another_gateway_can_supervise_as_soon_as_one_has_ended(tmp_path: Path, provider: ModelProvider) -> None:
    store = Supervised(tmp_path / "store.db")
    async with Sandboxes(store, {"model": provider}, sweep=3600).running():
        async with asyncio.timeout(TIMEOUT):
            await store.acquired.wait()
    assert "supervisor" in store.released
