"""The interface for call observers (limits, audit log, spans). Their methods must not block or raise."""

from collections.abc import Sequence
from typing import Protocol

from hawse.wire import Call, HawseError, Principal, Result
from hawse_gateway.core.context import CallContext


class ObservedCall(Protocol):
    """A call and its caller."""

    @property
    def call(self) -> Call: ...

    @property
    def principal(self) -> Principal: ...

    @property
    def context(self) -> CallContext: ...


class CallObserver(Protocol):
    """Receives notifications when calls start, end or are refused."""

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        """Called when a permitted call starts. `sandbox` is None for the gateway's own methods."""

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        """Called when a call ends, with `ok` or an error code. Can be called more than once per call."""

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        """Called when the caller is not allowed to make a call."""


class Unobserved:
    """An observer that ignores all calls."""

    def began(self, call: ObservedCall, sandbox: str | None) -> None: ...

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None: ...

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None: ...


class Observers:
    """Notifies several observers in order."""

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
