"""The jobs of `backup.*`: calls join them by their key, and one without a call ends."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest
import pytest_asyncio

from hawse.api import GATEWAY, spec_of
from hawse.api.backups import (
    BackupCancel,
    BackupCreate,
    BackupDelete,
    BackupGet,
    BackupInfo,
    BackupList,
    BackupProgress,
    BackupRestore,
    BackupRestoreResult,
    BackupUsage,
    BackupUsageResult,
    SandboxSnapshot,
)
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Principal
from hawse.wire.messages import to_raw
from hawse_gateway.backups.methods import JOBS, JOBS_KEPT, JOBS_OF_EACH, BackupMethods
from hawse_gateway.backups.records import BackupRecord, BackupRecords
from hawse_gateway.backups.space import BackupSpace
from hawse_gateway.backups.transfer import BackupTransfers, Report
from tests.support.gateway import eventually
from tests.support.stores import MemoryStore

ANN = Principal(id="ann", name="", kind="user", rights=("operate",))
BOB = Principal(id="bob", name="", kind="user", rights=("operate/~",))


class ModelTransfers:
    """Work that waits for `go`. `ended` are the outcomes."""

    def __init__(self, records: BackupRecords) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Semaphore(0)
        self.ended: list[str] = []
        self.restored: list[BackupRestore] = []
        self.count = 0
        self._records = records

    async def create(self, params: BackupCreate, caller: Principal, report: Report) -> BackupInfo:
        report(BackupProgress(phase="packing", entries=1))
        await self._wait()
        self.count += 1
        info = BackupInfo(id=f"b{self.count}", sandbox=params.sandbox, path=".", owner=caller.id, created=self.count)
        await self._records.add(BackupRecord(info=info, begun=self._records.clock.now(), ready=True))
        return info

    async def restore(self, params: BackupRestore, *_: Any) -> BackupRestoreResult:
        self.restored.append(params)
        await self._wait()
        return BackupRestoreResult(entries=1, bytes=2)

    async def delete(self, id: str) -> None:
        await self._records.remove(id)

    async def sweep(self) -> None:
        self.ended.append("swept")
        raise ValueError("of any kind")

    async def _wait(self) -> None:
        self.begun.release()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        self.ended.append("done")


class OneCall:
    """A call, its connection and its client in one."""

    def __init__(self, params: Any, principal: Principal = ANN, key: str | None = None) -> None:
        self.method = spec_of(type(params)).name
        self.params = to_raw(params)
        self.checked = True
        self.principal = principal
        self.key = key
        self.age = None
        self.timeout = None
        self.ch = 1
        self.open = True
        self.events: list[Any] = []
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.stream: Any = None

    def serve(self, stream: Any) -> None:
        self.stream = stream
        self.wake()

    def wake(self) -> None:
        if self.stream is not None:
            self.stream.pull(cast(Connection, self), 1, 1000)

    def window(self, ch: int) -> int:
        return 1000

    def send_event(self, ch: int, name: str, value: Any) -> None:
        self.events.append((name, value))

    def result(self, value: Any) -> None:
        self._end(lambda: self.outcome.set_result(value))

    def error(self, error: HawseError) -> None:
        self._end(lambda: self.outcome.set_exception(error))

    def _end(self, settle: Any) -> None:
        if not self.outcome.done():
            settle()
            self.leave()

    def leave(self) -> None:
        stream, self.stream = self.stream, None
        if stream is not None:
            stream.detach()

    def on_close(self, callback: Any) -> None:
        """Nothing is cancelled here."""


class Bench:
    def __init__(self, tasks: asyncio.TaskGroup, *, limit: int = 1000) -> None:
        self.records = BackupRecords(MemoryStore())
        self.transfers = ModelTransfers(self.records)
        self.methods = BackupMethods(
            cast(BackupTransfers, self.transfers),
            self.records,
            tasks,
            space=BackupSpace(self.records, count=limit),
            resume_timeout=0.0,
        )
        self._dispatcher = Dispatcher(tasks.create_task, IdempotencyTable())
        self._dispatcher.add(self.methods)

    def call(self, params: Any, principal: Principal = ANN, key: str | None = None) -> OneCall:
        call = OneCall(params, principal, key)
        self._dispatcher.dispatch(cast(ServerCall, call))
        return call

    async def done(self, params: Any, principal: Principal = ANN) -> Any:
        return await self.call(params, principal).outcome


@pytest_asyncio.fixture
async def bench() -> AsyncIterator[Bench]:
    async with asyncio.TaskGroup() as tasks:
        bench = Bench(tasks, limit=2)
        yield bench
        await bench.methods.close()


CREATE = BackupCreate(sandbox="box")


async def test_a_backup_is_created_listed_restored_and_deleted(bench: Bench) -> None:
    bench.transfers.go.set()
    call = bench.call(CREATE)
    info = await call.outcome
    assert call.events == [("progress", BackupProgress(phase="packing", entries=1))]
    other = await bench.done(BackupCreate(sandbox="other"))
    found = await bench.done(BackupList())
    listed = msgspec.json.decode(found, type=dict)["backups"]
    assert [one["id"] for one in listed] == [other.id, info.id]
    only = msgspec.json.decode(await bench.done(BackupList(sandbox="box")), type=dict)["backups"]
    assert [one["id"] for one in only] == [info.id]
    assert (await bench.done(BackupRestore(backup=info.id))).bytes == 2
    await bench.done(BackupDelete(backup=info.id))
    with pytest.raises(HawseError, match="not_found"):
        await bench.done(BackupGet(backup=info.id))


async def test_a_snapshot_is_a_backup_of_the_workspace_and_fills_another_one(bench: Bench) -> None:
    bench.transfers.go.set()
    info = await bench.done(SandboxSnapshot(id="box", name="n"))
    assert (info.sandbox, info.path) == ("box", ".")
    await bench.methods.check(info.id, ANN)
    with pytest.raises(HawseError, match="not_found"):
        await bench.methods.check(info.id, BOB)
    await bench.methods.fill(info.id, "other", ANN)
    assert bench.transfers.restored == [BackupRestore(backup=info.id, sandbox="other", path=".")]


async def test_the_backups_of_others_do_not_exist(bench: Bench) -> None:
    bench.transfers.go.set()
    info = await bench.done(CREATE)
    for params in (BackupGet(backup=info.id), BackupDelete(backup=info.id), BackupRestore(backup=info.id)):
        with pytest.raises(HawseError, match="not_found"):
            await bench.done(params, BOB)
    assert b"[]" in bytes(await bench.done(BackupList(), BOB))


async def test_a_repeat_joins_the_job_and_gets_its_result(bench: Bench) -> None:
    first = bench.call(CREATE, key="k")
    await bench.transfers.begun.acquire()
    second = bench.call(CREATE, key="k")
    first.leave()
    bench.transfers.go.set()
    info = await second.outcome
    assert await bench.call(CREATE, key="k").outcome == info
    assert bench.transfers.count == 1


async def test_a_job_ends_without_calls_or_when_it_is_cancelled(bench: Bench) -> None:
    without = bench.call(CREATE)
    await bench.transfers.begun.acquire()
    without.leave()
    keyed = bench.call(CREATE, key="k")
    await bench.transfers.begun.acquire()
    await bench.done(BackupCancel(key="k"), BOB)  # it has no such job
    await bench.done(BackupCancel(key="k"))
    with pytest.raises(HawseError, match="cancelled"):
        await keyed.outcome
    left = bench.call(CREATE, key="l")
    await bench.transfers.begun.acquire()
    left.leave()
    await eventually(lambda: len(bench.transfers.ended) == 3)
    assert bench.transfers.ended == ["cancelled"] * 3


async def test_a_job_cancelled_before_it_starts_has_an_outcome(bench: Bench) -> None:
    cancelling = bench.call(BackupCancel(key="k"))  # its handler runs before the task of the job
    call = bench.call(CREATE, key="k")
    with pytest.raises(HawseError, match="cancelled"):
        await call.outcome
    await cancelling.outcome
    assert bench.transfers.ended == []


async def test_a_second_cancellation_does_not_interrupt_the_first(bench: Bench) -> None:
    """Partial work is removed after a cancellation."""
    cleaned = asyncio.Event()

    async def restore(params: BackupRestore, *_: Any) -> BackupRestoreResult:
        try:
            await asyncio.Event().wait()
        finally:
            bench.transfers.begun.release()
            await bench.transfers.go.wait()
            cleaned.set()
        raise AssertionError

    bench.transfers.go.set()
    info = await bench.done(CREATE)
    bench.transfers.go.clear()
    await bench.transfers.begun.acquire()
    bench.transfers.restore = restore  # type: ignore[method-assign]
    call = bench.call(BackupRestore(backup=info.id), key="k")
    await eventually(lambda: call.stream is not None)
    await asyncio.sleep(0)
    await bench.done(BackupCancel(key="k"))
    await bench.transfers.begun.acquire()
    await bench.done(BackupCancel(key="k"))
    bench.transfers.go.set()
    with pytest.raises(HawseError, match="cancelled"):
        await call.outcome
    assert cleaned.is_set()


def user(name: str) -> Principal:
    return Principal(id=name, name="", kind="user", rights=("*",))


async def test_one_user_cannot_take_all_jobs_and_some_are_kept_for_those_without(bench: Bench) -> None:
    calls = [bench.call(CREATE, user("a")) for _ in range(JOBS_OF_EACH)]
    with pytest.raises(HawseError, match="capacity_exceeded: 'a' has reached the limit of 4"):
        await bench.done(CREATE, user("a"))
    for name in ("b", "c"):
        calls += [bench.call(CREATE, user(name)) for _ in range(JOBS_OF_EACH)]
    for number in range(JOBS_KEPT):
        calls.append(bench.call(CREATE, user(f"new {number}")))
        with pytest.raises(HawseError, match="capacity_exceeded"):
            await bench.done(CREATE, user(f"new {number}"))
    assert len(calls) == JOBS
    with pytest.raises(HawseError, match="capacity_exceeded"):
        await bench.done(CREATE, user("late"))
    for _ in calls:
        await bench.transfers.begun.acquire()
    bench.transfers.go.set()
    for call in calls:
        info = await call.outcome
    bench.transfers.go.clear()
    await bench.done(BackupGet(backup=info.id), ANN)
    filling = [asyncio.create_task(bench.methods.fill(info.id, "x", ANN)) for _ in range(JOBS_OF_EACH)]
    for _ in filling:
        await bench.transfers.begun.acquire()
    with pytest.raises(HawseError, match="capacity_exceeded"):
        await bench.methods.fill(info.id, "x", ANN)
    bench.transfers.go.set()
    await asyncio.gather(*filling)


async def test_there_is_a_limit_of_backups(bench: Bench) -> None:
    bench.transfers.go.set()
    await bench.done(CREATE)
    await bench.done(CREATE)
    with pytest.raises(HawseError, match="limit_exceeded"):
        await bench.done(CREATE)
    found = msgspec.json.decode(await bench.done(BackupUsage()), type=BackupUsageResult)
    assert (found.backups, found.max_backups, found.bytes) == (2, 2, 0)


async def test_sweeping_continues_after_a_failure(bench: Bench) -> None:
    sweeping = asyncio.create_task(bench.methods.sweep())
    await eventually(lambda: bench.transfers.ended)
    assert not sweeping.done()
    sweeping.cancel()


async def test_closing_waits_for_all_jobs_to_end(bench: Bench) -> None:
    call = bench.call(CREATE)
    await bench.transfers.begun.acquire()
    await bench.methods.close()
    assert bench.transfers.ended == ["cancelled"]
    with pytest.raises(HawseError, match="cancelled"):
        await call.outcome
    assert "backup.create" in GATEWAY
