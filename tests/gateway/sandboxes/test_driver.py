"""What the driver does when its steps, its writes or its gateway fail."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes import driver, records
from hawse_gateway.sandboxes.admission import Admission, Capacity, Room
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.pool import MEMBER
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.store.base import Change, Lease, Put, StoreError
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import Begin, ModelProvider
from tests.support.sandboxes import create
from tests.support.waiting import TIMEOUT


async def test_a_start_that_was_interrupted_is_ended_by_the_next_gateway(begin: Begin, provider: ModelProvider) -> None:
    provider.holds["start"] = asyncio.Event()
    async with begin() as first, asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(first.ensure("local"))
        await provider.begun("start")
        waiting.cancel()
    assert len(provider.running["local"]) == 1  # its gateway has ended in the middle
    provider.holds.clear()
    provider.busy.clear()
    async with begin() as second:
        await second.ensure("local")
        assert len(provider.running["local"]) == 1
    assert provider.count("stop") == 1
    assert provider.violations == []


async def test_an_end_that_failed_is_tried_again_although_the_clock_of_its_gateway_was_ahead(
    tmp_path: Path, provider: ModelProvider
) -> None:
    ahead, right = ManualClock("one machine"), ManualClock("another machine")
    ahead.advance(3600.0)
    store = SqliteStore(tmp_path / "store.db")
    first = Sandboxes(store, {"model": provider}, clock=ahead.clock, sweep=3600)
    async with first.running():
        await first.ensure("local")
        provider.errors["stop"] = HawseError("unavailable", "the cluster cannot be reached")
        with pytest.raises(HawseError, match="cleanup_pending"):
            await first.stop("local")
    provider.errors.clear()
    second = Sandboxes(SqliteStore(tmp_path / "store.db"), {"model": provider}, clock=right.clock, sweep=3600)
    async with second.running():
        await second.sweep()
        assert provider.running == {}
        assert (await second.get("local")).state == "stopped"


async def test_a_bug_of_a_provider_fails_the_start_and_is_cleaned_up(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    provider.errors["start"] = KeyError("a bug")
    with pytest.raises(HawseError, match="internal"):
        await sandboxes.ensure("local")
    assert provider.running == {}


async def test_a_sandbox_for_which_there_is_no_room_is_not_created(tmp_path: Path, provider: ModelProvider) -> None:
    room = Room(memory=1 << 40, disk=1 << 40)
    admission = Admission(Capacity(sandboxes=3), tmp_path, measure=lambda path: room)
    store = SqliteStore(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider}, admission=admission)
    async with sandboxes.running():
        made = await asyncio.gather(
            *(create(sandboxes, SandboxCreate(id=f"a{i}")) for i in range(8)), return_exceptions=True
        )
        refused = [error for error in made if isinstance(error, HawseError)]
        assert {error.code for error in refused} == {"capacity_exceeded"}
        assert refused[0].details == {"retry_after": 10.0}
        assert len(refused) == 5
        assert len(provider.running) == 3
        infos = {info.id: info.state for info in await sandboxes.list()}
        assert sorted(infos.values()) == ["running"] * 3 + ["sleeping"]
        with pytest.raises(HawseError, match="capacity_exceeded"):
            await sandboxes.ensure("local")
        running = [id for id, state in infos.items() if state == "running"]
        await sandboxes.delete(running[0])
        await sandboxes.ensure("local")


class FullDisk(SqliteStore):
    """Writes fail while `full` is set."""

    full = False
    refused = 0

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        if self.full:
            self.refused += 1
            raise StoreError("database or disk is full")
        return await super().write(*changes, lease=lease)


async def test_a_runtime_whose_start_cannot_be_recorded_is_kept_in_sight_and_recorded_later(
    tmp_path: Path, provider: ModelProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "STORE_RETRY", 0.01)
    store = FullDisk(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider})
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        provider.holds["start"] = asyncio.Event()
        call = tasks.create_task(sandboxes.ensure("local"))
        await provider.begun("start")
        store.full = True
        provider.holds["start"].set()
        async with asyncio.timeout(TIMEOUT):
            while store.refused < 3:  # noqa: ASYNC110  # the attempts of the driver
                await asyncio.sleep(0.001)
        store.full = False
        assert await call is not None
        assert len(provider.running["local"]) == 1
        assert provider.count("start") == 1


async def test_a_call_while_the_store_cannot_be_written_is_unavailable_and_starts_nothing(
    tmp_path: Path, provider: ModelProvider
) -> None:
    store = FullDisk(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider})
    async with sandboxes.running():
        store.full = True
        with pytest.raises(HawseError, match="disk is full") as caught:
            await sandboxes.ensure("local")
        assert caught.value.retryable
        assert provider.running == {}


async def test_a_driver_whose_row_was_taken_over_ends_what_it_has_started(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    provider.holds["start"] = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        call = tasks.create_task(sandboxes.ensure("local"))
        await provider.begun("start")
        run = await records.read_run(sandboxes.store, "local")
        assert run is not None
        first = run.value.runtime
        await sandboxes.store.write(run.put(records.stopping(run.value, Clock().now(), "another gateway took over")))
        provider.holds["start"].set()
        await call
    assert ("stop", "local") in provider.calls
    assert provider.running["local"] != [first]
    assert len(provider.running["local"]) == 1
    assert provider.violations == []


class LostReply(SqliteStore):
    """Loses the response to as many writes of running runs as `failures`."""

    failures = 0

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        version = await super().write(*changes, lease=lease)
        for change in changes:
            if self.failures and isinstance(change, Put) and b'"state":"running"' in change.value:
                self.failures -= 1
                raise StoreError("the response was lost")
        return version


async def test_a_run_keeps_running_if_the_response_to_its_recorded_start_is_lost(
    tmp_path: Path, provider: ModelProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "STORE_RETRY", 0.01)
    store = LostReply(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider})
    async with sandboxes.running():
        store.failures = 1
        await sandboxes.ensure("local")
        assert store.failures == 0
        assert (await sandboxes.get("local")).state == "running"
    assert (provider.count("start"), provider.count("stop")) == (1, 0)
    assert provider.violations == []


class SlowStore(SqliteStore):
    """Requests for leases of sandboxes wait until `granted` and `released` are set."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.granted, self.released = asyncio.Event(), asyncio.Event()
        self.waiting: asyncio.Queue[str] = asyncio.Queue()

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        lease = await super().acquire(name, holder, seconds)
        if name == "sandbox/local":
            self.waiting.put_nowait("acquire")
            await self.granted.wait()
        return lease

    async def release(self, lease: Lease) -> None:
        if lease.name == "sandbox/local":
            self.waiting.put_nowait("release")
            await self.released.wait()
        await super().release(lease)


