"""Token buckets, and a table of named token buckets that uses bounded memory."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

REPORT: Final = 0.02  # spending is reported to other gateways once it reaches this fraction of a full bucket
NAMES: Final = 4096  # maximum number of buckets per table; the least recently used one is dropped


class TokenBucket:
    """A token bucket, which allows `burst` tokens at once, and then `rate` per second.

    Attributes:
        spent: The amount taken but not yet reported to other gateways.
    """

    __slots__ = ("_at", "_burst", "_level", "_rate", "spent")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at = now
        self.spent = 0.0

    def take(self, now: float, amount: float = 1.0) -> bool:
        """Take `amount` if that much is available at the time `now`, in seconds. Return whether it was taken."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if level < amount:
            self._level = level
            return False
        self._level = level - amount
        self.spent += amount
        return True

    def spend(self, now: float, amount: float) -> None:
        """Take `amount`, even if that much isn't available."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now
        self.spent += amount

    def correct(self, now: float, level: float) -> None:
        """Set the level to the gateways' shared level, minus the amount taken here since the last report."""
        self._level = min(self._burst, level) - self.spent
        self._at = now

    def wait(self, now: float, amount: float = 1.0) -> float:
        """Return the number of seconds from `now` until `amount` is available."""
        level = min(self._burst, self._level + (now - self._at) * self._rate)
        return max(0.0, (min(amount, self._burst) - level) / self._rate)


class Spending(NamedTuple):
    """The amount taken from a bucket since the last report.

    Attributes:
        name: The bucket's name.
        amount: The amount taken.
    """

    name: str
    amount: float


class RateTable:
    """A table of token buckets, keyed by a name such as an address.

    Attributes:
        rate: The amount allowed per second.
        burst: The amount allowed at once.
        on_spent: Called when spending should be reported to other gateways. None if there is only one gateway.
    """

    def __init__(
        self, rate: float, burst: float, *, names: int = NAMES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create a table of full buckets.

        Args:
            rate: The amount allowed per second.
            burst: The amount allowed at once.
            names: The maximum number of buckets.
            clock: A monotonic clock, in seconds.
        """
        self.rate = rate
        self.burst = burst
        self.on_spent: Callable[[], None] | None = None
        self._names = names
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._to_report: dict[str, None] = {}  # names of buckets whose spending should be reported

    def take(self, name: str) -> bool:
        """Take one token from `name` if available. Return whether it was taken."""
        bucket = self._bucket(name)
        taken = bucket.take(self._clock())
        self._note(name, bucket)
        return taken

    def spend(self, name: str, amount: float) -> None:
        """Take `amount` from `name`. Taking more than is available creates a debt."""
        bucket = self._bucket(name)
        bucket.spend(self._clock(), amount)
        self._note(name, bucket)

    def debt(self, name: str) -> float:
        """Return the number of seconds until the debt of `name` is paid off."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock(), 0.0)

    def wait(self, name: str) -> float:
        """Return the number of seconds until `name` has a token available."""
        bucket = self._buckets.get(name)
        return 0.0 if bucket is None else bucket.wait(self._clock())

    # ---- other gateways

    def spent(self, count: int = NAMES) -> list[Spending]:
        """Return each bucket's spending since the last call to this method.

        Args:
            count: The maximum number of buckets to return. The next call returns the remaining ones.
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
        """Set the level of `name` to the gateways' shared level, which is negative for a debt."""
        if (bucket := self._buckets.get(name)) is not None:
            bucket.correct(self._clock(), level)

    def _note(self, name: str, bucket: TokenBucket) -> None:
        """If enough has been taken from a bucket, mark it for reporting."""
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
    """Return the name of a client's bucket: the client's IPv4 address, or the /64 network of its IPv6 address.

    Args:
        address: The client's address, `HOST:PORT`. If HOST is not an IP address, HOST is returned unchanged.
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
