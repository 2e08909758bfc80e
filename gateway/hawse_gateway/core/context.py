"""Where a call or request comes from: the address of its client, and the trace under which logs and errors name it."""

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
        trace: Its trace. It is a span below that of the client, if the client sends one.
        traceparent: What the client has sent of its trace. None: nothing.
        audited: Whether the audit log has an entry of its refusal already.
    """

    __slots__ = ("address", "audited", "trace", "traceparent")

    def __init__(self, address: str, traceparent: str | None = None) -> None:
        self.address = address
        self.traceparent = traceparent
        self.trace = Trace.below(traceparent)
        self.audited = False

    @property
    def request(self) -> str:
        """The id of the call or request: its span."""
        return self.trace.span

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Handle the call or request in the `with` block: what is logged there names it."""
        marks = CURRENT.set(self), TRACE.set(str(self.trace))
        try:
            yield
        finally:
            CURRENT.reset(marks[0])
            TRACE.reset(marks[1])


# Of the HTTP request or call that is being handled.
CURRENT: Final[ContextVar[CallContext | None]] = ContextVar("hawse_call_context", default=None)


def current() -> CallContext:
    """Return the context of what is being handled, or a new one for the gateway itself."""
    return CURRENT.get() or CallContext("")
