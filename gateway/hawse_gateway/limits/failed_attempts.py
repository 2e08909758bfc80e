"""Limits wrong credentials per address, against guessing. No I/O."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.limits.rates import RateTable, network_of

RATE: Final = 1.0  # wrong credentials per second after the burst
KNOWN: Final = 4096  # stored pairs of an address and a correct credential


class FailedAttempts:
    """Counts wrong credentials per address.

    An address with too many wrong credentials is refused even with a correct one, to slow down guessing. Credentials
    that this address has used before are still accepted. Otherwise, another program at the same address could lock out
    its users.

    Attributes:
        wrong: The token buckets, by address.
        on_known: Called when known credentials should be exchanged with other gateways. None with a single gateway.
    """

    def __init__(self, burst: float, rate: float = RATE, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Create full buckets.

        Args:
            burst: How many wrong credentials are allowed at once.
            rate: How many wrong credentials are allowed per second after that.
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
            address: The address of the client, `HOST:PORT`.
            credential: The id of the credential. None for a wrong credential.

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
        elif self.on_known is not None:  # if another gateway knows the pair, the next attempt succeeds
            _add(self._asked, pair)
            self.on_known()
        wait = round(self.wrong.wait(network), 3)
        raise HawseError(
            "limit_exceeded", f"too many wrong tokens from {network}: wait {wait:g} s", details={"retry_after": wait}
        )

    # ---- other gateways

    def take_new(self) -> list[tuple[str, str]]:
        """Return the pairs of address and credential that became known since the last call."""
        found = list(self._new)
        self._new.clear()
        return found

    def take_asked(self) -> list[tuple[str, str]]:
        """Return the pairs refused since the last call, to look them up at other gateways."""
        found = list(self._asked)
        self._asked.clear()
        return found

    def know(self, pair: tuple[str, str]) -> None:
        """Record a pair that is known to another gateway."""
        _add(self._known, pair)


def _add(pairs: OrderedDict[tuple[str, str], None], pair: tuple[str, str]) -> None:
    pairs[pair] = None
    if len(pairs) > KNOWN:
        pairs.popitem(last=False)
