"""How much of a client's grants goes upstream now (docs/wire.md section 4).

A client grants generously; what it granted may arrive at once and has to be kept until it reads. So of one
connection's grants only `TOTAL` bytes are passed on at a time, and the rest as the client takes what came. A
channel that has nothing upstream gets `FLOOR` even if others hold everything: none starves. Knows no I/O.
"""

from typing import Final

TOTAL: Final = 8 << 20  # bytes passed on and not yet taken by the client, per connection: what it may cost us
FLOOR: Final = 16 << 10  # bytes a channel may always have upstream: four reads of a PTY
QUANTUM: Final = 4 << 10  # bytes: less is not worth a `credit` of its own, unless it is all there is


class CreditBudget:
    """The grants of one client's channels. A channel *holds* what was passed on and has not reached the client."""

    def __init__(self, total: int = TOTAL, floor: int = FLOOR) -> None:
        self._limit = total
        self._floor = floor
        self._held: dict[int, int] = {}  # by channel; below 0 after an event overdrew its window
        self._total = 0  # of those above 0

    @property
    def held(self) -> int:
        """Bytes that may be on their way to the client now."""
        return self._total

    def more(self, ch: int, window: int) -> int:
        """How many bytes to grant upstream on `ch`, whose client's window is `window`; they count as passed on.

        To be asked when the client grants, and again whenever it took something on the channel.
        """
        held = self._held.setdefault(ch, 0)
        want = window - held
        size = min(want, max(self._limit - self._total, self._floor - held))
        if size <= 0 or size < min(want, QUANTUM):
            return 0
        self._hold(ch, held + size)
        return size

    def sent(self, ch: int, size: int) -> None:
        """`size` bytes of `ch` went to the client."""
        if ch in self._held:
            self._hold(ch, self._held[ch] - size)

    def close(self, ch: int) -> None:
        """The channel is gone, and what it held with it."""
        if ch in self._held:
            self._hold(ch, 0)
            del self._held[ch]

    def _hold(self, ch: int, size: int) -> None:
        self._total += max(size, 0) - max(self._held[ch], 0)
        self._held[ch] = size
