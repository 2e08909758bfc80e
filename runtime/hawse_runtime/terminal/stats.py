"""Counters of all terminals of a runtime, for `runtime.metrics`. They only increase.

A key or a burst of output costs one addition; there is no cost per byte.
"""

from bisect import bisect_left
from typing import Final

from hawse.api.runtime import ECHO_BOUNDS, EchoHistogram

SILENT: Final = 1.0  # seconds without output until a key counts as not echoed, for example in a password


class TerminalStats:
    """The counters; one instance is shared by all terminals."""

    def __init__(self) -> None:
        self.reseeds = 0  # snapshots sent to viewers that had fallen behind or sent an interrupt
        self.output = 0  # bytes of output of dropped terminals
        self._echoes = [0] * (len(ECHO_BOUNDS) + 1)
        self._seconds = 0.0

    def echoed(self, seconds: float) -> None:
        """Count output that arrived `seconds` after input."""
        self._echoes[bisect_left(ECHO_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def echoes(self) -> EchoHistogram:
        return EchoHistogram(counts=tuple(self._echoes), seconds=self._seconds)
