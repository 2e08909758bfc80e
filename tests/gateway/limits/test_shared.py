"""Gateways on one Redis server enforce limits jointly, and separately while the server is down."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from hawse.wire import HawseError, Principal
from hawse_gateway.limits.calls import CallRates
from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.limits.quotas import HeldLimit, Quotas
from hawse_gateway.limits.rates import REPORT
from hawse_gateway.limits.shared import SharedLimits
from hawse_gateway.store.redis import RedisStore
from tests.support.gateway import eventually
from tests.support.redis import RedisServer, redis_server

HERE = "192.0.2.7:1000"
USER = Principal(id="ann", name="", kind="user", rights=("view",), credential="token-1")
BURST = 1000
QUOTAS = Quotas.parse(["user:connections=2", "user:calls=1"])


class Site:
    """The limits of one gateway."""

    def __init__(self) -> None:
        self.failed_attempts = FailedAttempts(3, 1e-6)
        self.calls = CallRates(QUOTAS, burst=BURST)
        self.connections = HeldLimit(QUOTAS)


@asynccontextmanager
async def gateways(url: str, count: int = 2, forget: float = 6.0) -> AsyncIterator[list[Site]]:
    store = RedisStore(url)
    assert store.limits is not None
    sites = [Site() for _ in range(count)]
    async with asyncio.TaskGroup() as tasks:
        running = []
        for number, site in enumerate(sites):
            shared = SharedLimits(
                store.limits,
                f"gateway-{number}",
                tables={"calls:user": site.calls.tables["user"]},
                held=[site.connections],
                failed_attempts=site.failed_attempts,
                period=0.01,
                forget=forget,
            )
            running.append(tasks.create_task(shared.run()))
        yield sites
        for task in running:
            task.cancel()
    await store.close()


def refused(check: Callable[[], object]) -> bool:
    try:
        check()
    except HawseError as error:
        return error.code == "limit_exceeded"
    return False


async def test_wrong_credentials_of_an_address_count_at_all_gateways(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, Redis.from_url(url) as redis, gateways(url) as (first, second):
        for _ in range(3):
            first.failed_attempts.check(HERE, None)
        async with asyncio.timeout(20):
            while await redis.get("hawse:limits:guesses:192.0.2.7") is None:  # noqa: ASYNC110  # Redis is asked
                await asyncio.sleep(0)
        second.failed_attempts.check(HERE, None)  # this gateway has counted none: the exchange corrects that
        await eventually(lambda: second.failed_attempts.wrong.wait("192.0.2.7") > 0)
        assert refused(lambda: second.failed_attempts.check(HERE, None))
        assert not refused(lambda: second.failed_attempts.check("192.0.2.8:1", None)), "another address"


async def test_a_credential_that_was_used_at_another_gateway_is_not_locked_out(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, gateways(url) as (first, second):
        first.failed_attempts.check(HERE, "token-1")
        for _ in range(3):
            second.failed_attempts.check(HERE, None)
        assert refused(lambda: second.failed_attempts.check(HERE, "token-2"))
        await eventually(lambda: not refused(lambda: second.failed_attempts.check(HERE, "token-1")))
        assert refused(lambda: second.failed_attempts.check(HERE, "token-2"))


async def test_connections_are_limited_over_all_gateways_and_can_be_opened_again(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, gateways(url) as (first, second):
        with ExitStack() as held:
            held.enter_context(first.connections.hold(USER, HERE))
            held.enter_context(first.connections.hold(USER, HERE))
            await eventually(lambda: refused(lambda: second.connections.check(USER, HERE)))
        await eventually(lambda: not refused(lambda: second.connections.check(USER, HERE)))


async def test_holdings_of_an_ended_gateway_do_not_count(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, Redis.from_url(url) as redis:
        with ExitStack() as held:
            async with gateways(url, 1) as (site,), asyncio.timeout(20):
                held.enter_context(site.connections.hold(USER, HERE))
                while not await redis.hgetall("hawse:limits:held"):  # noqa: ASYNC110  # Redis is asked
                    await asyncio.sleep(0)
        assert await redis.hgetall("hawse:limits:held") == {}


async def test_calls_count_at_all_gateways_with_few_operations(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as url, Redis.from_url(url) as redis, gateways(url) as sites:
        made = 0
        while made < 2 * BURST and any(not refused(lambda: site.calls.check(USER, HERE)) for site in sites):  # noqa: B023
            made += 1
            await redis.ping()  # it also serves the exchange then
        assert made < 1.5 * BURST, "each gateway alone would allow as many"
        operations = (await redis.info("commandstats"))["cmdstat_eval"]["calls"]
        assert operations <= made / (BURST * REPORT) + 2, "one for that many calls, and one for each gateway"


async def test_without_redis_each_gateway_counts_alone(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    await server.start()
    try:
        async with gateways(server.url, forget=0.0) as (first, second):
            with first.connections.hold(USER, HERE), first.connections.hold(USER, HERE):
                await eventually(lambda: refused(lambda: second.connections.check(USER, HERE)))
                await server.kill()
                await eventually(lambda: not refused(lambda: second.connections.check(USER, HERE)))
                assert refused(lambda: first.connections.check(USER, HERE))
                for _ in range(3):
                    first.failed_attempts.check(HERE, None)
                with pytest.raises(HawseError, match="too many wrong tokens"):
                    first.failed_attempts.check(HERE, None)
                await server.start()
                await eventually(lambda: refused(lambda: second.connections.check(USER, HERE)))
    finally:
        await server.kill()
