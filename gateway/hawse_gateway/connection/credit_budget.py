"""Decide how much of a client's credit to pass upstream now (docs/wire.md section 4). No I/O.

Everything a client has granted may arrive at once, and must be kept until the client reads it. Therefore at most
`TOTAL` bytes of a connection's credit are upstream at a time. The rest is passed on as the client reads. A channel
without credit upstream gets `FLOOR` even if the others hold everything, so that none starves.
"""

from typing import Final

TOTAL: Final = 8 << 20  # bytes of credit upstream per connection: the memory that a client may cost
FLOOR: Final = 16 << 10  # bytes a channel can always have upstream: four reads of a PTY
QUANTUM: Final = 4 << 10  # bytes: smaller amounts are not worth a `credit` message, unless nothing more is wanted


class CreditBudget:
    """The credit of one client's channels. A channel *holds* credit that was passed on and not yet used up."""

    def __init__(self, total: int = TOTAL, floor: int = FLOOR) -> None:
        self._limit = total
        self._floor = floor
        self._held: dict[int, int] = {}  # by channel; below 0 after an event overdrew its window
        self._total = 0  # of those above 0

    @property
    def held(self) -> int:
        """The number of bytes that may arrive for the client now."""
        return self._total

    def more(self, ch: int, window: int) -> int:
        """Return how many bytes to grant upstream on `ch` now; they count as passed on.

        Call it when the client grants credit, and whenever the client has read from the channel.

        Args:
            ch: The client's channel.
            window: The client's unused credit, in bytes.
        """
        held = self._held.setdefault(ch, 0)
        want = window - held
        size = min(want, max(self._limit - self._total, self._floor - held))
        if size <= 0 or size < min(want, QUANTUM):
            return 0
        self._hold(ch, held + size)
        return size

    def sent(self, ch: int, size: int) -> None:
        """Record that `size` bytes of `ch` were sent to the client."""
        if ch in self._held:
            self._hold(ch, self._held[ch] - size)

    def close(self, ch: int) -> None:
        """Record that the channel is closed and holds nothing."""
        if ch in self._held:
            self._hold(ch, 0)
            del self._held[ch]

    def _hold(self, ch: int, size: int) -> None:
        self._total += max(size, 0) - max(self._held[ch], 0)
        self._held[ch] = size
