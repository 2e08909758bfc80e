"""Token buckets, and a table of them by name with bounded memory."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

REPORT: Final = 0.02  # of a full bucket: spending is reported to other gateways from this share on
NAMES: Final = 4096  # buckets of one table; the least recently used one is dropped


class TokenBucket:
    """Allows `burst` at once, then `rate` per second.

    Attributes:
        spent: The amount taken and not yet reported to other gateways.
    """

    __slots__ = ("_at", "_burst", "_level", "_rate", "spent")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = now
        self.spent = 0.0

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Take `amount` if available, at the time `now` in seconds."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if level < amount:
            self._level = level
            return False
        self._level = level - amount
        self.spent += amount
        return True

    def spend(self, now: float, amount: float) -> None:
        """Take `amount`, even if it exceeds the level."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now
        self.spent += amount

    def correct(self, now: float, level: float) -> None:
        """Set the level to the remainder at all gateways, minus the amount taken here since the report."""
        self._level = min(self._burst, level) - self.spent
        self._at = now

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Return the seconds from `now` until `amount` can be taken."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        return max(0.0, (min(amount, self._burst) - level) / self._rate)


class Spending(NamedTuple):
    """The amount taken from one bucket of a table since the last report.

    Attributes:
        name: The name of the bucket.
        amount: The amount.
    """

    name: str
    amount: float


class RateTable:
    """One bucket for each name, such as an address.

    Attributes:
        rate: The amount allowed per second.
        burst: The amount allowed at once.
        on_spent: Called when there is something to report to other gateways. None if there are no other gateways.
    """

    def __init__(
        self, rate: float, burst: float, *, names: int = NAMES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create a table of full buckets.

        Args:
            rate: The amount allowed per second.
            burst: The amount allowed at once.
            names: The maximum number of buckets.
            clock: Returns seconds and never decreases.
        """
        self.rate = rate
        self.burst = burst
        self.on_spent: Callable[[], None] | None = None
        self._names = names
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._to_report: dict[str, None] = {}  # names of buckets with enough spending to report

    def take(self, name: str) -> bool:
        """Take one from `name`, if available."""
        bucket = self._bucket(name)
        taken = bucket.take(self._clock())
        self._note(name, bucket)
        return taken

    def spend(self, name: str, amount: float) -> None:
        """Take `amount` from `name`. An amount above the level creates a debt."""
        bucket = self._bucket(name)
        bucket.spend(self._clock(), amount)
        self._note(name, bucket)

    def debt(self, name: str) -> float:
        """Return the seconds until `name` has no debt."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock(), 0.0)

    def wait(self, name: str) -> float:
        """Return the seconds until one can be taken from `name`."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock())

    # ---- other gateways

    def spent(self, count: int = NAMES) -> list[Spending]:
        """Return the spending since the last call.

        Args:
            count: The maximum number of buckets; the others are returned next time.
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
        """Set the level of `name` to the remainder at all gateways; below zero for a debt."""
        if (bucket := self._buckets.get(name)) is not None:
            bucket.correct(self._clock(), level)

    def _note(self, name: str, bucket: TokenBucket) -> None:
        """Mark the bucket for reporting once enough was taken."""
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
    """Return a name for one client: an IPv4 address, or the /64 network of an IPv6 address.

    Args:
        address: `HOST:PORT`. A text that is not an IP address is returned unchanged.
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
