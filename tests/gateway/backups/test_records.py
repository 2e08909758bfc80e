"""The rows of backups: access to them, and their expiry."""

import asyncio

import msgspec
import pytest

from hawse.api.backups import BackupInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.backups.records import TABLE, BackupRecord, BackupRecords, may_use
from hawse_gateway.store.base import Lease, StoreError
from hawse_gateway.store.clock import Clock
from tests.support.stores import MemoryStore

OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))


def caller(*rights: str, id: str = "ann") -> Principal:
    return Principal(id=id, name="", kind="user", rights=rights)


class Time:
    def __init__(self) -> None:
        self.now = 1000.0
        self.clock = Clock(wall=lambda: self.now, uptime=lambda: self.now, boot="b")


def record(time: Time, *, ttl: float | None = None, ready: bool = True) -> BackupRecord:
    now = time.clock.now()
    info = BackupInfo(id="b", sandbox="box", path=".", owner="ann")
    return BackupRecord(info=info, begun=now, expires=None if ttl is None else now.after(ttl), ready=ready)


async def test_a_backup_is_found_until_it_expires() -> None:
    time = Time()
    records = BackupRecords(MemoryStore(), time.clock)
    await records.add(record(time, ttl=10))
    assert (await records.get("b", OWNER)).info.sandbox == "box"
    time.now += 10
    with pytest.raises(HawseError, match="not_found"):
        await records.get("b", OWNER)
    assert [records.expired(one) for one in (await records.all()).values()] == [True]
    await records.remove("b")
    await records.remove("b")
    assert await records.all() == {}


async def test_an_unfinished_one_does_not_exist_yet() -> None:
    time = Time()
    records = BackupRecords(MemoryStore(), time.clock)
    one = record(time, ready=False)
    await records.add(one)
    with pytest.raises(HawseError, match="not_found"):
        await records.get("b", OWNER)
    assert not records.expired(one)
    one.ready = True
    await records.update(one)
    assert (await records.get("b", OWNER)).ready


async def test_a_backup_is_abandoned_once_its_creating_gateway_is_gone() -> None:
    store, time = MemoryStore(), Time()
    one, here, another = record(time, ready=False), BackupRecords(store, time.clock), BackupRecords(store, time.clock)
    async with here.creating(one):
        assert not await another.abandoned(one)
        assert not await here.abandoned(one)
        killed = dict(store.leases)
    assert await another.abandoned(one)
    store.leases = {name: (lease, 0.0) for name, (lease, _) in killed.items()}  # it was not released, and has expired
    assert await another.abandoned(one)


async def test_a_backup_completed_in_the_meantime_is_not_abandoned() -> None:
    store, time = MemoryStore(), Time()
    records = BackupRecords(store, time.clock)
    async with records.creating(record(time, ready=False)):
        [seen] = (await records.all()).values()
        finished = msgspec.structs.replace(seen, ready=True)
        await records.update(finished)
    assert not await records.abandoned(seen)
    assert not await records.abandoned(finished)


async def test_a_creation_that_takes_long_keeps_its_lease() -> None:
    one, time, renewed = record(Time(), ready=False), Time(), asyncio.Event()

    class Watched(MemoryStore):
        async def renew(self, lease: Lease, seconds: float) -> bool:
            held = await super().renew(lease, seconds)
            renewed.set()
            return held

    watched = Watched()
    here = BackupRecords(watched, time.clock, lease=0.3)
    async with asyncio.timeout(20), here.creating(one):
        await renewed.wait()
        assert not await BackupRecords(watched, time.clock).abandoned(one)


async def test_an_error_during_a_creation_is_raised_unwrapped_and_ends_the_lease() -> None:
    store, time = MemoryStore(), Time()
    records = BackupRecords(store, time.clock)
    with pytest.raises(ZeroDivisionError):
        async with records.creating(record(time, ready=False)):
            raise ZeroDivisionError
    assert store.leases == {}


async def test_a_backup_deleted_in_the_meantime_is_not_finished() -> None:
    time = Time()
    records = BackupRecords(MemoryStore(), time.clock)
    with pytest.raises(HawseError, match="cancelled"):
        await records.update(record(time))


async def test_a_row_that_cannot_be_decoded_does_not_hide_the_others() -> None:
    store, time = MemoryStore(), Time()
    records = BackupRecords(store, time.clock)
    await records.add(record(time))
    store.put(TABLE, "later", b'{"info": 7}')
    assert list(await records.all()) == ["b"]
    with pytest.raises(HawseError, match="not_found"):
        await records.get("later", OWNER)


async def test_records_are_unavailable_without_the_store() -> None:
    store = MemoryStore()
    records = BackupRecords(store)
    store.error = StoreError("away")
    for work in (records.all(), records.get("b", OWNER), records.remove("b")):
        with pytest.raises(HawseError, match="unavailable"):
            await work


@pytest.mark.parametrize(
    ("who", "allowed"),
    [
        (OWNER, True),
        (caller("view"), True),  # it has made it
        (caller("operate", id="bob"), True),
        (caller("operate/box", id="bob"), True),
        (caller("operate/~", id="bob"), False),  # a sandbox of its own with that id may be another one
        (caller("operate/other", id="bob"), False),
        (caller("operate@main", id="bob"), False),
        (caller("write", id="bob"), False),
    ],
)
def test_the_creator_and_operators_of_the_sandbox_can_use_a_backup(who: Principal, allowed: bool) -> None:
    assert may_use(who, BackupInfo(id="b", sandbox="box", path=".", owner="ann")) is allowed
    assert TABLE == "backups"
