"""The rows of mounts."""

import pytest

from hawse.api.mounts import MountCredentials, MountInfo
from hawse.wire import HawseError
from hawse_gateway.mounts.records import TABLE, MountRecord, MountRecords
from hawse_gateway.store.base import StoreError
from tests.support.stores import MemoryStore


def record(id: str, path: str = "data", sandbox: str = "box") -> MountRecord:
    info = MountInfo(id=id, sandbox=sandbox, path=path, bucket="b")
    given = MountCredentials(access_key_id="id", secret_access_key="key")
    return MountRecord(info=info, generation="g", credentials=given)


async def test_rows_are_kept_in_the_order_of_paths_until_they_are_removed() -> None:
    records = MountRecords(MemoryStore())
    for each in (record("m1", "z"), record("m2", "a"), record("m3", sandbox="other")):
        await records.add(each)
    assert [one.info.id for one in await records.of("box")] == ["m2", "m1"]
    assert await records.get("m1") == record("m1", "z")
    await records.remove("m1")
    await records.remove("m1")
    assert await records.get("m1") is None
    assert set(await records.all()) == {"m2", "m3"}


async def test_a_deletion_is_noted_and_never_taken_back() -> None:
    records = MountRecords(MemoryStore())
    await records.add(record("m1"))
    await records.note_deleting("m1", force=False, discard=True)
    await records.note_deleting("m1", force=True, discard=False)
    found = await records.get("m1")
    assert found is not None
    assert (found.deleting, found.force, found.discard) == (True, True, True)
    await records.note_deleting("missing", force=True, discard=True)
    assert await records.get("missing") is None


async def test_a_row_of_a_later_version_is_passed_over_and_a_lost_store_is_an_error() -> None:
    store = MemoryStore()
    records = MountRecords(store)
    store.put(TABLE, "m1", b'{"later": 1}')
    assert await records.all() == {}
    store.error = StoreError("gone")
    with pytest.raises(HawseError) as raised:
        await records.all()
    assert raised.value.code == "unavailable"
