"""Backups never exceed a limit, even with several gateways."""

import asyncio
from collections.abc import Mapping

import pytest

from hawse.api.backups import BackupInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.backups.records import BackupRecord, BackupRecords
from hawse_gateway.backups.space import STEP_MIN, BackupSpace
from tests.support.stores import MemoryStore

ANN = Principal(id="ann", name="", kind="user", rights=("operate",))
BOB = Principal(id="bob", name="", kind="user", rights=("operate",))
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))


async def begun(records: BackupRecords, id: str, caller: Principal = ANN, size: int | None = None) -> BackupRecord:
    info = BackupInfo(id=id, sandbox="box", path=".", owner=caller.id, size=size or 0)
    record = BackupRecord(info=info, begun=records.clock.now(), ready=size is not None)
    await records.add(record)
    return record


async def test_a_user_and_all_together_have_limits() -> None:
    records = BackupRecords(MemoryStore())
    space = BackupSpace(records, total=100, each=60)
    await begun(records, "a", size=50)
    one = await begun(records, "b")
    await space.reserve(one, ANN, 10)
    with pytest.raises(HawseError, match="limit_exceeded: the backups of 'ann' would exceed 60 bytes"):
        await space.reserve(one, ANN, 11)
    two = await begun(records, "c", BOB)
    await space.reserve(two, BOB, 40)
    with pytest.raises(HawseError, match="limit_exceeded: this gateway's backups would exceed 100 bytes"):
        await space.reserve(two, BOB, 41)
    three = await begun(records, "d", OWNER)
    with pytest.raises(HawseError, match="this gateway's"):
        await space.reserve(three, OWNER, 1)
    usage = await space.usage(ANN)
    assert (usage.backups, usage.bytes, usage.max_backups, usage.max_bytes) == (1, 60, 1000, 60)
    assert ((await space.usage(OWNER)).max_backups, (await space.usage(OWNER)).max_bytes) == (None, 100)


async def test_only_the_total_limits_a_user_with_every_right() -> None:
    records = BackupRecords(MemoryStore())
    space = BackupSpace(records, total=100, each=10, count=0)
    await space.check_count(OWNER, 5)
    await space.reserve(await begun(records, "a", OWNER), OWNER, 100)
    with pytest.raises(HawseError, match="limit_exceeded"):
        await space.check_count(ANN, 1)


async def test_rows_are_written_seldom() -> None:
    store = MemoryStore()
    records = BackupRecords(store)
    record = await begun(records, "a")
    writes = 0

    def count(table: str, key: str) -> None:
        nonlocal writes
        writes += 1

    store.listen(count)
    space = BackupSpace(records)
    for size in range(0, 20 * STEP_MIN, STEP_MIN // 8):
        await space.reserve(record, ANN, size)
    assert writes <= 6


class Slow(BackupRecords):
    """Rows whose calls each let others run first, as over a network."""

    async def all(self) -> Mapping[str, BackupRecord]:
        await asyncio.sleep(0)
        found = await super().all()
        await asyncio.sleep(0)
        return found


async def test_concurrent_reservations_of_gateways_do_not_exceed_the_limit() -> None:
    store = MemoryStore()
    one, other = Slow(store), Slow(store)
    first, second = await begun(one, "a"), await begun(other, "b")
    await asyncio.gather(
        BackupSpace(one, each=100).reserve(first, ANN, 40), BackupSpace(other, each=100).reserve(second, ANN, 40)
    )
    rows = (await one.all()).values()
    assert sum(row.used for row in rows) <= 100
    results = await asyncio.gather(
        BackupSpace(one, each=100).reserve(first, ANN, 80),
        BackupSpace(other, each=100).reserve(second, ANN, 80),
        return_exceptions=True,
    )
    assert any(isinstance(result, HawseError) for result in results)


async def test_a_backup_deleted_in_the_meantime_is_not_continued() -> None:
    records = BackupRecords(MemoryStore())
    record = await begun(records, "a")
    await records.remove("a")
    with pytest.raises(HawseError, match="cancelled"):
        await BackupSpace(records).reserve(record, ANN, 1)
