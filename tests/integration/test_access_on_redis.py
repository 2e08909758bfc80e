"""Two gateways that share a Redis server have the same credentials and owners."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.open_connections import OpenConnections
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.store.clock import Moment
from hawse_gateway.store.redis import RedisStore
from tests.support.redis import redis_server
from tests.support.waiting import TIMEOUT

SECRET = "the token of the owner"
ADA = Principal(id="ada", name="", kind="user", rights=("operate/~",))


@asynccontextmanager
async def gateway(url: str) -> AsyncIterator[tuple[Credentials, SandboxIndex, RedisStore]]:
    store = RedisStore(url)
    async with asyncio.TaskGroup() as tasks:
        changes = tasks.create_task(store.run())
        async with Credentials(SECRET, store).running() as credentials, SandboxIndex(store).running() as owners:
            yield credentials, owners, store
        changes.cancel()
    await store.close()


async def until(condition: Callable[[], object]) -> None:
    """Poll until the other gateway has received a change, which no event reports."""
    async with asyncio.timeout(TIMEOUT):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_revocation_at_one_gateway_ends_what_is_open_at_the_other(tmp_path: Path) -> None:
    async with (
        redis_server(tmp_path) as url,
        gateway(url) as (first, first_owners, store),
        gateway(url) as (second, second_owners, _),
    ):
        owner = first.find(SECRET)
        assert owner is not None
        token, row = await first.create("token", ADA, owner)
        await until(lambda: second.find(token))
        connections, ended = OpenConnections(expiry=second.expiry), asyncio.Event()
        second.subscribe(connections.end)
        identity = second.find(token)
        assert identity is not None
        with connections.hold(identity, "127.0.0.1:1", ended.set):
            await first.revoke(row.id)
            async with asyncio.timeout(TIMEOUT):
                await ended.wait()
        assert second.find(token) is None
        now = Moment(0.0, "", 0.0)
        record = SandboxRecord(
            id="ada.x", unit="ada.x", provider="", spec=SandboxSpec(), wanted="stopped", generation="", created=now
        )
        await store.write(records.new(msgspec.structs.replace(record, owner="ada")))
        await until(lambda: first_owners.owns(ADA, "ada.x") and second_owners.owns(ADA, "ada.x"))
