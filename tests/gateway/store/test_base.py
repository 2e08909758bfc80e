"""The guarantees of every store: one suite for all of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse_gateway.store.base import ABSENT, ConflictError, Delete, LeaseLostError, Put, Store
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.redis import redis_server
from tests.support.waiting import TIMEOUT


@pytest.fixture(params=["sqlite", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "sqlite":
        opened = SqliteStore(tmp_path / "store.db")
        yield opened
        await opened.close()
        return
    async with redis_server(tmp_path) as url, asyncio.TaskGroup() as tasks:
        shared = RedisStore(url)
        running = tasks.create_task(shared.run())
        await shared.ready()
        yield shared
        running.cancel()
        await shared.close()


async def test_a_row_is_written_read_and_deleted(store: Store) -> None:
    assert await store.get("t", "a") is None
    version = await store.write(Put("t", "a", b"1"))
    row = await store.get("t", "a")
    assert row == (b"1", version)
    await store.write(Delete("t", "a", version))
    assert await store.get("t", "a") is None


async def test_a_table_lists_its_own_rows_by_key(store: Store) -> None:
    await store.write(Put("t", "b", b"2"), Put("t", "a", b"1"), Put("other", "c", b"3"))
    assert {key: row.value for key, row in (await store.rows("t")).items()} == {"a": b"1", "b": b"2"}
    assert await store.rows("empty") == {}


async def test_many_rows_are_read_by_their_keys_counted_and_paged(store: Store) -> None:
    keys = [f"{number:04}" for number in range(1000)]
    await store.write(*(Put("t", key, key.encode()) for key in keys), Put("other", "c", b"3"))
    some = await store.get_many("t", ["0001", "unknown", "c", "0000"])
    assert {key: row.value for key, row in some.items()} == {"0000": b"0000", "0001": b"0001"}
    assert await store.get_many("t", []) == {}
    assert (await store.count("t"), await store.count("empty")) == (len(keys), 0)
    pages = [page async for page in store.pages("t")]
    assert {key: row.value for page in pages for key, row in page.items()} == {key: key.encode() for key in keys}
    assert len(pages) > 1
    assert list(await store.rows("t")) == keys


async def test_changes_are_reported_before_the_store_is_synced(store: Store) -> None:
    seen: list[tuple[str, str]] = []
    store.listen(lambda table, key: seen.append((table, key)))
    for number in range(100):
        await store.write(Put("t", str(number), b""))
        await store.synced()
        assert seen[-1] == ("t", str(number))


async def test_a_write_of_a_row_that_has_changed_is_refused(store: Store) -> None:
    first = await store.write(Put("t", "a", b"1"))
    second = await store.write(Put("t", "a", b"2", first))
    assert second > first
    for change in (Put("t", "a", b"3", first), Put("t", "a", b"3", ABSENT), Delete("t", "a", first)):
        with pytest.raises(ConflictError):
            await store.write(change)
    assert await store.get("t", "a") == (b"2", second)


async def test_a_row_that_was_deleted_and_created_again_has_another_version(store: Store) -> None:
    first = await store.write(Put("t", "a", b"1"))
    await store.write(Delete("t", "a", first))
    await store.write(Put("t", "a", b"1"))
    with pytest.raises(ConflictError):
        await store.write(Put("t", "a", b"2", first))


async def test_changes_are_written_together_or_not_at_all(store: Store) -> None:
    version = await store.write(Put("t", "a", b"1"))
    with pytest.raises(ConflictError):
        await store.write(Put("t", "b", b"1"), Put("t", "a", b"2", version + 100))
    assert list(await store.rows("t")) == ["a"]


async def test_of_concurrent_writers_of_a_new_row_one_succeeds(store: Store) -> None:
    outcomes = await asyncio.gather(
        *(store.write(Put("t", "a", str(i).encode())) for i in range(50)), return_exceptions=True
    )
    assert len([outcome for outcome in outcomes if isinstance(outcome, int)]) == 1
    assert len([outcome for outcome in outcomes if isinstance(outcome, ConflictError)]) == 49


async def test_a_lease_has_one_holder_until_it_is_released(store: Store) -> None:
    first = await store.acquire("work", "a", 60)
    assert first is not None
    assert await store.acquire("work", "b", 60) is None
    assert await store.acquire("work", "a", 60) is None
    assert await store.acquire("other", "b", 60) is not None
    await store.release(first)
    second = await store.acquire("work", "b", 60)
    assert second is not None
    assert second.epoch > first.epoch


async def test_of_concurrent_callers_one_gets_the_lease(store: Store) -> None:
    leases = await asyncio.gather(*(store.acquire("work", str(i), 60) for i in range(20)))
    assert len([lease for lease in leases if lease is not None]) == 1


async def test_a_write_with_a_lease_that_was_taken_over_is_refused(store: Store) -> None:
    lease = await store.acquire("work", "a", 60)
    assert lease is not None
    version = await store.write(Put("t", "a", b"1"), lease=lease)
    await store.release(lease)
    await store.acquire("work", "b", 60)
    with pytest.raises(LeaseLostError):
        await store.write(Put("t", "a", b"2", version), lease=lease)
    assert not await store.renew(lease, 60)
    await store.release(lease)  # does not end the lease of the other holder
    assert await store.acquire("work", "c", 60) is None
    assert await store.get("t", "a") == (b"1", version)


async def test_an_expired_lease_is_given_to_the_next_holder_and_cannot_be_renewed(store: Store) -> None:
    lease = await store.acquire("work", "a", 0.001)
    assert lease is not None
    async with asyncio.timeout(TIMEOUT):
        while (after := await store.acquire("work", "b", 60)) is None:  # noqa: ASYNC110  # expiry is not reported
            await asyncio.sleep(0)
    assert after.epoch > lease.epoch
    assert not await store.renew(lease, 60)


async def test_a_renewed_lease_is_kept(store: Store) -> None:
    lease = await store.acquire("work", "a", 60)
    assert lease is not None
    assert await store.renew(lease, 60)
    assert await store.acquire("work", "b", 60) is None


async def test_listeners_are_called_after_a_change_and_after_the_end_of_a_lease(store: Store) -> None:
    seen: list[tuple[str, str]] = []
    changed = asyncio.Event()

    def note(table: str, key: str) -> None:
        seen.append((table, key))
        changed.set()

    async def until(item: tuple[str, str]) -> None:
        async with asyncio.timeout(TIMEOUT):
            while item not in seen:
                changed.clear()
                await changed.wait()

    stop = store.listen(note)
    version = await store.write(Put("t", "a", b"1"))
    await until(("t", "a"))
    lease = await store.acquire("work", "a", 60)
    assert lease is not None
    await store.release(lease)
    await until(("leases", "work"))
    stop()
    stop()
    seen.clear()
    await store.write(Delete("t", "a", version))
    assert seen == []


async def test_a_store_for_several_gateways_has_a_clock(store: Store) -> None:
    first, second = await store.time(), await store.time()
    if store.limits is None:
        assert first is None
    else:
        assert first is not None
        assert second is not None
        assert first <= second
