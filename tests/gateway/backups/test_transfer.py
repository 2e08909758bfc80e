"""A transfer stores the data from the sandbox or leaves nothing behind, whichever step fails."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
import pytest

from hawse.api.backups import BackupCreate, BackupPackResult, BackupProgress, BackupRestore
from hawse.wire import Data, Event, HawseError, Kind, Principal, Result
from hawse.wire.messages import to_raw
from hawse_gateway.backups.records import BackupRecords
from hawse_gateway.backups.space import BackupSpace
from hawse_gateway.backups.transfer import ATTEMPTS, BackupTransfers
from hawse_gateway.store.clock import Clock
from hawse_gateway.upstream.sandbox_link import SandboxLink
from tests.support.gateway import eventually
from tests.support.stores import MemoryStore

OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))
DATA = bytes(range(256)) * 1000
LOST = HawseError("interrupted", "lost")
PACKED = BackupPackResult(
    format="tar", size=len(DATA), sha256=hashlib.sha256(DATA).hexdigest(), entries=3, bytes=9, changed=1, skipped=2
)


class FakeLink:
    """A link to a sandbox. `failures` are the errors of the next calls; then `answer` answers."""

    def __init__(self, *failures: HawseError) -> None:
        self.failures = list(failures)
        self.methods: list[str] = []
        self.packed: Any = PACKED  # None: it never answers
        self.progress: Any = BackupProgress(phase="packing", entries=1, bytes=2)
        self.answer: Any = {}  # to the other calls

    def open(self, caller: Any) -> None:
        self.methods.append(caller.call.method)
        if caller.call.method == "backup.pack":
            caller.receive_progress(Event(ch=1, name="starting", value=to_raw({"phase": "starting"})))
            caller.receive_message(Event(ch=1, name="progress", value=to_raw(self.progress)))
            caller.receive_data(Data(Kind.OUTPUT, 1, 0, memoryview(DATA[:1000])))
        if self.failures:
            caller.fail(self.failures.pop(0))
        elif caller.call.method != "backup.pack":
            caller.receive_message(Result(ch=1, value=to_raw(self.answer)))
        elif self.packed is not None:
            caller.receive_data(Data(Kind.OUTPUT, 1, 1000, memoryview(DATA[1000:])))
            caller.receive_message(Result(ch=1, value=to_raw(self.packed)))

    def close(self, caller: Any) -> None:
        """Nothing is held."""


class ModelStore:
    """Archives in memory. `fails` is called with the name of each step."""

    def __init__(self) -> None:
        self.archives: dict[str, bytes] = {}
        self.hangs = False
        self.fails: Callable[[str], None] = lambda step: None

    @asynccontextmanager
    async def writing(self, id: str) -> AsyncIterator["ModelWriter"]:
        self.fails("open")
        yield ModelWriter(self, id)

    async def read(self, id: str) -> AsyncGenerator[bytes, None]:
        self.fails("read")
        if self.hangs:
            await asyncio.Event().wait()
        yield self.archives[id]

    async def delete(self, id: str) -> None:
        self.fails("delete")
        self.archives.pop(id, None)


class ModelWriter:
    def __init__(self, store: ModelStore, id: str) -> None:
        self._store = store
        self._id = id
        self._data = b""

    async def write(self, data: bytes) -> None:
        self._store.fails("write")
        self._data += data

    async def commit(self) -> None:
        self._store.fails("commit")
        self._store.archives[self._id] = self._data


class Bench:
    """Transfers between a fake sandbox and a model of a store."""

    def __init__(
        self,
        link: FakeLink,
        clock: Clock | None = None,
        *,
        total: int = 1 << 30,
        store: ModelStore | None = None,
        records: BackupRecords | None = None,
        **options: Any,
    ) -> None:
        self.link = link
        self.store = store or ModelStore()
        self.records = records or BackupRecords(MemoryStore(), clock)
        self.reports: list[BackupProgress] = []
        self.transfers = BackupTransfers(
            self, self.store, self.records, space=BackupSpace(self.records, total=total), **options
        )

    def get(self, sandbox: str | None) -> SandboxLink:
        return cast(SandboxLink, self.link)

    async def restore(self, info: Any) -> Any:
        record = await self.records.get(info.id, OWNER)
        return await self.transfers.restore(BackupRestore(backup=info.id), record, OWNER, self.reports.append)

    async def create(self, ttl: float | None = None) -> Any:
        params = BackupCreate(sandbox="box", path="p", name="n", ttl=ttl)
        return await self.transfers.create(params, OWNER, self.reports.append)


async def test_sent_data_is_stored() -> None:
    bench = Bench(FakeLink())
    info = await bench.create()
    assert bench.store.archives == {info.id: DATA}
    assert (info.sandbox, info.path, info.name, info.owner) == ("box", "p", "n", "owner")
    assert (info.size, info.entries, info.changed, info.skipped) == (len(DATA), 3, 1, 2)
    assert bench.reports == [BackupProgress(phase="packing"), BackupProgress(phase="packing", entries=1, bytes=2)]
    assert (await bench.records.get(info.id, OWNER)).info == info


async def test_a_lost_link_is_tried_again_and_then_reported() -> None:
    bench = Bench(FakeLink(*[LOST] * (ATTEMPTS - 1)))
    info = await bench.create()
    assert bench.store.archives == {info.id: DATA}
    bench = Bench(FakeLink(*[LOST] * ATTEMPTS))
    with pytest.raises(HawseError, match="interrupted"):
        await bench.create()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


@pytest.mark.parametrize("step", ["open", "write", "commit"])
async def test_a_store_that_fails_at_any_step_leaves_nothing(step: str) -> None:
    bench = Bench(FakeLink())

    def fail(now: str) -> None:
        if now == step:
            raise HawseError("no_space", "full")

    bench.store.fails = fail
    with pytest.raises(HawseError, match="no_space"):
        await bench.create()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_bytes_that_were_changed_on_the_way_are_not_stored() -> None:
    bench = Bench(FakeLink())
    assert bench.link.packed is not None
    bench.link.packed = BackupPackResult(
        format="tar", size=1, sha256="0" * 64, entries=1, bytes=1, changed=0, skipped=0
    )
    with pytest.raises(HawseError, match="io_error"):
        await bench.create()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


def packed(**changed: Any) -> dict[str, Any]:
    return {**msgspec.structs.asdict(PACKED), **changed}


@pytest.mark.parametrize(
    "answer",
    [
        *({}, [], "x", packed(size="many"), packed(size=1), packed(entries=-1), packed(entries=2**62)),
        *(packed(format="x" * 100_000), packed(sha256=None)),
    ],
    ids=lambda answer: str(answer)[:20],
)
async def test_a_forged_answer_from_a_sandbox_is_a_typed_error(answer: Any) -> None:
    bench = Bench(FakeLink())
    bench.link.packed = answer
    with pytest.raises(HawseError, match="io_error") as caught:
        await bench.create()
    assert len(caught.value.message) < 200
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


@pytest.mark.parametrize("value", [{"phase": "dancing"}, 7, {"phase": "packing", "bytes": -1}])
async def test_forged_progress_from_a_sandbox_is_a_typed_error(value: Any) -> None:
    bench = Bench(FakeLink())
    bench.link.progress = value
    with pytest.raises(HawseError, match="io_error"):
        await bench.create()
    bench = Bench(FakeLink())
    info = await bench.create()
    bench.link.answer = {"entries": "none"}
    with pytest.raises(HawseError, match="io_error"):
        await bench.restore(info)


async def test_an_archive_that_is_too_large_ends_early_and_leaves_nothing() -> None:
    bench = Bench(FakeLink(), total=len(DATA) + 500)
    bench.link.packed = None  # more would follow
    other = Bench(FakeLink(), total=500)
    with pytest.raises(HawseError, match="limit_exceeded"):
        await other.create()
    assert (other.store.archives, await other.records.all()) == ({}, {})
    bench.link.packed = PACKED
    await bench.create()
    with pytest.raises(HawseError, match="limit_exceeded"):
        await bench.create()
    assert len(bench.store.archives) == len(await bench.records.all()) == 1


async def test_a_transfer_from_a_silent_sandbox_is_abandoned() -> None:
    bench = Bench(FakeLink(), stall_timeout=0.05)
    bench.link.packed = None
    with pytest.raises(HawseError, match=r"deadline_exceeded: .*no data was transferred for 0.05 s"):
        await bench.create()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_a_sandbox_that_sends_a_little_now_and_then_is_given_up() -> None:
    link = FakeLink()
    link.packed = None
    bench = Bench(link, work_timeout=0.05)
    with pytest.raises(HawseError, match=r"deadline_exceeded: .*it took longer than 0.05 s"):
        await bench.create()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_a_store_that_hangs_is_given_up() -> None:
    made = Bench(FakeLink())  # which has time for it
    info = await made.create()
    made.store.hangs = True
    bench = Bench(FakeLink(), store=made.store, records=made.records, stall_timeout=0.05)
    with pytest.raises(HawseError, match="deadline_exceeded"):
        await bench.restore(info)


async def test_no_failure_keeps_expired_backups() -> None:
    now = 0.0
    bench = Bench(FakeLink(), Clock(wall=lambda: now, uptime=lambda: now, boot="b"))
    for _ in range(2):
        await bench.create(ttl=10)
    failures = [ValueError("of a library")]

    def fail(step: str) -> None:
        if failures:
            raise failures.pop()

    now, bench.store.fails = 11.0, fail
    await bench.transfers.sweep()
    assert len(bench.store.archives) == 1


async def test_an_unfinished_backup_of_a_killed_gateway_is_deleted_by_the_next_sweep() -> None:
    bench = Bench(FakeLink())
    bench.link.packed = None  # it never ends
    creating = asyncio.create_task(bench.create())
    await eventually(lambda: bench.reports)
    await bench.transfers.sweep()
    [id] = await bench.records.all()  # a sweep, also that of another gateway, leaves it alone while it is created
    killed = dict(await bench.records.all())
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    await bench.records.add(killed[id])  # what is left when nothing could be cleaned up
    bench.store.archives[id] = b"a part"
    await bench.transfers.sweep()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_a_cancelled_creation_leaves_nothing_behind() -> None:
    bench = Bench(FakeLink())
    bench.link.packed = None  # it never ends
    creating = asyncio.create_task(bench.create())
    await eventually(lambda: bench.reports)
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_a_failed_deletion_is_retried_later() -> None:
    """The row stays until the archive is deleted."""
    now = 0.0
    clock = Clock(wall=lambda: now, uptime=lambda: now, boot="b")
    bench = Bench(FakeLink(), clock)
    info = await bench.create(ttl=10)
    await bench.transfers.sweep()
    assert bench.store.archives

    other = await bench.create(ttl=10)
    failures = [HawseError("unavailable", "away")]

    def fail(step: str) -> None:
        if failures:
            raise failures.pop()

    now = 11.0
    bench.store.fails = fail
    await bench.transfers.sweep()  # the failure of one does not keep the other
    left = list(await bench.records.all())
    assert left == list(bench.store.archives)
    assert left in ([info.id], [other.id])
    bench.store.fails = lambda step: None
    await bench.transfers.sweep()
    assert (bench.store.archives, await bench.records.all()) == ({}, {})


async def test_a_caller_restores_only_where_it_may_operate() -> None:
    bench = Bench(FakeLink())
    info = await bench.create()
    record = await bench.records.get(info.id, OWNER)
    for rights, code in (("operate/other", "not_found"), ("operate/~", "not_found"), ("write/box", "forbidden")):
        caller = Principal(id="owner", name="", kind="user", rights=(rights,))
        with pytest.raises(HawseError, match=code):
            await bench.transfers.restore(BackupRestore(backup=info.id), record, caller, bench.reports.append)
    assert bench.link.methods == ["backup.pack"]


async def test_a_restore_that_fails_removes_its_archive_in_the_sandbox() -> None:
    bench = Bench(FakeLink())
    info = await bench.create()
    record = await bench.records.get(info.id, OWNER)
    bench.link.failures = [HawseError("no_space", "full")]
    with pytest.raises(HawseError, match="no_space"):
        await bench.transfers.restore(BackupRestore(backup=info.id), record, OWNER, bench.reports.append)
    assert bench.link.methods[-2:] == ["file.write", "file.delete"]
