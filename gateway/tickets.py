"""Tickets: what a browser shows instead of a token, which it can't put on an upgrade. Each works once.

A ticket appears in an address, so it has to be worthless when somebody reads it there later: it is used up by
then, or 30 s old. Only its hash is kept.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError

LIFETIME: Final = 30.0  # s
OUTSTANDING: Final = 1024  # tickets not yet used: who has the token could otherwise fill our memory
TICKET_BYTES: Final = 32


class Tickets:
    """`clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._expiry: dict[bytes, float] = {}  # by hash; in order of expiry, since all live equally long

    def issue(self) -> str:
        """A new ticket. Raises `HawseError` `limit_exceeded` when too many are out."""
        self._forget_expired()
        if len(self._expiry) >= OUTSTANDING:
            raise HawseError("limit_exceeded", f"{OUTSTANDING} tickets wait to be used")
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        self._expiry[_hash(ticket)] = self._clock() + LIFETIME
        return ticket

    def take(self, ticket: str) -> bool:
        """Use a ticket up; whether it was good."""
        expiry = self._expiry.pop(_hash(ticket), None)
        return expiry is not None and self._clock() < expiry

    def _forget_expired(self) -> None:
        now = self._clock()
        while self._expiry:
            oldest = next(iter(self._expiry))
            if self._expiry[oldest] > now:
                return
            del self._expiry[oldest]


def _hash(ticket: str) -> bytes:
    """A look-up by hash takes no time that depends on how much of a guess is right."""
    return hashlib.sha256(ticket.encode("utf-8", "surrogatepass")).digest()
