"""What a runtime counts of its terminals, for `runtime.metrics`: plain numbers that only go up.

They are read when somebody asks. What happens for each key and each burst of output costs an addition, and for each
byte nothing.
"""

from bisect import bisect_left
from typing import Final

from hawse.api.runtime import ECHO_BOUNDS, EchoHistogram

SILENT: Final = 1.0  # s without output after which a key counts as not echoed: a password, say


class TerminalStats:
    """One for all terminals of a runtime."""

    def __init__(self) -> None:
        self.reseeds = 0  # viewers that were given a snapshot, since their place was gone or they interrupted
        self.output = 0  # bytes, of the terminals that are forgotten
        self._echoes = [0] * (len(ECHO_BOUNDS) + 1)
        self._seconds = 0.0

    def echoed(self, seconds: float) -> None:
        """So long after input there was output."""
        self._echoes[bisect_left(ECHO_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def echoes(self) -> EchoHistogram:
        return EchoHistogram(counts=tuple(self._echoes), seconds=self._seconds)
