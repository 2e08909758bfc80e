"""Limits the byte rates of users, links and addresses, across all connections.

A caller above its limit is slowed down, not disconnected. Credit is granted later (docs/wire.md section 4), so that
excess data is held back at its source and does not delay other callers.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hawse.wire import Principal
from hawse_gateway.limits.quotas import Quotas, Who, limit_exceeded
from hawse_gateway.limits.rates import RateTable

WINDOW_MIN: Final = 16 << 10  # minimum credit grant in bytes; smaller grants have too much overhead
PATIENCE: Final = 5.0  # maximum debt in seconds; above it, new requests are refused and messages aren't read


class ByteRates:
    """Limits the byte rates of all callers.

    Attributes:
        tables: Tables of token buckets, keyed by kind of subject.
    """

    def __init__(self, quotas: Quotas | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Create full buckets, which allow bursts of one second's worth of bytes.

        Args:
            quotas: The number of bytes allowed per second. None disables the limits.
            clock: A monotonic clock, in seconds.
        """
        self._quotas = quotas or Quotas()
        self.tables = {who: RateTable(rate, rate, clock=clock) for who, rate in self._quotas.rates("bytes").items()}

    def pace(self, principal: Principal, address: str) -> "Pace | None":
        """Return a caller's pace, or None if the caller has no limit.

        Args:
            principal: The caller.
            address: The caller's address, `HOST:PORT`.
        """
        found = self._quotas.subjects("bytes", principal, address)
        if not found:
            return None
        return Pace([(self.tables[one.who], one.who, one.name) for one in found], min(one.number for one in found))


class Pace:
    """One caller's byte rate, restricted by the caller's strictest limit."""

    def __init__(self, shares: list[tuple[RateTable, Who, str]], rate: int) -> None:
        self._shares = shares
        self._rate = rate

    def spend(self, size: int) -> None:
        """Count bytes sent or received. Bytes in excess of the available amount create a debt."""
        for table, _, name in self._shares:
            table.spend(name, size)

    @property
    def wait(self) -> float:
        """The number of seconds to wait before sending or receiving more bytes."""
        return max(table.debt(name) for table, _, name in self._shares)

    def check(self) -> None:
        """Raise `HawseError` (`limit_exceeded`) if the debt is too large for a new request."""
        for table, who, name in self._shares:
            if (wait := table.debt(name)) > PATIENCE:
                raise limit_exceeded(f"the {who} {name!r} sends and receives too many bytes", wait - PATIENCE)

    def window(self, size: int) -> int:
        """Limit a credit grant of `size` bytes to the number of bytes allowed per second."""
        return min(size, max(self._rate, WINDOW_MIN))


class Pacer:
    """Applies a pace to one connection or transfer. Call `close` when it ends."""

    def __init__(self, pace: Pace, resume: Callable[[], None]) -> None:
        """Create the pacer.

        Args:
            pace: The pace.
            resume: Called when the transfer can continue, if `blocked` was true before.
        """
        self.pace = pace
        self._resume = resume
        self._timer: asyncio.TimerHandle | None = None

    @property
    def blocked(self) -> bool:
        """Whether to pause the transfer. If true, `resume` is called when it can continue."""
        if self._timer is not None:
            return True
        wait = self.pace.wait
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(wait, self._wake)
        return wait > 0

    @property
    def overdrawn(self) -> bool:
        """Whether the debt is too large to read more messages. If true, `resume` is called when reading can
        continue."""
        return self.blocked and self.pace.wait > PATIENCE

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        self._timer = None
        self._resume()


# The pace of the current HTTP request.
CURRENT: Final[ContextVar[Pace | None]] = ContextVar("hawse_pace", default=None)


@contextmanager
def paced(pace: Pace | None) -> Iterator[None]:
    """Apply a pace to transfers started in the `with` block. Raises the same errors as `Pace.check`."""
    if pace is not None:
        pace.check()
    mark = CURRENT.set(pace)
    try:
        yield
    finally:
        CURRENT.reset(mark)
