"""The origin of a call or request: its client's address, and the trace id for logs and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hawse.logs import TRACE
from hawse.wire.trace import Trace


class CallContext:
    """One call on a WebSocket, or one HTTP request.

    Attributes:
        address: The address of the client, `HOST:PORT`; empty for calls of the gateway itself.
        trace: Its trace context: a child of the client's span, if the client sends one.
        traceparent: The `traceparent` that the client has sent. None: it sent none.
        audited: Whether the audit log already has an entry for its refusal.
    """

    __slots__ = ("address", "audited", "trace", "traceparent")

    def __init__(self, address: str, traceparent: str | None = None) -> None:
        self.address = address
        self.traceparent = traceparent
        self.trace = Trace.below(traceparent)
        self.audited = False

    @property
    def request(self) -> str:
        """The id of the call or request, which is its span id."""
        return self.trace.span

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Handle the call or request in the `with` block. Log entries in the block carry its id."""
        marks = CURRENT.set(self), TRACE.set(str(self.trace))
        try:
            yield
        finally:
            CURRENT.reset(marks[0])
            TRACE.reset(marks[1])


# The context of the HTTP request or call that is being handled.
CURRENT: Final[ContextVar[CallContext | None]] = ContextVar("hawse_call_context", default=None)


def current() -> CallContext:
    """Return the context of the current call or request, or a new one for the gateway itself."""
    return CURRENT.get() or CallContext("")
