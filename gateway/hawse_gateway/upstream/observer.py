"""Observers of the calls on links: limits, audit log, spans. They must return at once and never raise."""

from collections.abc import Sequence
from typing import Protocol

from hawse.wire import Call, HawseError, Principal, Result
from hawse_gateway.core.context import CallContext


class ObservedCall(Protocol):
    """A call, with its caller."""

    @property
    def call(self) -> Call: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def context(self) -> CallContext: ...


class CallObserver(Protocol):
    """Notified once when a permitted call starts, and once when it ends."""

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        """A call has started. `sandbox` is None for a method of the gateway itself."""

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        """A call has ended with `ok` or an error code. May be called again for a call that has already ended."""

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        """The caller is not allowed to make the call."""


class Unobserved:
    """The observer that ignores everything."""

    def began(self, call: ObservedCall, sandbox: str | None) -> None: ...

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None: ...

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None: ...


class Observers:
    """Notifies several observers, in order."""

    def __init__(self, observers: Sequence[CallObserver]) -> None:
        self._observers = observers

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        for observer in self._observers:
            observer.began(call, sandbox)

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        for observer in self._observers:
            observer.ended(call, outcome, result)

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        for observer in self._observers:
            observer.refused(call, sandbox, error)
