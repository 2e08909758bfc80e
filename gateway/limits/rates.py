"""Token buckets, and a table of them by name that uses bounded memory."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

NAMES: Final = 4096  # buckets of one table: the one that was not used for the longest time is dropped


class TokenBucket:
    """`burst` at once, then `rate` in a second."""

    __slots__ = ("_at", "_burst", "_level", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = now

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Take `amount` if there is as much, at the time `now` in seconds."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level = level - amount if level >= amount else level
        return level >= amount

    def spend(self, now: float, amount: float) -> None:
        """Take `amount`, also if there is less."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Return the seconds from `now` until `amount` can be taken."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        return max(0.0, (min(amount, self._burst) - level) / self._rate)


class RateTable:
    """One bucket for each name, such as an address."""

    def __init__(
        self, rate: float, burst: float, *, names: int = NAMES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create an empty table: all buckets are full.

        Args:
            rate: How many may be taken in a second.
            burst: How many may be taken at once.
            names: How many buckets are kept.
            clock: Returns seconds and never decreases.
        """
        self._rate = rate
        self._burst = burst
        self._names = names
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Take one of `name`, if there is one."""
        return self._bucket(name).take(self._clock())

    def spend(self, name: str, amount: float) -> None:
        """Take `amount` of `name`, also if there is less: the rest is a debt."""
        self._bucket(name).spend(self._clock(), amount)

    def debt(self, name: str) -> float:
        """Return the seconds until `name` has no debt."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock(), 0.0)

    def wait(self, name: str) -> float:
        """Return the seconds until one of `name` can be taken."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock())

    def _bucket(self, name: str) -> TokenBucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(self._rate, self._burst, self._clock())
            if len(self._buckets) > self._names:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(name)
        return bucket


def network_of(address: str) -> str:
    """Return what stands for one client: an IPv4 address, or the /64 network of an IPv6 address.

    Args:
        address: `HOST:PORT`. A text that is not an IP address stands for itself.
    """
    host = address.rpartition(":")[0].strip("[]")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
    return host
