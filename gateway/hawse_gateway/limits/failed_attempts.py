"""Limits wrong credentials per address, to prevent guessing. No I/O."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.limits.rates import RateTable, network_of

RATE: Final = 1.0  # wrong credentials allowed per second after the burst
KNOWN: Final = 4096  # maximum number of stored pairs of an address and a correct credential


class FailedAttempts:
    """Counts wrong credentials per address.

    After too many wrong credentials, an address is refused even with a correct one, to slow down guessing. Credentials
    that the address has used before are still accepted. Otherwise, a program could lock out other users at its address.

    Attributes:
        wrong: The token buckets, keyed by address.
        on_known: Called when it's time to exchange known credentials with other gateways. None if there is only one
            gateway.
    """

    def __init__(self, burst: float, rate: float = RATE, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Create full buckets.

        Args:
            burst: The number of wrong credentials allowed at once.
            rate: The number of wrong credentials allowed per second after a burst.
            clock: A monotonic clock, in seconds.
        """
        self.wrong = RateTable(rate, burst, clock=clock)
        self.on_known: Callable[[], None] | None = None
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._new: OrderedDict[tuple[str, str], None] = OrderedDict()  # pairs to report to other gateways
        self._asked: OrderedDict[tuple[str, str], None] = OrderedDict()  # pairs to look up at other gateways

    def check(self, address: str, credential: str | None) -> None:
        """Count a request with a credential.

        Args:
            address: The client's address, `HOST:PORT`.
            credential: The id of the credential. None if the credential is wrong.

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
        elif self.on_known is not None:  # asks other gateways about the pair, for the next attempt
            _add(self._asked, pair)
            self.on_known()
        wait = round(self.wrong.wait(network), 3)
        raise HawseError(
            "limit_exceeded", f"too many wrong tokens from {network}: wait {wait:g} s", details={"retry_after": wait}
        )

    # ---- other gateways

    def take_new(self) -> list[tuple[str, str]]:
        """Return the pairs of an address and a credential that have become known since the last call."""
        found = list(self._new)
        self._new.clear()
        return found

    def take_asked(self) -> list[tuple[str, str]]:
        """Return the pairs refused since the last call, to be looked up at other gateways."""
        found = list(self._asked)
        self._asked.clear()
        return found

    def know(self, pair: tuple[str, str]) -> None:
        """Record a pair of an address and a credential that another gateway has reported as known."""
        _add(self._known, pair)


def _add(pairs: OrderedDict[tuple[str, str], None], pair: tuple[str, str]) -> None:
    pairs[pair] = None
    if len(pairs) > KNOWN:
        pairs.popitem(last=False)
