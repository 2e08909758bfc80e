"""Exchanges counts for limits between gateways on one Redis server, with a single script.

A bucket is a string, `LEVEL MILLISECONDS`, which expires when the bucket is full. The counts of a gateway are a field
of one hash, `MILLISECONDS JSON`, which is valid for `HELD` seconds. All times are from the Redis server's clock.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from hawse_gateway.store.base import BucketSpending, LimitAnswer

HELD: Final = 6.0  # s without a report before a gateway is considered dead; longer than the timeout for a response
KNOWN: Final = 24 * 3600.0  # s that a credential of an address stays known to all gateways

# ARGV: prefix, name of the gateway, milliseconds that a report is valid, counts of the gateway ("" for none),
# milliseconds that a credential stays known, the numbers of newly known and of requested credentials, the credentials
# of both kinds, then for each bucket: key, rate, burst, amount spent. Returns the counts of the other gateways, 0 or 1
# for each requested credential, and the levels.
SHARE: Final = """
local prefix, name, age, holds, known = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local noted, asked = tonumber(ARGV[6]), tonumber(ARGV[7])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local all = prefix .. 'limits:held'
if holds == '' then redis.call('HDEL', all, name)
else redis.call('HSET', all, name, string.format('%.0f ', now) .. holds) end
local others, reports = {}, redis.call('HGETALL', all)
for i = 1, #reports, 2 do
  local at, held = string.match(reports[i + 1], '^(%d+) (.*)$')
  if now - tonumber(at) > age then redis.call('HDEL', all, reports[i])
  elseif reports[i] ~= name then others[#others + 1] = held end
end
local found, at = {}, 8
for i = 1, noted do
  redis.call('SET', prefix .. 'limits:known:' .. ARGV[at], '1', 'PX', known)
  at = at + 1
end
for i = 1, asked do
  found[i] = redis.call('EXISTS', prefix .. 'limits:known:' .. ARGV[at])
  at = at + 1
end
local levels = {}
while at < #ARGV do
  local key, rate, burst = prefix .. 'limits:' .. ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local level, since = string.match(redis.call('GET', key) or '', '^(%S+) (%d+)$')
  if level then level = math.min(burst, tonumber(level) + math.max(0, now - tonumber(since)) / 1000 * rate)
  else level = burst end
  level = level - tonumber(ARGV[at + 3])
  local full = math.ceil((burst - level) / rate * 1000)
  if full > 0 then
    redis.call('SET', key, string.format('%.3f %.0f', level, now), 'PX', string.format('%.0f', full + 1000))
  end
  levels[#levels + 1] = string.format('%.3f', level)
  at = at + 4
end
return {others, found, levels}
"""


class RedisLimits:
    """Implements `LimitStore` with a script on a Redis server.

    Args:
        run: Runs a script of the store with arguments. Raises `StoreError`.
    """

    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def share(
        self, gateway: str, held: bytes, known: Sequence[str], asked: Sequence[str], spent: Sequence[BucketSpending]
    ) -> LimitAnswer:
        """Exchange reports with other gateways, as defined by `LimitStore.share`."""
        times = (int(HELD * 1000), held, int(KNOWN * 1000))
        buckets = [part for each in spent for part in (each.key, each.rate, each.burst, each.amount)]
        others, found, levels = await self._run(
            SHARE, gateway, *times, len(known), len(asked), *known, *asked, *map(_argument, buckets)
        )
        return LimitAnswer(others, [bool(each) for each in found], [float(level) for level in levels])


def _argument(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6f}"
