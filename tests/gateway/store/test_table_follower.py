import asyncio
from collections.abc import Callable

import pytest

from hawse_gateway.store.base import ABSENT, ANY_TABLE, Delete, Put, Row, StoreError
from hawse_gateway.store.table_follower import TableFollower
from tests.support.stores import MemoryStore
from tests.support.waiting import TIMEOUT

TABLE = "things"


class Known:
    """A gateway's copy of a table, and the follower that keeps it up to date."""

    def __init__(self, store: MemoryStore) -> None:
        self.values: dict[str, bytes] = {}
        self._applied = asyncio.Event()
        self.follower = TableFollower(store, TABLE, self._apply, lambda: list(self.values))

    def _apply(self, key: str, row: Row | None) -> None:
        if row is None:
            self.values.pop(key, None)
        else:
            self.values[key] = row.value
        self._applied.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while not condition():
                self._applied.clear()
                await self._applied.wait()


async def test_rows_are_read_at_startup_and_when_they_change() -> None:
    store = MemoryStore()
    store.put(TABLE, "a", b"1")
    known = Known(store)
    async with known.follower.running():
        assert known.values == {"a": b"1"}
        await store.write(Put(TABLE, "b", b"2", ABSENT), Put("others", "c", b"3", ABSENT))
        await known.until(lambda: known.values == {"a": b"1", "b": b"2"})
        await store.write(Delete(TABLE, "b", store.tables[TABLE]["b"].version))
        await known.until(lambda: known.values == {"a": b"1"})


async def test_changes_without_a_connection_are_found_when_there_is_one_again() -> None:
    store = MemoryStore()
    for key in ("kept", "changed", "deleted"):
        store.put(TABLE, key, b"1")
    known = Known(store)
    async with known.follower.running():
        store.put(TABLE, "changed", b"2")
        store.put(TABLE, "added", b"3")
        del store.tables[TABLE]["deleted"]
        store.notify(ANY_TABLE, "")
        await known.until(lambda: known.values == {"kept": b"1", "changed": b"2", "added": b"3"})


@pytest.mark.parametrize("table", [TABLE, ANY_TABLE])
async def test_rows_that_cannot_be_read_are_read_again(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse_gateway.store.table_follower.RETRY", 0.0)
    store = MemoryStore()
    known = Known(store)
    async with known.follower.running():
        store.error = StoreError("the server is away")
        store.put(TABLE, "a", b"1")
        store.notify(table, "a")
        await asyncio.sleep(0)
        assert known.values == {}
        store.error = None
        await known.until(lambda: known.values == {"a": b"1"})


async def test_a_failed_first_read_is_raised_and_leaves_no_listener() -> None:
    store = MemoryStore()
    known = Known(store)
    store.error = StoreError("the server is away")
    with pytest.raises(StoreError, match="away"):
        async with known.follower.running():
            pass
    store.error = None
    store.put(TABLE, "a", b"1")
    store.notify(ANY_TABLE, "")
    assert known.values == {}


async def test_a_copy_is_current_after_changes_and_reloads_that_overlap() -> None:
    store = MemoryStore()
    known = Known(store)
    async with known.follower.running():
        for number in range(50):
            if number % 3 == 0:
                known.follower.reload()
            await store.write(Put(TABLE, str(number), b"1", ABSENT))
            async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
                tasks.create_task(known.follower.current())
                await asyncio.sleep(0)
                known.follower.reload()
                tasks.create_task(known.follower.current())
            assert len(known.values) == number + 1


async def test_a_copy_that_cannot_be_read_is_not_current() -> None:
    store = MemoryStore()
    known = Known(store)
    async with known.follower.running():
        store.error = StoreError("the server is away")
        store.notify(TABLE, "a")
        with pytest.raises(StoreError, match="away"):
            await known.follower.current()
