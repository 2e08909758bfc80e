"""Slows down clients that guess tokens, by address. No I/O."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from gateway.limits.rates import RateTable, network_of
from hawse.wire import HawseError

RATE: Final = 1.0  # wrong credentials in a second, after the burst
KNOWN: Final = 4096  # pairs of an address and a credential that was right


class Guesses:
    """Counts wrong credentials by address.

    An address with too many is refused, also with a right one: otherwise guessing would not be slower. A credential
    that this address has used before is accepted nevertheless, so that a neighbour cannot lock out its users.
    """

    def __init__(self, burst: float, rate: float = RATE, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without wrong credentials.

        Args:
            burst: How many may be wrong at once.
            rate: How many may be wrong in a second after that.
            clock: Returns seconds and never decreases.
        """
        self._wrong = RateTable(rate, burst, clock=clock)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def check(self, address: str, credential: str | None) -> None:
        """Count a request with a credential.

        Args:
            address: The address of the client, `HOST:PORT`.
            credential: The id of the credential. None: it was wrong.

        Raises:
            HawseError: `limit_exceeded`, with `retry_after` in the details.
        """
        network = network_of(address)
        if credential is None:
            if self._wrong.take(network):
                return
        elif (pair := (network, credential)) in self._known:
            self._known.move_to_end(pair)
            return
        elif not self._wrong.wait(network):
            self._known[pair] = None
            if len(self._known) > KNOWN:
                self._known.popitem(last=False)
            return
        wait = round(self._wrong.wait(network), 3)
        raise HawseError(
            "limit_exceeded", f"too many wrong tokens from {network}: wait {wait:g} s", details={"retry_after": wait}
        )
