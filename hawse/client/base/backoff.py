"""When to try again: at once, then after a random time up to an exponentially growing bound ("full jitter").

Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: jitter over the whole range spreads
a crowd that lost the same server best.
"""

from collections.abc import Callable


class Backoff:
    """A sequence of delays in seconds. Owns no clock."""

    def __init__(self, *, base: float, cap: float, dice: Callable[[], float]) -> None:
        self._base = base
        self._cap = cap
        self._dice = dice
        self._failures = 0

    def next(self) -> float:
        """How long to wait before the next attempt: 0 at first."""
        bound = self._base * 2.0 ** min(self._failures - 1, 64) if self._failures else 0.0
        self._failures += 1
        return self._dice() * min(self._cap, bound)

    def reset(self) -> None:
        """It worked: the next failure is a first one."""
        self._failures = 0
