"""Counters for all of a runtime's terminals, reported by `runtime.metrics`. They only ever increase.

Counting costs one addition per key or burst of output, and nothing per byte.
"""

from bisect import bisect_left
from typing import Final

from hawse.api.runtime import ECHO_BOUNDS, EchoHistogram

SILENT: Final = 1.0  # seconds without output before a key counts as not echoed, as in a password


class TerminalStats:
    """The counters. All terminals share one instance."""

    def __init__(self) -> None:
        self.reseeds = 0  # number of snapshots sent to viewers because they fell behind or sent an interrupt
        self.output = 0  # number of bytes printed in terminals that have since been removed
        self._echoes = [0] * (len(ECHO_BOUNDS) + 1)
        self._seconds = 0.0

    def echoed(self, seconds: float) -> None:
        """Count an echo: output that arrived `seconds` after input."""
        self._echoes[bisect_left(ECHO_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def echoes(self) -> EchoHistogram:
        return EchoHistogram(counts=tuple(self._echoes), seconds=self._seconds)
