"""Slows down clients that guess credentials, by address. No I/O."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.limits.rates import RateTable, network_of

RATE: Final = 1.0  # wrong credentials per second, after the burst
KNOWN: Final = 4096  # remembered pairs of an address and a correct credential


class Guesses:
    """Counts wrong credentials by address.

    An address with too many is refused even with a correct one: otherwise guessing would not be slowed down. A
    credential that this address has used before is still accepted, so that a neighbour cannot lock out its users.

    Attributes:
        wrong: The token buckets, by address.
        on_known: Called to exchange known credentials with other gateways. None if there are no other gateways.
    """

    def __init__(self, burst: float, rate: float = RATE, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with full buckets.

        Args:
            burst: How many wrong credentials are allowed at once.
            rate: How many wrong credentials are allowed per second after that.
            clock: Returns seconds and never decreases.
        """
        self.wrong = RateTable(rate, burst, clock=clock)
        self.on_known: Callable[[], None] | None = None
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._new: OrderedDict[tuple[str, str], None] = OrderedDict()  # not yet known to other gateways
        self._asked: OrderedDict[tuple[str, str], None] = OrderedDict()  # possibly known to another gateway

    def check(self, address: str, credential: str | None) -> None:
        """Count a request with a credential.

        Args:
            address: The address of the client, `HOST:PORT`.
            credential: The id of the credential. None if it was wrong.

        Raises:
            HawseError: `limit_exceeded`, with `retry_after` in the details.
        """
        network = network_of(address)
        if credential is None:
            if self.wrong.take(network):
                return
        elif (pair := (network, credential)) in self._known:
            self._known.move_to_end(pair)
            return
        elif not self.wrong.wait(network):
            _add(self._known, pair)
            if self.on_known is not None:
                _add(self._new, pair)
                self.on_known()
            return
        elif self.on_known is not None:  # it may be known to another gateway: the next attempt will then succeed
            _add(self._asked, pair)
            self.on_known()
        wait = round(self.wrong.wait(network), 3)
        raise HawseError(
            "limit_exceeded", f"too many wrong tokens from {network}: wait {wait:g} s", details={"retry_after": wait}
        )

    # ---- other gateways

    def take_new(self) -> list[tuple[str, str]]:
        """Return the addresses and credentials that became known since the last call."""
        found = list(self._new)
        self._new.clear()
        return found

    def take_asked(self) -> list[tuple[str, str]]:
        """Return the pairs refused since the last call that another gateway may know."""
        found = list(self._asked)
        self._asked.clear()
        return found

    def know(self, pair: tuple[str, str]) -> None:
        """Record that an address has used a credential at another gateway."""
        _add(self._known, pair)


def _add(pairs: OrderedDict[tuple[str, str], None], pair: tuple[str, str]) -> None:
    pairs[pair] = None
    if len(pairs) > KNOWN:
        pairs.popitem(last=False)
