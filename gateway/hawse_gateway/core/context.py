"""Where a call or request comes from: the client's address, and the trace id for logs and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hawse.logs import TRACE
from hawse.wire.trace import Trace


class CallContext:
    """One call on a WebSocket, or one HTTP request.

    Attributes:
        address: The client's address, `HOST:PORT`. Empty for the gateway's own calls.
        trace: The trace context: a child of the client's span if the client sent one, or else a new trace.
        traceparent: The `traceparent` sent by the client, or None.
        audited: Whether the refusal of this call or request has already been recorded in the audit log.
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
        """Make this the current context inside the `with` block. Log entries written in the block contain the context's
        id."""
        marks = CURRENT.set(self), TRACE.set(str(self.trace))
        try:
            yield
        finally:
            CURRENT.reset(marks[0])
            TRACE.reset(marks[1])


# The context of the current call or HTTP request.
CURRENT: Final[ContextVar[CallContext | None]] = ContextVar("hawse_call_context", default=None)


def current() -> CallContext:
    """Return the context of the current call or request, or else a new context for the gateway itself."""
    return CURRENT.get() or CallContext("")
