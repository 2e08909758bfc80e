"""When output is told to its readers: at once, but in a flood not more often than they gain by it.

A flood comes in pieces of 2 to 4 KB, and each that is told costs all the way to the browser as much as 64 KB do. An
echo is small, and does not wait; nor does a portion of the journal.
"""

import asyncio
import time
from collections.abc import Callable

from runtime.journal.journal import Journal

TRICKLE = 1 << 10  # bytes: less is told at once
LULL = 0.002  # seconds between the rest, counted from the last time that something was told


class OutputCoalescer:
    """Of one journal. `tell` is called with no output untold left behind."""

    def __init__(self, journal: Journal, tell: Callable[[], None]) -> None:
        self._journal = journal
        self._tell = tell
        self._notified_offset = journal.end
        self._notified_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def output_added(self) -> None:
        untold = self._journal.end - self._notified_offset
        if TRICKLE <= untold < self._journal.portion() and time.monotonic() - self._notified_at < LULL:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(LULL, self.now)
        else:
            self.now()

    def now(self) -> None:
        """Tell what there is. After the last output it has to be called."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._notified_offset, self._notified_at = self._journal.end, time.monotonic()
        self._tell()
