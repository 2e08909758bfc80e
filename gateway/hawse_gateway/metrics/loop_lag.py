"""Measures how late the event loop runs callbacks, since such delays affect all clients."""

import asyncio
from typing import Final

from hawse_gateway.core.durations import Durations
from hawse_gateway.metrics.prometheus_text import Exposition, Family, Histogram

INTERVAL: Final = 0.5  # seconds between samples
BOUNDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # in seconds


class LoopLag:
    """A timer that records how late it runs."""

    def __init__(self, interval: float = INTERVAL) -> None:
        """Create a timer without starting it. `interval` is the number of seconds between samples."""
        self.seconds = Durations(BOUNDS)
        self._interval = interval

    async def run(self) -> None:
        """Take samples until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self._interval
            await asyncio.sleep(self._interval)
            self.seconds.add(max(loop.time() - due, 0.0))

    async def collect(self, out: Exposition) -> None:
        family = Family("hawse_loop_lag_seconds", "histogram", "Delay of the event loop, sampled twice a second.")
        out.add(family, [({}, Histogram(self.seconds.bounds, self.seconds.counts, self.seconds.total))])
