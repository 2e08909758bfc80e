"""Token buckets, and a table of them by name that uses bounded memory."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

REPORT: Final = 0.02  # of a full bucket: other gateways learn of what was taken when it is as much
NAMES: Final = 4096  # buckets of one table: the one that was not used for the longest time is dropped


class TokenBucket:
    """`burst` at once, then `rate` in a second.

    Attributes:
        spent: What was taken and not reported to other gateways yet.
    """

    __slots__ = ("_at", "_burst", "_level", "_rate", "spent")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = now
        self.spent = 0.0

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Take `amount` if there is as much, at the time `now` in seconds."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if level < amount:
            self._level = level
            return False
        self._level = level - amount
        self.spent += amount
        return True

    def spend(self, now: float, amount: float) -> None:
        """Take `amount`, also if there is less."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now
        self.spent += amount

    def correct(self, now: float, level: float) -> None:
        """Set the level to what all gateways have left, without what was taken here since the report."""
        self._level = min(self._burst, level) - self.spent
        self._at = now

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Return the seconds from `now` until `amount` can be taken."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        return max(0.0, (min(amount, self._burst) - level) / self._rate)


class Spending(NamedTuple):
    """What was taken from one bucket of a table since the last report.

    Attributes:
        name: The name of the bucket.
        amount: What was taken.
    """

    name: str
    amount: float


class RateTable:
    """One bucket for each name, such as an address.

    Attributes:
        rate: How much may be taken in a second.
        burst: How much may be taken at once.
        on_spent: Is called when there is something to report to other gateways. None: there are no others.
    """

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
        self.rate = rate
        self.burst = burst
        self.on_spent: Callable[[], None] | None = None
        self._names = names
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._to_report: dict[str, None] = {}  # names of buckets from which enough was taken

    def take(self, name: str) -> bool:
        """Take one of `name`, if there is one."""
        bucket = self._bucket(name)
        taken = bucket.take(self._clock())
        self._note(name, bucket)
        return taken

    def spend(self, name: str, amount: float) -> None:
        """Take `amount` of `name`, also if there is less: the rest is a debt."""
        bucket = self._bucket(name)
        bucket.spend(self._clock(), amount)
        self._note(name, bucket)

    def debt(self, name: str) -> float:
        """Return the seconds until `name` has no debt."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock(), 0.0)

    def wait(self, name: str) -> float:
        """Return the seconds until one of `name` can be taken."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock())

    # ---- other gateways

    def spent(self, count: int = NAMES) -> list[Spending]:
        """Return what was taken from buckets since this was called last.

        Args:
            count: How many buckets at most; the others are returned next time.
        """
        found: list[Spending] = []
        while self._to_report and len(found) < count:
            name = next(iter(self._to_report))
            del self._to_report[name]
            if (bucket := self._buckets.get(name)) is not None:
                found.append(Spending(name, bucket.spent))
                bucket.spent = 0.0
        return found

    def correct(self, name: str, level: float) -> None:
        """Set what is left of `name` to what all gateways have left; below zero for a debt."""
        if (bucket := self._buckets.get(name)) is not None:
            bucket.correct(self._clock(), level)

    def _note(self, name: str, bucket: TokenBucket) -> None:
        """Have it reported when enough was taken."""
        if self.on_spent is not None and bucket.spent >= self.burst * REPORT and name not in self._to_report:
            self._to_report[name] = None
            self.on_spent()

    def _bucket(self, name: str) -> TokenBucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(self.rate, self.burst, self._clock())
            if len(self._buckets) > self._names:
                dropped, _ = self._buckets.popitem(last=False)
                self._to_report.pop(dropped, None)
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
