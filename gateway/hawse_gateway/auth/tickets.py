"""Tickets: single-use credentials for browsers, which cannot set the `Authorization` header of a WebSocket.

Tickets are part of URLs, which can end up in logs. Each ticket can therefore be used only once, within 30 seconds, and
only its hash is stored.
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final

from hawse_gateway.auth.identity import Identity

LIFETIME: Final = 30.0  # seconds
OUTSTANDING: Final = 1024  # maximum number of unused tickets, to bound memory
TICKET_BYTES: Final = 32


class Tickets:
    """The valid tickets. `clock` is a monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # Expiry times and callers, keyed by hash. The tickets are in order of expiry because all have the same
        # lifetime.
        self._out: dict[bytes, tuple[float, Identity]] = {}
        self._by_principal: dict[str, dict[bytes, None]] = {}  # hashes of tickets, keyed by principal id

    def issue(self, identity: Identity) -> str:
        """Create a ticket for `identity`.

        At the limit, the principal with the most tickets loses its oldest one, so no principal can prevent others from
        connecting.
        """
        self._forget_expired()
        if len(self._out) >= OUTSTANDING:
            most = max(self._by_principal, key=lambda principal: len(self._by_principal[principal]))
            self._pop(next(iter(self._by_principal[most])))
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        digest = _hash(ticket)
        self._out[digest] = self._clock() + LIFETIME, identity
        self._by_principal.setdefault(identity.principal.id, {})[digest] = None
        return ticket

    def take(self, ticket: str) -> Identity | None:
        """Invalidate a ticket and return its caller, or None if the ticket is unknown or expired."""
        digest = _hash(ticket)
        if digest not in self._out:
            return None
        expiry, identity = self._pop(digest)
        return identity if self._clock() < expiry else None

    def _forget_expired(self) -> None:
        now = self._clock()
        while self._out:
            oldest = next(iter(self._out))
            if self._out[oldest][0] > now:
                return
            self._pop(oldest)

    def _pop(self, digest: bytes) -> tuple[float, Identity]:
        expiry, identity = self._out.pop(digest)
        own = self._by_principal[identity.principal.id]
        del own[digest]
        if not own:
            del self._by_principal[identity.principal.id]
        return expiry, identity


def _hash(ticket: str) -> bytes:
    """Return a ticket's hash. Using hashes ensures that the lookup time does not reveal how close a guess is."""
    return hashlib.sha256(ticket.encode("utf-8", "surrogatepass")).digest()
