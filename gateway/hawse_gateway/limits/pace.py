"""Limits on the bytes per second of users, links and addresses, over all connections.

A caller above its limit is slowed down, not disconnected: it gets credit later (docs/wire.md section 4), so the excess
waits at its source. Nothing else waits with it.
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

WINDOW_MIN: Final = 16 << 10  # minimum bytes of credit granted at once: smaller grants cost more than they help
PATIENCE: Final = 5.0  # s of debt before new requests are refused and no more messages are read


class ByteRates:
    """The limits.

    Attributes:
        tables: The token buckets, by kind of subject.
    """

    def __init__(self, quotas: Quotas | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with full buckets: a second's bytes can be sent at once.

        Args:
            quotas: The allowed bytes per second. None disables the limits.
            clock: Returns seconds and never decreases.
        """
        self._quotas = quotas or Quotas()
        self.tables = {who: RateTable(rate, rate, clock=clock) for who, rate in self._quotas.rates("bytes").items()}

    def pace(self, principal: Principal, address: str) -> "Pace | None":
        """Return the pace of a caller, or None if it has no limit.

        Args:
            principal: The caller.
            address: Its address, `HOST:PORT`.
        """
        found = self._quotas.subjects("bytes", principal, address)
        if not found:
            return None
        return Pace([(self.tables[one.who], one.who, one.name) for one in found], min(one.number for one in found))


class Pace:
    """The pace at which one caller can send and receive, given by the slowest of its limits."""

    def __init__(self, shares: list[tuple[RateTable, Who, str]], rate: int) -> None:
        self._shares = shares
        self._rate = rate

    def spend(self, size: int) -> None:
        """Count bytes sent or received. More than the available amount creates a debt."""
        for table, _, name in self._shares:
            table.spend(name, size)

    @property
    def wait(self) -> float:
        """The seconds to wait before sending or receiving more bytes."""
        return max(table.debt(name) for table, _, name in self._shares)

    def check(self) -> None:
        """Raise `HawseError` (`limit_exceeded`) if the debt is too large to start anything new."""
        for table, who, name in self._shares:
            if (wait := table.debt(name)) > PATIENCE:
                raise limit_exceeded(f"the {who} {name!r} sends and receives too many bytes", wait - PATIENCE)

    def window(self, size: int) -> int:
        """Return how much credit to grant at once instead of `size`: at most a second's bytes."""
        return min(size, max(self._rate, WINDOW_MIN))


class Pacer:
    """Applies a pace to one connection or transfer. Call `close` at its end."""

    def __init__(self, pace: Pace, resume: Callable[[], None]) -> None:
        """Create it.

        Args:
            pace: The pace.
            resume: Called when bytes can flow again after `blocked` was true.
        """
        self.pace = pace
        self._resume = resume
        self._timer: asyncio.TimerHandle | None = None

    @property
    def blocked(self) -> bool:
        """Whether bytes should not flow now. If true, `resume` will be called."""
        if self._timer is not None:
            return True
        wait = self.pace.wait
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(wait, self._wake)
        return wait > 0

    @property
    def overdrawn(self) -> bool:
        """Whether the debt is too large to read anything more. If true, `resume` will be called."""
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
    """Apply a pace to transfers that start in the `with` block. Raises the same errors as `Pace.check`."""
    if pace is not None:
        pace.check()
    mark = CURRENT.set(pace)
    try:
        yield
    finally:
        CURRENT.reset(mark)
