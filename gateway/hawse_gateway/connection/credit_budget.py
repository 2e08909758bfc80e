"""Decides how much of a client's credit to grant to runtimes (docs/wire.md section 4). No I/O.

Runtimes can use all granted credit at once, and their output must be buffered until the client reads it. The gateway
therefore grants at most `TOTAL` bytes per connection, and grants more credit as the client reads. A channel without
credit always gets `FLOOR`, even if other channels hold the entire total, so that no channel starves.
"""

from typing import Final

TOTAL: Final = 8 << 20  # maximum credit granted per connection in bytes, which limits the memory used per client
FLOOR: Final = 16 << 10  # credit in bytes that a channel is always granted; enough for four PTY reads
QUANTUM: Final = 4 << 10  # minimum bytes granted in a `credit` message, unless the client wants less


class CreditBudget:
    """The credit for one client's channels. Credit granted to a channel but not yet used is *held* by the channel."""

    def __init__(self, total: int = TOTAL, floor: int = FLOOR) -> None:
        self._limit = total
        self._floor = floor
        self._held: dict[int, int] = {}  # held bytes keyed by channel; negative if an event has exceeded the window
        self._total = 0  # sum of the positive values in `_held`

    @property
    def held(self) -> int:
        """The number of bytes that runtimes may currently send to the client."""
        return self._total

    def more(self, ch: int, window: int) -> int:
        """Return how many bytes to grant on `ch` now, and count them as held.

        Call this method when the client grants credit or reads output from the channel.

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
        """Record that `size` bytes from `ch` were sent to the client."""
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
