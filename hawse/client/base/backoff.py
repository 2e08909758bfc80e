"""The delay before each attempt: none, then a random time below an exponentially growing bound ("full jitter").

Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: jitter over the whole range best
spreads the clients that lost the same server.
"""

from collections.abc import Callable


class Backoff:
    """A sequence of delays in seconds. It reads no clock."""

    def __init__(self, *, base: float, cap: float, dice: Callable[[], float]) -> None:
        """Create a sequence.

        Args:
            base: Seconds that bound the second delay; each later bound is twice the one before.
            cap: Seconds that no delay exceeds.
            dice: Returns a random number, uniform in [0, 1).
        """
        self._base = base
        self._cap = cap
        self._dice = dice
        self._failures = 0

    def next(self) -> float:
        """Return the seconds to wait before the next attempt: 0 for the first."""
        bound = self._base * 2.0 ** min(self._failures - 1, 64) if self._failures else 0.0
        self._failures += 1
        return self._dice() * min(self._cap, bound)

    def reset(self) -> None:
        """Start again with a delay of 0, after an attempt that succeeded."""
        self._failures = 0
