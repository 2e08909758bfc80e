"""Limits the call rate and the number of attached terminals. No I/O."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, Protocol

from hawse.wire import Call, Principal, Result
from hawse_gateway.limits.quotas import HeldLimit, Quotas, limit_exceeded
from hawse_gateway.limits.rates import RateTable

BURST: Final = 10  # burst size, in seconds' worth of calls
ATTACH: Final = "terminal.attach"


class CallRates:
    """Limits the call rate of each user, link and address, across all connections.

    Callers with all rights and the gateway's own calls are not limited.

    Attributes:
        tables: Tables of token buckets, keyed by kind of subject.
    """

    def __init__(self, quotas: Quotas, *, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        """Create full buckets.

        Args:
            quotas: The allowed number of calls per second.
            burst: The burst size, in seconds' worth of calls.
            clock: A monotonic clock, in seconds.
        """
        self._quotas = quotas
        self.tables = {
            who: RateTable(rate, max(1.0, rate * burst), clock=clock) for who, rate in quotas.rates("calls").items()
        }

    def check(self, principal: Principal, address: str) -> None:
        """Count a call. Raises `HawseError` (`limit_exceeded`, with `retry_after` in the details)."""
        if principal.credential is None:
            return
        for who, name, _ in self._quotas.subjects("calls", principal, address):
            if not self.tables[who].take(name):
                raise limit_exceeded(f"the {who} {name!r} calls too often", self.tables[who].wait(name))


class CallOrigin(Protocol):
    """Where a call comes from."""

    @property
    def address(self) -> str: ...


class LimitedCall(Protocol):
    """A call, along with its caller."""

    @property
    def call(self) -> Call: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def context(self) -> CallOrigin: ...


class CallLimits:
    """Admits calls within the limits, and stops counting a call's terminal once the call ends.

    Attributes:
        rates: Limits the call rate.
        terminals: Limits the number of attached terminals.
    """

    def __init__(self, quotas: Quotas | None = None, rates: CallRates | None = None) -> None:
        """Create the limits.

        Args:
            quotas: The limits. None disables them.
            rates: Limits the call rate. Defaults to the rate in `quotas`.
        """
        self.rates = rates or CallRates(quotas or Quotas())
        self.terminals = HeldLimit(quotas, "terminals")
        self._held: dict[LimitedCall, ExitStack] = {}

    def count(self, caller: LimitedCall) -> None:
        """Count a call, whether it is admitted or refused afterwards. Raises `HawseError` (`limit_exceeded`)."""
        self.rates.check(caller.principal, caller.context.address)

    def admit(self, caller: LimitedCall) -> None:
        """Admit a call that has passed the rights check. Raises `HawseError` (`limit_exceeded`)."""
        if caller.call.method == ATTACH:
            with ExitStack() as held:
                held.enter_context(self.terminals.hold(caller.principal, caller.context.address))
                self._held[caller] = held.pop_all()

    # ---- the observer

    def began(self, call: LimitedCall, sandbox: str | None) -> None:
        """Do nothing, because `admit` has already counted the call."""

    def ended(self, call: LimitedCall, outcome: str, result: Result | None = None) -> None:
        held = self._held.pop(call, None)
        if held is not None:
            held.close()

    def refused(self, call: LimitedCall, sandbox: str | None, error: Exception) -> None:
        """Do nothing, because a refused call has no terminal attached."""
