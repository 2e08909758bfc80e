"""How many calls a user may make in a second, on all connections together. No I/O."""

import time
from collections.abc import Callable

from gateway.limits.rates import RateTable
from hawse.api.rights import ALL
from hawse.wire import HawseError, Principal


class CallRates:
    """Limits the calls of each user. Callers with every right, and those of the gateway itself, have no limit."""

    def __init__(self, burst: float, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with everything free.

        Args:
            burst: How many calls a user may make at once.
            rate: How many in a second after that.
            clock: Returns seconds and never decreases.
        """
        self._calls = RateTable(rate, burst, clock=clock)

    def check(self, principal: Principal) -> None:
        """Count a call. Raises `HawseError` (`limit_exceeded`, with `retry_after` in the details)."""
        if ALL in principal.rights or principal.credential is None or self._calls.take(principal.id):
            return
        wait = round(self._calls.wait(principal.id), 3)
        raise HawseError(
            "limit_exceeded", f"{principal.id!r} calls too often: wait {wait:g} s", details={"retry_after": wait}
        )