@pytest.mark.parametrize("step", ["acquire", "release"])
async def test_a_lease_is_released_although_its_driver_is_cancelled_while_the_store_responds(
    tmp_path: Path, provider: ModelProvider, step: str
) -> None:
    store = SlowStore(tmp_path / "store.db")
    async with Sandboxes(store, {"model": provider}, sweep=3600).running(), asyncio.TaskGroup() as tasks:
        driving = Driver(store, {"model": provider}, tasks, clock=Clock(), holder="another gateway")
        if step == "release":
            store.granted.set()
        task = driving.settle("local")
        async with asyncio.timeout(TIMEOUT):
            while await store.waiting.get() != step:
                pass
            driving.stop()
            await asyncio.sleep(0)
            driving.stop()
            store.granted.set()
            store.released.set()
            await asyncio.wait([task])
        assert task.cancelled()
        assert await store.acquire("sandbox/local", "a third gateway", 1.0) is not None


async def test_a_lease_that_cannot_be_released_does_not_replace_a_cancellation(
    tmp_path: Path, provider: ModelProvider
) -> None:
    class Unreleased(SqliteStore):
        async def release(self, lease: Lease) -> None:
            raise StoreError("the store is down")

    store = Unreleased(tmp_path / "store.db")
    provider.holds["start"] = asyncio.Event()
    sandboxes = Sandboxes(store, {"model": provider}, sweep=3600)
    async with asyncio.timeout(TIMEOUT), sandboxes.running(), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(sandboxes.ensure("local"))
        await provider.begun("start")
        waiting.cancel()


class Interrupted(SqliteStore):
    """Calls `claim` once, before or after the write that marks a pool member as created."""

    claim: Callable[[], Awaitable[object]] | None = None
    before = False

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        claim = self.claim if any(map(is_created_member, changes)) else None
        if claim is None:
            return await super().write(*changes, lease=lease)
        self.claim = None
        if self.before:
            await claim()
            return await super().write(*changes, lease=lease)
        version = await super().write(*changes, lease=lease)
        await claim()
        return version


def is_created_member(change: Change) -> bool:
    if not isinstance(change, Put) or change.table != records.SANDBOXES or not change.key.startswith(MEMBER):
        return False
    return msgspec.json.decode(change.value, type=SandboxRecord).made


@pytest.mark.parametrize("before", [True, False])
async def test_a_member_that_is_claimed_while_its_driver_finishes_the_start_keeps_running(
    tmp_path: Path, provider: ModelProvider, before: bool
) -> None:
    store = Interrupted(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider}, clock=ManualClock().clock, sweep=3600, pool=1)
    store.before, store.claim = before, lambda: create(sandboxes, SandboxCreate(id="a"))
    async with sandboxes.running():
        async with asyncio.timeout(TIMEOUT):
            while store.claim is not None:
                await sandboxes.sweep()
        await sandboxes.sweep()
        info = await sandboxes.get("a")
        assert info.state == "running"
        assert sandboxes.pool.claimed == 1
        assert [info.runtime] in provider.running.values()
    assert provider.count("stop") == 0
    assert provider.violations == []


async def test_an_invalid_row_stops_neither_its_driver_nor_the_gateway(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    rows = await records.read(sandboxes.store, "a")
    assert rows.sandbox is not None
    await sandboxes.store.write(Put(records.SANDBOXES, "a", b'{"id": 1}', rows.sandbox.version))
    await sandboxes.sweep()
    await create(sandboxes, SandboxCreate(id="b"))
    assert len(provider.running["a"]) == len(provider.running["b"]) == 1
