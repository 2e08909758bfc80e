"""The limits of calls: how many in a second, and how many terminals are open at once. No I/O."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, Protocol

from hawse.wire import Call, Principal, Result
from hawse_gateway.limits.quotas import HeldLimit, Quotas, limit_exceeded
from hawse_gateway.limits.rates import RateTable

BURST: Final = 10  # s of calls that may be made at once
ATTACH: Final = "terminal.attach"


class CallRates:
    """Limits the calls of each user, link and address, on all connections together.

    Callers with every right, and those of the gateway itself, have no limit.

    Attributes:
        tables: What was counted, by whom it limits.
    """

    def __init__(self, quotas: Quotas, *, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with everything free.

        Args:
            quotas: How many calls may be made in a second.
            burst: Seconds of calls that may be made at once.
            clock: Returns seconds and never decreases.
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


class Origin(Protocol):
    """Where a call comes from."""

    @property
    def address(self) -> str: ...


class LimitedCall(Protocol):
    """A call, with its caller."""

    @property
    def call(self) -> Call: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def context(self) -> Origin: ...


class CallLimits:
    """Decides whether a call may be made now. It is also an observer of the calls, to learn of their ends.

    Attributes:
        rates: Limits how often calls are made.
        terminals: Limits the terminals that are attached.
    """

    def __init__(self, quotas: Quotas | None = None, rates: CallRates | None = None) -> None:
        """Start without calls.

        Args:
            quotas: The limits. None: there are none.
            rates: Limits how often calls are made. None: as `quotas` say.
        """
        self.rates = rates or CallRates(quotas or Quotas())
        self.terminals = HeldLimit(quotas, "terminals")
        self._held: dict[LimitedCall, ExitStack] = {}

    def count(self, caller: LimitedCall) -> None:
        """Count a call, also one that may not be made. Raises `HawseError` (`limit_exceeded`)."""
        self.rates.check(caller.principal, caller.context.address)

    def admit(self, caller: LimitedCall) -> None:
        """Begin a call that its caller may make. Raises `HawseError` (`limit_exceeded`)."""
        if caller.call.method == ATTACH:
            with ExitStack() as held:
                held.enter_context(self.terminals.hold(caller.principal, caller.context.address))
                self._held[caller] = held.pop_all()

    # ---- the observer

    def began(self, call: LimitedCall, sandbox: str | None) -> None:
        """Nothing is to be done: `admit` has done it."""

    def ended(self, call: LimitedCall, outcome: str, result: Result | None = None) -> None:
        held = self._held.pop(call, None)
        if held is not None:
            held.close()

    def refused(self, call: LimitedCall, sandbox: str | None, error: Exception) -> None:
        """A call that was not admitted holds nothing."""
