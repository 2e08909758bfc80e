"""Two gateways that share a Redis server have the same tunnels, and no name or port twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import ABSENT, ConflictError, Put
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from tests.support.redis import redis_server
from tests.support.waiting import TIMEOUT


@asynccontextmanager
async def gateway(url: str) -> AsyncIterator[tuple[TunnelTable, RedisStore]]:
    store = RedisStore(url)
    async with asyncio.TaskGroup() as tasks:
        changes = tasks.create_task(store.run())
        async with TunnelTable(store).running() as table:
            yield table, store
        changes.cancel()
    await store.close()


async def test_a_tunnel_of_one_gateway_is_at_the_other_until_it_is_removed(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, gateway(url) as (first, store), gateway(url) as (second, _):
        await store.write(Put(SANDBOXES, "box", b'{"generation":"g"}', ABSENT))
        assert await first.generation("box") == await second.generation("box") == "g"
        now = first.clock.now()
        shop = TunnelRecord(name="shop", sandbox="box", generation="g", port=80, created=now)
        tcp = TunnelRecord(name="tcp-20000", sandbox="box", generation="g", port=22, created=now, kind="tcp")
        changed, ended = asyncio.Event(), asyncio.Event()
        stop = second.listen(changed.set)
        await first.put(shop)
        async with asyncio.timeout(TIMEOUT):
            await changed.wait()
            while second.find("shop") is None:  # noqa: ASYNC110  # other changes are announced as well
                await asyncio.sleep(0.01)
        stop()

        outcomes = await asyncio.gather(
            first.put(tcp),
            second.put(TunnelRecord(name="tcp-20000", sandbox="box", generation="g", port=23, created=now, kind="tcp")),
            return_exceptions=True,
        )
        assert sorted(map(type, outcomes), key=str) == sorted([type(None), ConflictError], key=str)
        with pytest.raises(ConflictError):
            await second.put(TunnelRecord(name="shop", sandbox="box", generation="g", port=81, created=now))

        with second.hold("shop", ended.set):
            await first.remove(shop)
            async with asyncio.timeout(TIMEOUT):
                await ended.wait()
        assert second.find("shop") is None
