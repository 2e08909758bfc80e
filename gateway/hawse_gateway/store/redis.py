"""The store for several gateways on a Redis server. Each operation is a script that Redis runs atomically.

A table is a hash of rows, with the version at the start of each value. A lease is a key with an expiry time. The Redis
server's clock alone determines when a lease expires, not the gateways' clocks.
"""

import asyncio
import itertools
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from redis.exceptions import RedisError

from hawse_gateway.core.cancellation import cancellation_kept
from hawse_gateway.store.base import (
    ANY_TABLE,
    PAGE,
    Change,
    ConflictError,
    Lease,
    LeaseLostError,
    Put,
    Row,
    StoreBase,
    StoreError,
)
from hawse_gateway.store.operations import StoreOperations
from hawse_gateway.store.redis_client import open_redis, open_subscriber
from hawse_gateway.store.redis_limits import RedisLimits

log = logging.getLogger(__name__)

T = TypeVar("T")

LEASES: Final = "leases"  # the table name passed to listeners when a lease is released
TIMEOUT: Final = 5.0  # seconds to wait for the server to respond
CONNECTIONS: Final = 32  # maximum connections per gateway; when all are in use, operations wait up to `TIMEOUT`
RETRY: Final = 1.0  # seconds to wait before resubscribing to changes

# ARGV: prefix, lease name and value (both empty without a lease); then for each change: table, key, version to replace,
# "put" or "delete", value. Returns the new version, -1 if the lease is lost, or -2 and the row if there is a conflict.
WRITE: Final = """
local prefix = ARGV[1]
if ARGV[2] ~= '' and redis.call('GET', prefix .. 'lease:' .. ARGV[2]) ~= ARGV[3] then return {-1} end
for i = 4, #ARGV, 5 do
  local found = redis.call('HGET', prefix .. 'rows:' .. ARGV[i], ARGV[i + 1])
  local version = found and string.match(found, '^%d+') or '0'
  if version ~= ARGV[i + 2] then return {-2, ARGV[i], ARGV[i + 1], version} end
end
local version = redis.call('INCR', prefix .. 'version')
for i = 4, #ARGV, 5 do
  local rows = prefix .. 'rows:' .. ARGV[i]
  if ARGV[i + 3] == 'put' then
    redis.call('HSET', rows, ARGV[i + 1], version .. ' ' .. ARGV[i + 4])
  else
    redis.call('HDEL', rows, ARGV[i + 1])
  end
  redis.call('PUBLISH', prefix .. 'changes', ARGV[i] .. ' ' .. ARGV[i + 1])
end
return {version}
"""
# ARGV: prefix, name, holder, milliseconds. Returns the epoch, or 0 if another lease is still valid.
ACQUIRE: Final = """
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('EXISTS', key) == 1 then return 0 end
local epoch = redis.call('INCR', ARGV[1] .. 'version')
redis.call('SET', key, epoch .. ' ' .. ARGV[3], 'PX', ARGV[4])
return epoch
"""
# ARGV: prefix, name, value, milliseconds. Returns 1 if the lease is held.
RENEW: Final = """
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) ~= ARGV[3] then return 0 end
return redis.call('PEXPIRE', key, ARGV[4])
"""
# ARGV: prefix, name, value.
RELEASE: Final = """
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) ~= ARGV[3] then return 0 end
redis.call('DEL', key)
redis.call('PUBLISH', ARGV[1] .. 'changes', 'leases ' .. ARGV[2])
return 1
"""


