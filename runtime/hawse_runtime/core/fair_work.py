"""Runs long work on the event loop in short steps. Callers take turns, and the loop runs other work between steps.

Use this for work that can't run in a thread because it reads state that the event loop changes.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

SLICE: Final = 0.002  # number of seconds to run steps before the event loop can run other work


class FairWork:
    """A queue of steps for each caller. Callers take turns."""

    def __init__(self) -> None:
        # Pending steps, keyed by caller; the next caller comes first.
        self._steps: dict[str, deque[Callable[[], object]]] = {}
        self._scheduled = False

    def submit(self, caller: str, step: Callable[[], object]) -> None:
        """Schedule `step` to be called once, on the caller's turn. A step should take a few milliseconds at most."""
        self._steps.setdefault(caller, deque()).append(step)
        self._schedule()

    def _schedule(self) -> None:
        if self._steps and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turns)

    def _take_turns(self) -> None:
        """Run steps for `SLICE` seconds. Exceptions are left to the event loop; the remaining steps still run."""
        end = time.perf_counter() + SLICE
        try:
            while self._steps:
                caller, steps = next(iter(self._steps.items()))
                step = steps.popleft()
                del self._steps[caller]
                if steps:
                    self._steps[caller] = steps  # moves the caller to the end of the queue
                step()
                if time.perf_counter() >= end:
                    return
        finally:
            self._scheduled = False
            self._schedule()
