"""Exchanges the counts used for limits between gateways that share a Redis server, using a single script.

A bucket is stored as the string `LEVEL MILLISECONDS`, which expires once the bucket is full. Each gateway's counts are
stored in a hash field, `MILLISECONDS JSON`, which is valid for `HELD` seconds. All times are from the Redis server's
clock.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from hawse_gateway.store.base import BucketSpending, LimitAnswer

HELD: Final = 6.0  # seconds until a silent gateway counts as dead; longer than the response timeout
KNOWN: Final = 24 * 3600.0  # number of seconds that all gateways remember a credential used by an address

# ARGV: prefix, gateway name, number of milliseconds that a report is valid, the gateway's counts ("" for none), number
# of milliseconds that credentials are remembered, number of credentials to remember, number of credentials to look up,
# the credentials to remember, the credentials to look up, then for each bucket: key, rate, burst, amount spent. Returns
# the other gateways' counts, 0 or 1 for each credential looked up, and the levels.
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
        run: Runs a script in the store with the given arguments. Raises `StoreError`.
    """

    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def share(
        self, gateway: str, held: bytes, known: Sequence[str], asked: Sequence[str], spent: Sequence[BucketSpending]
    ) -> LimitAnswer:
        """Exchange reports with other gateways. See `LimitStore.share`."""
        times = (int(HELD * 1000), held, int(KNOWN * 1000))
        buckets = [part for each in spent for part in (each.key, each.rate, each.burst, each.amount)]
        others, found, levels = await self._run(
            SHARE, gateway, *times, len(known), len(asked), *known, *asked, *map(_argument, buckets)
        )
        return LimitAnswer(others, [bool(each) for each in found], [float(level) for level in levels])


def _argument(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6f}"
