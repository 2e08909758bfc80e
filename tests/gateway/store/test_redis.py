"""Behaviour specific to the Redis store: several gateways, and an unreachable server."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from hawse_gateway.store.base import ANY_TABLE, ConflictError, Put, StoreError
from hawse_gateway.store.redis import RedisStore
from tests.support.redis import redis_server
from tests.support.waiting import TIMEOUT


async def test_a_change_of_one_gateway_is_reported_to_another(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, asyncio.TaskGroup() as tasks:
        first, second = RedisStore(url), RedisStore(url)
        running = tasks.create_task(second.run())
        await second.ready()
        seen: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        second.listen(lambda table, key: seen.put_nowait((table, key)))
        version = await first.write(Put("t", "a", b"1"))
        async with asyncio.timeout(20):
            assert await seen.get() == ("t", "a")
        assert await second.get("t", "a") == (b"1", version)
        with pytest.raises(ConflictError):
            await second.write(Put("t", "a", b"2"))
        running.cancel()
        await first.close()
        await second.close()


async def test_another_gateways_changes_are_reported_before_the_store_is_synced(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, asyncio.TaskGroup() as tasks:
        first, second = RedisStore(url), RedisStore(url)
        running = tasks.create_task(second.run())
        seen: list[tuple[str, str]] = []
        second.listen(lambda table, key: seen.append((table, key)))
        for number in range(100):
            await first.write(Put("t", str(number), b""))
            await second.synced()
            assert seen[-1] in (("t", str(number)), (ANY_TABLE, ""))
        running.cancel()
        await first.close()
        await second.close()


async def test_a_store_that_does_not_receive_changes_cannot_be_synced(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        store = RedisStore(url, timeout=0.1)
        with pytest.raises(StoreError, match="changes are not being reported"):
            await store.synced()
        await store.close()


async def test_one_of_several_gateways_gets_a_lease(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        stores = [RedisStore(url) for _ in range(5)]
        leases = await asyncio.gather(*(store.acquire("work", str(i), 60) for i, store in enumerate(stores)))
        assert len([lease for lease in leases if lease is not None]) == 1
        await asyncio.gather(*(store.close() for store in stores))


async def test_operations_wait_for_a_connection_when_there_are_many(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        store = RedisStore(url, timeout=TIMEOUT)  # the last ones wait for all others
        version = await store.write(Put("t", "a", b"1"))
        found = await asyncio.gather(*(store.get("t", "a") for _ in range(2000)))
        assert set(found) == {(b"1", version)}
        await store.close()


async def test_two_prefixes_share_nothing(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        first, second = RedisStore(url), RedisStore(url, prefix="other:")
        await first.write(Put("t", "a", b"1"))
        assert await second.rows("t") == {}
        await first.close()
        await second.close()


async def test_a_value_is_kept_as_it_is(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        store = RedisStore(url)
        value = bytes(range(256)) + b" 12 "
        version = await store.write(Put("t", "k\u00e9y", value))
        assert await store.rows("t") == {"k\u00e9y": (value, version)}
        await store.close()


async def test_a_server_that_is_not_there_or_hangs_is_an_error_of_the_store(tmp_path: Path) -> None:
    missing = RedisStore(f"unix://{tmp_path}/missing")
    with pytest.raises(StoreError, match="redis"):
        await missing.get("t", "a")
    await missing.close()
    async with redis_server(tmp_path) as url:
        store = RedisStore(url)
        await store.write(Put("t", "a", b"1"))
        impatient = RedisStore(url, timeout=0.1)
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreError, match="redis"):
                await impatient.write(Put("t", "b", b"1"))
        finally:
            os.kill(pid, signal.SIGCONT)
            await impatient.close()
        assert await store.get("t", "a") is not None
        await store.close()


async def test_a_task_that_repeats_operations_ends_wherever_it_is_cancelled(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url:
        store = RedisStore(url)
        await store.get("t", "a")  # it is connected

        async def repeat() -> None:
            while True:
                await store.get("t", "a")

        for steps in range(60):  # an operation takes fewer
            async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
                task = tasks.create_task(repeat())
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
        await store.close()
