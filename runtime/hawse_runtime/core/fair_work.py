"""Long work on the event loop in short steps. Callers take turns, and other work of the loop runs between the steps.

For work that cannot run in a thread because it reads state changed by the event loop.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

SLICE: Final = 0.002  # seconds of steps before the event loop does other work


class FairWork:
    """Runs the steps of all callers in turn."""

    def __init__(self) -> None:
        self._steps: dict[str, deque[Callable[[], object]]] = {}  # by caller, in the order of their turns
        self._scheduled = False

    def submit(self, caller: str, step: Callable[[], object]) -> None:
        """Call `step` once, when it is the turn of `caller`. A step should take at most a few milliseconds."""
        self._steps.setdefault(caller, deque()).append(step)
        self._schedule()

    def _schedule(self) -> None:
        if self._steps and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turns)

    def _take_turns(self) -> None:
        """Run steps for `SLICE` seconds. An exception goes to the event loop's handler; other steps still run."""
        end = time.perf_counter() + SLICE
        try:
            while self._steps:
                caller, steps = next(iter(self._steps.items()))
                step = steps.popleft()
                del self._steps[caller]
                if steps:
                    self._steps[caller] = steps  # behind all other callers
                step()
                if time.perf_counter() >= end:
                    return
        finally:
            self._scheduled = False
            self._schedule()
