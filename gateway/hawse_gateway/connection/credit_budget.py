"""Decides how much of a client's credit to grant to runtimes (docs/wire.md section 4). No I/O.

Output for all granted credit can arrive at once and must be buffered until the client reads it. The gateway therefore
grants at most `TOTAL` bytes per connection, and the rest as the client reads. A channel without credit always gets
`FLOOR`, even if other channels hold the total, so that no channel starves.
"""

from typing import Final

TOTAL: Final = 8 << 20  # bytes of granted credit per connection, which limits the memory per client
FLOOR: Final = 16 << 10  # bytes of credit that a channel can always get: four reads of a PTY
QUANTUM: Final = 4 << 10  # minimum bytes of a `credit` message, unless the client wants less


class CreditBudget:
    """The credit of one client's channels. A channel *holds* the credit that was granted but not used."""

    def __init__(self, total: int = TOTAL, floor: int = FLOOR) -> None:
        self._limit = total
        self._floor = floor
        self._held: dict[int, int] = {}  # by channel; negative after an event has exceeded its window
        self._total = 0  # sum of the positive values

    @property
    def held(self) -> int:
        """The number of bytes that runtimes can send to the client now."""
        return self._total

    def more(self, ch: int, window: int) -> int:
        """Return how many bytes to grant on `ch` now, and count them as held.

        Call this method when the client grants credit or reads from the channel.

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
        """Release the credit of a closed channel."""
        if ch in self._held:
            self._hold(ch, 0)
            del self._held[ch]

    def _hold(self, ch: int, size: int) -> None:
        self._total += max(size, 0) - max(self._held[ch], 0)
        self._held[ch] = size
