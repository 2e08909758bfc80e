"""Tunnels exist with their sandbox, until they expire, at several gateways."""

import asyncio
from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from hawse.wire import HawseError
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import ConflictError, Delete, Store, StoreError
from hawse_gateway.store.clock import Clock
from hawse_gateway.tunnels.table import TABLE, TunnelRecord, TunnelTable
from tests.support.stores import MemoryStore
from tests.support.waiting import TIMEOUT


class Time:
    """A clock whose time a test sets."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.clock = Clock(wall=lambda: self.seconds, uptime=lambda: self.seconds, boot="b")


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    add_sandbox(store, "box", "g1")
    return store


def add_sandbox(store: MemoryStore, id: str, generation: str, *, pool: bool = False) -> None:
    store.put(SANDBOXES, id, msgspec.json.encode({"generation": generation, "pool": pool}))
    store.notify(SANDBOXES, id)


def table_of(store: MemoryStore, clock: Clock | None = None) -> TunnelTable:
    return TunnelTable(cast(Store, store), clock)


def record(name: str = "shop", *, generation: str = "g1", port: int = 80, lasts: float | None = None) -> TunnelRecord:
    now = Clock(wall=lambda: 1000.0, uptime=lambda: 1000.0, boot="b").now()
    expires = None if lasts is None else now.after(lasts)
    return TunnelRecord(
        name=name, sandbox="box", generation=generation, port=port, created=now, expires=expires, owner="ada"
    )


async def until(condition: Callable[[], object]) -> None:
    """Wait for what the tasks of a table do: nothing announces that."""
    async with asyncio.timeout(TIMEOUT):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_tunnel_is_found_by_its_name_also_by_another_gateway_and_after_a_restart(store: MemoryStore) -> None:
    async with table_of(store).running() as first, table_of(store).running() as second:
        await first.put(record())
        assert first.find("shop") == record()
        await until(lambda: second.find("shop") == record())
        assert second.of("box") == [record()]
        assert (second.count(), second.count("ada"), second.count("eve")) == (1, 1, 0)
    async with table_of(store).running() as third:
        assert third.find("shop") == record()
        assert third.find("other") is None


async def test_a_name_has_one_tunnel(store: MemoryStore) -> None:
    clock = Time().clock
    async with table_of(store, clock).running() as first, table_of(store, clock).running() as second:
        await first.put(record())
        with pytest.raises(ConflictError):
            await second.put(record(port=81))
        await second.put(record(lasts=60.0))  # the same tunnel with another expiry
        await until(lambda: first.find("shop") == record(lasts=60.0))


async def test_a_tunnel_ends_at_its_time_with_its_connections(store: MemoryStore) -> None:
    time = Time()
    async with table_of(store, time.clock).running() as table:
        await table.put(record(lasts=60.0))
        ended: list[str] = []
        with table.hold("shop", lambda: ended.append("shop")):
            assert table.connections("shop") == 1
            time.seconds += 61
            assert table.find("shop") is None
            assert table.of("box") == []
            await table.put(record("other"))  # anything that happens makes it look at the clock
            await until(lambda: ended)
        await until(lambda: list(store.tables[TABLE]) == ["other"])
        assert table.connections("shop") == 0


async def test_a_name_of_an_ended_tunnel_is_free_at_once(store: MemoryStore) -> None:
    time = Time()
    async with table_of(store, time.clock).running() as table:
        await table.put(record(lasts=60.0))
        time.seconds += 61
        await table.put(record(port=81))
        assert table.find("shop") == record(port=81)


async def test_it_ends_by_itself_when_its_time_has_come(store: MemoryStore) -> None:
    clock = Clock()
    async with table_of(store, clock).running() as table:
        now = clock.now()
        await table.put(msgspec.structs.replace(record(), created=now, expires=now.after(0.01)))
        await until(lambda: not store.tables[TABLE])


async def test_a_removed_tunnel_ends_its_connections_at_all_gateways(store: MemoryStore) -> None:
    async with table_of(store).running() as first, table_of(store).running() as second:
        await first.put(record())
        await until(lambda: second.find("shop"))
        ended: list[int] = []
        with second.hold("shop", lambda: ended.append(1)), second.hold("shop", lambda: ended.append(2)):
            await first.remove(record())
            assert first.find("shop") is None
            await until(lambda: len(ended) == 2)
        await first.remove(record())  # nothing happens


async def test_another_expiry_ends_no_connection(store: MemoryStore) -> None:
    async with table_of(store, Time().clock).running() as table:
        await table.put(record())
        ended: list[int] = []
        with table.hold("shop", lambda: ended.append(1)):
            await table.put(record(lasts=60.0))
            assert (table.connections("shop"), ended) == (1, [])


async def test_a_tunnel_ends_with_its_sandbox(store: MemoryStore) -> None:
    async with table_of(store).running() as table:
        await table.put(record())
        row = await store.get(SANDBOXES, "box")
        assert row is not None
        await store.write(Delete(SANDBOXES, "box", row.version))
        await until(lambda: not store.tables[TABLE])
        assert table.find("shop") is None
        assert await table.generation("box") is None


async def test_a_tunnel_ends_when_its_sandbox_starts_to_end(store: MemoryStore) -> None:
    async with table_of(store).running() as table:
        await table.put(record())
        ended: list[str] = []
        with table.hold("shop", lambda: ended.append("shop")):
            store.put(SANDBOXES, "box", msgspec.json.encode({"generation": "g1", "wanted": "deleted"}))
            store.notify(SANDBOXES, "box")
            await until(lambda: ended)
            assert (table.find("shop"), await table.generation("box")) == (None, None)
        await until(lambda: not store.tables[TABLE])
    store.put(SANDBOXES, "box", msgspec.json.encode({"generation": "g1", "wanted": "stopped"}))
    async with table_of(store).running() as table:
        assert await table.generation("box") == "g1", "a sandbox that is stopped keeps its tunnels"


async def test_a_later_sandbox_with_the_same_id_does_not_get_it(store: MemoryStore) -> None:
    async with table_of(store).running() as table:
        await table.put(record())
        add_sandbox(store, "box", "g2")
        await until(lambda: not store.tables[TABLE])
        assert await table.generation("box") == "g2"
        assert table.find("shop") is None


async def test_a_tunnel_of_a_sandbox_that_another_gateway_has_created_just_now_stays(store: MemoryStore) -> None:
    async with table_of(store).running() as table:
        # Without a notification, as if the changes of the two tables arrived in the other order.
        store.put(SANDBOXES, "new", msgspec.json.encode({"generation": "g9"}))
        new = msgspec.structs.replace(record("fresh", generation="g9"), sandbox="new")
        store.put(TABLE, "fresh", msgspec.json.encode(new))
        store.notify(TABLE, "fresh")
        await until(lambda: table.find("fresh"))
        assert "fresh" in store.tables[TABLE]


async def test_a_tunnel_of_a_sandbox_that_another_gateway_has_created_just_now_is_not_replaced(
    store: MemoryStore,
) -> None:
    async with table_of(store).running() as table:
        store.put(SANDBOXES, "new", msgspec.json.encode({"generation": "g9"}))  # without a notification
        new = msgspec.structs.replace(record("fresh", generation="g9"), sandbox="new", owner="bob")
        store.put(TABLE, "fresh", msgspec.json.encode(new))
        with pytest.raises(ConflictError):
            await table.put(record("fresh"))
        assert table.find("fresh") == new


async def test_a_sandbox_of_the_pool_does_not_exist(store: MemoryStore) -> None:
    add_sandbox(store, "spare", "g", pool=True)
    async with table_of(store).running() as table:
        assert await table.generation("spare") is None


async def test_a_row_of_a_later_version_is_left_alone(store: MemoryStore) -> None:
    store.put(TABLE, "shop", b'{"name": 1}')
    async with table_of(store).running() as table:
        assert table.find("shop") is None
        with pytest.raises(ConflictError):
            await table.put(record())
        assert "shop" in store.tables[TABLE]


async def test_a_store_that_fails_is_an_error_of_the_call(store: MemoryStore) -> None:
    async with table_of(store).running() as table:
        store.error = StoreError("full")
        with pytest.raises(HawseError) as raised:
            await table.put(record())
        assert raised.value.code == "unavailable"
        store.error = None
