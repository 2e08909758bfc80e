"""The delay before each attempt: first none, then a random time below an exponentially growing bound ("full jitter").

Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Jitter over the whole range is best at
spreading out clients' reconnects after a server failure.

Most outages, such as server restarts, are short, and users are waiting. The bound therefore stays low for about half a
minute before growing further.
"""

from collections.abc import Callable
from typing import Final

SHORT: Final = 2.0  # maximum delay in seconds during the first `SHORT_ATTEMPTS` attempts
SHORT_ATTEMPTS: Final = 30  # number of attempts with short delays; together, they take half a minute on average


class Backoff:
    """A sequence of delays in seconds. Reads no clock."""

    def __init__(self, *, base: float, cap: float, dice: Callable[[], float]) -> None:
        """Create a sequence.

        Args:
            base: Upper bound for the second delay, in seconds. The bound doubles with each attempt, at first up to
                `SHORT`.
            cap: Maximum delay, in seconds.
            dice: Returns a uniform random number in [0, 1).
        """
        self._base = base
        self._cap = cap
        self._dice = dice
        self._failures = 0

    def next(self) -> float:
        """Return the number of seconds to wait before the next attempt: 0 for the first one."""
        bound = self._base * 2.0 ** min(self._failures - 1, 64) if self._failures else 0.0
        if self._failures < SHORT_ATTEMPTS:
            bound = min(bound, SHORT)
        self._failures += 1
        return self._dice() * min(self._cap, bound)

    def reset(self) -> None:
        """Go back to a delay of 0 after a successful attempt."""
        self._failures = 0
