"""Coalesces output notifications: immediate below 1 KiB, otherwise at most one per 2 ms.

A flood arrives in pieces of 2 to 4 KB, and each notification costs as much as 64 KB of output, all the way to the
browser. Small echoes are not delayed, nor is a whole portion of the journal.
"""

import asyncio
import time
from collections.abc import Callable

from hawse_runtime.journal.journal import Journal

TRICKLE = 1 << 10  # bytes: less is notified immediately
INTERVAL = 0.002  # seconds between other notifications


class OutputCoalescer:
    """Appends output to a journal, and calls `notify` for each group of appends. After the last one, call `flush`."""

    def __init__(self, journal: Journal, notify: Callable[[], None]) -> None:
        self._journal = journal
        self._notify = notify
        self._notified_offset = journal.end
        self._notified_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def append(self, data: bytes) -> None:
        """Append to the journal, and notify immediately or at the end of INTERVAL."""
        self._journal.append(data)
        pending = self._journal.end - self._notified_offset
        if TRICKLE <= pending < self._journal.portion() and time.monotonic() - self._notified_at < INTERVAL:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(INTERVAL, self.flush)
        else:
            self.flush()

    def flush(self) -> None:
        """Notify immediately of everything in the journal."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._notified_offset, self._notified_at = self._journal.end, time.monotonic()
        self._notify()
