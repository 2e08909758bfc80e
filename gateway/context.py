"""Where a call or request comes from: the address of its client, and the id under which logs and errors name it."""

import random
from contextvars import ContextVar
from typing import Final


class CallContext:
    """One call on a WebSocket, or one HTTP request.

    Attributes:
        address: The address of the client, `HOST:PORT`; empty for calls of the gateway itself.
        request: The id of the call or request: 16 hexadecimal digits.
        audited: Whether the audit log has an entry of its refusal already.
    """

    __slots__ = ("address", "audited", "request")

    def __init__(self, address: str, request: str | None = None) -> None:
        self.address = address
        self.request = new_request() if request is None else request
        self.audited = False


# Of the HTTP request that is being handled.
CURRENT: Final[ContextVar[CallContext | None]] = ContextVar("hawse_call_context", default=None)


def new_request() -> str:
    """Return a new id. It distinguishes requests and protects nothing, so the generator need not be secure."""
    return f"{random.getrandbits(64):016x}"


def current() -> CallContext:
    """Return the context of the HTTP request that is being handled, or a new one for the gateway itself."""
    return CURRENT.get() or CallContext("")