class RedisStore(StoreBase):
    """A store on a Redis server. The constructor doesn't connect.

    Args:
        url: `redis://[:PASSWORD@]HOST:PORT/DB`, `rediss://` for TLS, `unix://PATH`, or `redis+sentinel://…` for the
            primary known to Redis Sentinel (`hawse_gateway.store.redis_client`).
        prefix: The prefix for all keys.
        timeout: Seconds to wait for a response from the server.
        operations: Measures the operations.

    Raises:
        ValueError: The URL is invalid.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "hawse:",
        timeout: float = TIMEOUT,
        operations: StoreOperations | None = None,
    ) -> None:
        super().__init__()
        self._operations = operations or StoreOperations()
        self._redis = open_redis(url, connections=CONNECTIONS, timeout=timeout)
        self._subscriber = open_subscriber(url, timeout=timeout)
        self._prefix = prefix
        self._timeout = timeout
        self.limits = RedisLimits(self._run)
        self._listening = asyncio.Event()
        self._marks = f"{prefix}marks:{secrets.token_hex(8)}"  # the name of a channel that only this object uses
        self._numbers = itertools.count(1)
        self._unseen: dict[int, asyncio.Event] = {}  # events for sent marks, set on receipt

    async def get(self, table: str, key: str) -> Row | None:
        found = await self._ask(cast(Awaitable[bytes | None], self._redis.hget(self._rows(table), key)))
        return None if found is None else _row(found)

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        if not keys:
            return {}
        encoded = [key.encode() for key in keys]  # faster than letting redis-py encode strings
        found = await self._ask(cast(Awaitable[list[bytes | None]], self._redis.hmget(self._rows(table), encoded)))
        return {key: _row(value) for key, value in zip(keys, found, strict=True) if value is not None}

    async def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        cursor = None
        while cursor != 0:
            answer = cast(
                Awaitable[tuple[int, dict[bytes, bytes]]],
                self._redis.hscan(self._rows(table), cursor or 0, count=PAGE),
            )
            cursor, found = await self._ask(answer)
            yield {key.decode(): _row(value) for key, value in found.items()}

    async def count(self, table: str) -> int:
        return await self._ask(self._redis.hlen(self._rows(table)))

    async def synced(self) -> None:
        """Send a mark through Redis, and wait until it returns. Redis delivers the mark after all earlier changes."""
        mark = next(self._numbers)
        seen = self._unseen[mark] = asyncio.Event()
        try:
            async with asyncio.timeout(self._timeout):
                await self._listening.wait()
                await self._ask(self._redis.publish(self._marks, mark))
                await seen.wait()
        except TimeoutError:
            raise StoreError("redis: changes are not being reported") from None
        finally:
            del self._unseen[mark]

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        held = ("", "") if lease is None else (lease.name, _value(lease))
        arguments: list[str | bytes | int] = [*held]
        for change in changes:
            value = change.value if isinstance(change, Put) else b""
            kind = "put" if isinstance(change, Put) else "delete"
            arguments += [change.table, change.key, change.version, kind, value]
        answer = await self._run(WRITE, *arguments)
        if answer[0] == -1:
            raise LeaseLostError(f"the lease {held[0]} is no longer held")
        if answer[0] == -2:
            table, key, version = (part.decode() for part in answer[1:])
            raise ConflictError(f"row {key} of {table} has version {version}, not the expected one")
        return int(answer[0])

    async def time(self) -> float:
        seconds, microseconds = await self._ask(self._redis.time())
        return seconds + microseconds / 1e6

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        epoch = await self._run(ACQUIRE, name, holder, _milliseconds(seconds))
        return Lease(name, holder, epoch) if epoch else None

    async def renew(self, lease: Lease, seconds: float) -> bool:
        return bool(await self._run(RENEW, lease.name, _value(lease), _milliseconds(seconds)))

    async def release(self, lease: Lease) -> None:
        await self._run(RELEASE, lease.name, _value(lease))

    async def run(self) -> None:
        """Report all gateways' changes to listeners, and reconnect whenever the connection is lost."""
        while True:
            try:
                with cancellation_kept():
                    await self._listen()
            except (RedisError, OSError) as error:
                log.warning("! redis: %s", error)
            self._listening.clear()
            await asyncio.sleep(RETRY)

    async def _listen(self) -> None:
        """Report changes until the connection is lost."""
        async with self._subscriber.pubsub(ignore_subscribe_messages=False) as subscription:
            await subscription.subscribe(self._marks, f"{self._prefix}changes")
            async for message in subscription.listen():
                self._receive(message)

    async def ready(self) -> None:
        """Wait until `run` has subscribed to changes."""
        await self._listening.wait()

    async def close(self) -> None:
        await self._redis.aclose()
        await self._subscriber.aclose()

    def _receive(self, message: dict[str, Any]) -> None:
        if message["channel"].decode() == self._marks:
            if message["type"] == "message" and (seen := self._unseen.get(int(message["data"]))) is not None:
                seen.set()
        elif message["type"] == "subscribe":
            self._listening.set()
            self.notify(ANY_TABLE, "")  # changes made before the subscription may have been missed
            for seen in self._unseen.values():  # their marks may have been missed as well
                seen.set()
        else:
            table, _, key = message["data"].decode().partition(" ")
            self.notify(table, key)

    def _rows(self, table: str) -> str:
        return f"{self._prefix}rows:{table}"

    async def _run(self, script: str, *arguments: str | bytes | int) -> Any:
        return await self._ask(self._redis.eval(script, 0, self._prefix, *arguments))

    async def _ask(self, answer: Awaitable[T]) -> T:
        with self._operations.measured():
            try:
                with cancellation_kept():
                    return await answer
            except (RedisError, OSError) as error:
                raise StoreError(f"redis: {error}") from error


def _row(value: bytes) -> Row:
    version, _, content = value.partition(b" ")
    return Row(content, int(version))


def _value(lease: Lease) -> str:
    return f"{lease.epoch} {lease.holder}"


def _milliseconds(seconds: float) -> int:
    return max(int(seconds * 1000), 1)
