"""Coalesces output notifications into at most one every 2 ms. Output of less than 1 KiB is announced immediately.

A flood of output arrives in chunks of 2 to 4 KB. Over the whole path to the browser, one notification costs as much as
64 KB of output. Small echoes and output that fills a portion of the journal (`Journal.portion`) are not delayed.
"""

import asyncio
import time
from collections.abc import Callable

from hawse_runtime.journal.journal import Journal

TRICKLE = 1 << 10  # notifications about fewer bytes than this are sent immediately
INTERVAL = 0.002  # minimum number of seconds between notifications about larger amounts of output


class OutputCoalescer:
    """Appends output to a journal, and calls `notify` once per group of appends. Call `flush` after the last append."""

    def __init__(self, journal: Journal, notify: Callable[[], None]) -> None:
        self._journal = journal
        self._notify = notify
        self._notified_offset = journal.end
        self._notified_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def append(self, data: bytes) -> None:
        """Append `data` to the journal, and notify immediately or after at most INTERVAL seconds."""
        self._journal.append(data)
        pending = self._journal.end - self._notified_offset
        if TRICKLE <= pending < self._journal.portion() and time.monotonic() - self._notified_at < INTERVAL:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(INTERVAL, self.flush)
        else:
            self.flush()

    def flush(self) -> None:
        """Notify immediately. The notification covers everything in the journal."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._notified_offset, self._notified_at = self._journal.end, time.monotonic()
        self._notify()
