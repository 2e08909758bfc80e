"""How many bytes users, links and addresses may send and receive in a second, on all connections together.

A caller above its limit is slowed down, not disconnected: it gets credit later (docs/wire.md section 4), so that what
exceeds the limit waits at its source. Nothing else waits with it.
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

WINDOW_MIN: Final = 16 << 10  # bytes of credit that are given at once at least: smaller pieces cost more than they help
PATIENCE: Final = 5.0  # s of debt from which on new requests are refused, and no more messages are read


class ByteRates:
    """The limits.

    Attributes:
        tables: What was counted, by whom it limits.
    """

    def __init__(self, quotas: Quotas | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with everything free: a second's bytes may be sent at once.

        Args:
            quotas: How many bytes may be sent and received in a second. None: there is no limit.
            clock: Returns seconds and never decreases.
        """
        self._quotas = quotas or Quotas()
        self.tables = {who: RateTable(rate, rate, clock=clock) for who, rate in self._quotas.rates("bytes").items()}

    def pace(self, principal: Principal, address: str) -> "Pace | None":
        """Return the pace of a caller; None if it has no limit.

        Args:
            principal: The caller.
            address: Where it calls from, `HOST:PORT`.
        """
        found = self._quotas.subjects("bytes", principal, address)
        if not found:
            return None
        return Pace([(self.tables[one.who], one.who, one.name) for one in found], min(one.number for one in found))


class Pace:
    """How fast one caller may send and receive: as fast as the slowest of its limits allows."""

    def __init__(self, shares: list[tuple[RateTable, Who, str]], rate: int) -> None:
        self._shares = shares
        self._rate = rate

    def spend(self, size: int) -> None:
        """Count bytes that were sent or received. There may be more than are free: then there is a debt."""
        for table, _, name in self._shares:
            table.spend(name, size)

    @property
    def wait(self) -> float:
        """The seconds until more bytes should be sent or received."""
        return max(table.debt(name) for table, _, name in self._shares)

    def check(self) -> None:
        """Raise `HawseError` (`limit_exceeded`) if there is so much debt that nothing new may begin."""
        for table, who, name in self._shares:
            if (wait := table.debt(name)) > PATIENCE:
                raise limit_exceeded(f"the {who} {name!r} sends and receives too many bytes", wait - PATIENCE)

    def window(self, size: int) -> int:
        """Return how much credit to give at once in place of `size`: not more than a second's bytes."""
        return min(size, max(self._rate, WINDOW_MIN))


class Pacer:
    """Applies a pace to one connection or transfer. Call `close` at its end."""

    def __init__(self, pace: Pace, resume: Callable[[], None]) -> None:
        """Create it.

        Args:
            pace: The pace.
            resume: Is called when bytes may flow again after `blocked` was true.
        """
        self.pace = pace
        self._resume = resume
        self._timer: asyncio.TimerHandle | None = None

    @property
    def blocked(self) -> bool:
        """Whether no bytes should flow now. If so, `resume` will be called."""
        if self._timer is not None:
            return True
        wait = self.pace.wait
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(wait, self._wake)
        return wait > 0

    @property
    def overdrawn(self) -> bool:
        """Whether there is so much debt that nothing more should be read. If so, `resume` will be called."""
        return self.blocked and self.pace.wait > PATIENCE

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        self._timer = None
        self._resume()


# Of the HTTP request that is being handled.
CURRENT: Final[ContextVar[Pace | None]] = ContextVar("hawse_pace", default=None)


@contextmanager
def paced(pace: Pace | None) -> Iterator[None]:
    """Let the transfers that begin in the `with` block keep a pace. Raises what `Pace.check` raises."""
    if pace is not None:
        pace.check()
    mark = CURRENT.set(pace)
    try:
        yield
    finally:
        CURRENT.reset(mark)
