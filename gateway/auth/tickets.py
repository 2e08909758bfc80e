"""Tickets: what a browser shows instead of a token, which it can't put on an upgrade. Each works once.

A ticket appears in an address, so it has to be worthless when somebody reads it there later: it is used up by
then, or 30 s old. Only its hash is kept.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError, Principal

LIFETIME: Final = 30.0  # s
OUTSTANDING: Final = 1024  # tickets not yet used: who has the token could otherwise fill our memory
TICKET_BYTES: Final = 32


class Tickets:
    """`clock` counts seconds and never goes back."""

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
