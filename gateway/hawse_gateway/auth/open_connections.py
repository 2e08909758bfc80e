"""Tracks open connections and requests by credential, and ends them when the credential is revoked or expires."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.auth.identity import Identity
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.store.clock import Clock, Moment

LONGEST: Final = 300.0  # maximum seconds until the clock is checked; timers stop while the machine is suspended


@dataclass(frozen=True, eq=False)
class OpenConnection:
    """A connection or request.

    Attributes:
        identity: The caller.
        address: The client's address, `HOST:PORT`.
        since: When it started, in seconds since 1970.
        end: Ends the connection or request.
    """

    identity: Identity
    address: str
    since: float
    end: Callable[[], None]


class OpenConnections:
    """One gateway's open connections and requests."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        expiry: Callable[[Identity], Moment | None] = lambda identity: identity.expires,
        connections: HeldLimit | None = None,
    ) -> None:
        """Create the table.

        Args:
            clock: The clock used to decide whether credentials have expired. Default: this machine's clock.
            expiry: Returns when a credential expires. The lifetime may have been extended since the credential was
                presented.
            connections: Limits the number of connections and requests per user, link and address. None disables the
                limit.
        """
        self._held = connections or HeldLimit()
        self._clock = clock or Clock()
        self._expiry = expiry
        self._open: dict[str, dict[OpenConnection, None]] = {}  # connections, keyed by credential id, oldest first

    def check(self, identity: Identity, address: str) -> None:
        """Raise `HawseError` (`limit_exceeded`) if a caller already has too many connections and requests."""
        self._held.check(identity.principal, address)

    @contextmanager
    def hold(self, identity: Identity, address: str, end: Callable[[], None]) -> Iterator[None]:
        """Register a connection or request while the `with` block runs.

        Args:
            identity: The caller.
            address: The client's address.
            end: Called at most once, when the credential is revoked or expires.

        Raises:
            HawseError: `limit_exceeded`.
        """
        with self._held.hold(identity.principal, address), self._registered(identity, address, end):
            yield

    @contextmanager
    def _registered(self, identity: Identity, address: str, end: Callable[[], None]) -> Iterator[None]:
        connection = OpenConnection(identity, address, self._clock.now().wall, end)
        self._open.setdefault(identity.credential, {})[connection] = None
        timer = self._expire(connection)
        try:
            yield
        finally:
            for handle in timer:
                handle.cancel()
            connections = self._open.get(identity.credential, {})
            connections.pop(connection, None)
            if not connections:
                self._open.pop(identity.credential, None)

    def end(self, credential: str) -> None:
        """End all of a credential's connections and requests."""
        for connection in self._open.pop(credential, {}):
            connection.end()

    def of(self, credential: str) -> list[OpenConnection]:
        """Return a credential's connections and requests, oldest first."""
        return list(self._open.get(credential, {}))

    def _expire(self, connection: OpenConnection) -> list[asyncio.TimerHandle]:
        """Start the timer that ends a connection. Return a list that contains the current timer, or is empty."""
        timers: list[asyncio.TimerHandle] = []
        expires = connection.identity.expires
        if expires is None:
            return timers
        loop = asyncio.get_running_loop()

        def look() -> None:
            timers.clear()
            end = self._expiry(connection.identity)
            left = LONGEST if end is None else self._clock.until(end)
            if left <= 0:
                connection.end()
            else:
                timers.append(loop.call_later(min(left, LONGEST), look))

        timers.append(loop.call_later(min(max(self._clock.until(expires), 0.0), LONGEST), look))
        return timers


def ended() -> HawseError:
    """Return the error for a connection or request whose credential has expired or was revoked."""
    return HawseError("unauthenticated", "the token, link or session has expired or was revoked", admitted="unknown")
