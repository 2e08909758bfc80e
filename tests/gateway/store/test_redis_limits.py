"""Gateways on one Redis server exchange counts for their limits."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from redis.asyncio import Redis

from hawse_gateway.store.base import BucketSpending, LimitStore, StoreError
from hawse_gateway.store.redis import RedisStore
from tests.support.redis import redis_server


class Server(NamedTuple):
    limits: LimitStore
    redis: Redis


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with redis_server(tmp_path) as url, Redis.from_url(url) as redis:
        store = RedisStore(url)
        yield Server(store.limits, redis)
        await store.close()


async def level(limits: LimitStore, gateway: str, amount: float, rate: float = 1e-6) -> float:
    answer = await limits.share(gateway, b"", [], [], [BucketSpending("calls:user:ada", rate, 10.0, amount)])
    return answer.levels[0]


async def test_a_bucket_has_the_remainder_at_all_gateways(server: Server) -> None:
    assert await level(server.limits, "a", 4) == pytest.approx(6, abs=0.01)
    assert await level(server.limits, "b", 3) == pytest.approx(3, abs=0.01)
    assert await level(server.limits, "b", 9) == pytest.approx(-6, abs=0.01), "a debt is kept"


async def test_a_bucket_is_refilled_by_the_clock_of_the_server_and_its_key_expires_when_it_is_full(
    server: Server,
) -> None:
    assert await level(server.limits, "a", 10, rate=1000) == pytest.approx(0, abs=0.01)
    left = await server.redis.pttl("hawse:limits:calls:user:ada")
    assert 0 < left <= 1011
    await server.redis.set("hawse:limits:calls:user:ada", b"-5.0 1000")  # long ago
    assert await level(server.limits, "a", 0, rate=1000) == 10


async def test_holdings_are_known_to_the_others_until_a_gateway_ends_or_stops_reporting(server: Server) -> None:
    async def share(gateway: str, held: bytes = b"") -> list[bytes]:
        return (await server.limits.share(gateway, held, [], [], [])).held

    assert await share("a", b"[1] 2") == []
    assert await share("b", b"[2]") == [b"[1] 2"]
    assert sorted(await share("c")) == [b"[1] 2", b"[2]"]
    assert await share("a") == [b"[2]"]
    assert await share("c") == [b"[2]"]
    await server.redis.hset("hawse:limits:held", "b", b"1000 [2]")  # its report is old
    assert await share("c") == []
    assert await server.redis.hgetall("hawse:limits:held") == {}


async def test_a_credential_that_an_address_has_used_is_known_for_a_day(server: Server) -> None:
    await server.limits.share("a", b"", ["192.0.2.1 token-1"], [], [])
    asked = ["192.0.2.2 token-1", "192.0.2.1 token-1"]
    assert (await server.limits.share("b", b"", [], asked, [])).known == [False, True]
    assert 86_000 < await server.redis.ttl("hawse:limits:known:192.0.2.1 token-1") <= 86_400


async def test_without_a_server_the_exchange_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = RedisStore(f"unix://{tmp_path}/missing")
    with pytest.raises(StoreError, match="redis"):
        await store.limits.share("a", b"", [], [], [])
    await store.close()
