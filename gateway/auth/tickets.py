"""Tickets: single-use credentials for browsers, which cannot set the `Authorization` header of a WebSocket.

A ticket is a part of a URL, which may be logged. It is therefore valid once and for 30 s only. Only its hash is kept.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError, Principal

LIFETIME: Final = 30.0  # s
OUTSTANDING: Final = 1024  # tickets that are not used yet: a bound on memory
TICKET_BYTES: Final = 32


class Tickets:
    """The valid tickets. `clock` returns seconds and never decreases."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # By hash: expiry and principal. In order of expiry, since all live equally long.
        self._out: dict[bytes, tuple[float, Principal]] = {}

    def issue(self, principal: Principal) -> str:
        """Return a new ticket for `principal`. Raises `HawseError` `limit_exceeded` when too many are out."""
        self._forget_expired()
        if len(self._out) >= OUTSTANDING:
            raise HawseError("limit_exceeded", f"{OUTSTANDING} tickets wait to be used")
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        self._out[_hash(ticket)] = self._clock() + LIFETIME, principal
        return ticket

    def take(self, ticket: str) -> Principal | None:
        """Use a ticket up; return the principal it was issued for, or None if it is unknown or has expired."""
        expiry, principal = self._out.pop(_hash(ticket), (float("-inf"), None))
        return principal if self._clock() < expiry else None

    def _forget_expired(self) -> None:
        now = self._clock()
        while self._out:
            oldest = next(iter(self._out))
            if self._out[oldest][0] > now:
                return
            del self._out[oldest]


def _hash(ticket: str) -> bytes:
    """A look-up by hash takes no time that depends on how much of a guess is right."""
    return hashlib.sha256(ticket.encode("utf-8", "surrogatepass")).digest()
