"""Long work on the event loop, in short steps: callers take turns, and other work of the loop runs between the steps.

It is for work that cannot run in a thread, since it reads state that the event loop changes.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Generator
from typing import Final, TypeVar

from hawse.wire import HawseError

T = TypeVar("T")

SLICE: Final = 0.002  # seconds of steps between two turns of the other work of the event loop
RUNS_EACH: Final = 256  # works of one caller at a time: each may end with a result of up to 1 MiB


class FairWork:
    """Runs the steps of all callers, one step of each caller after another."""

    def __init__(self) -> None:
        self._steps: dict[str, deque[Callable[[], object]]] = {}  # by caller, in the order of their turns
        self._runs: Counter[str] = Counter()
        self._scheduled = False

    def submit(self, caller: str, step: Callable[[], object]) -> None:
        """Call `step` once, when it is the turn of `caller`. It takes a few milliseconds at most."""
        self._steps.setdefault(caller, deque()).append(step)
        self._schedule()

    async def run(self, caller: str, work: Generator[None, None, T]) -> T:
        """Run `work` to its end, a step at a time; return what it returns, raise what it raises.

        If it is cancelled, `work` is closed.

        Raises:
            HawseError: `limit_exceeded` if `caller` has too much work already.
        """
        if self._runs[caller] >= RUNS_EACH:
            raise HawseError(
                "limit_exceeded", f"{RUNS_EACH} calls of {caller!r} wait for long work, which is the limit"
            )
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def step() -> None:
            if done.done():  # it was cancelled
                return
            try:
                next(work)
            except StopIteration as end:
                done.set_result(end.value)
            except Exception as error:
                done.set_exception(error)
            else:
                self.submit(caller, step)

        self._runs[caller] += 1
        self.submit(caller, step)
        try:
            return await done
        finally:
            work.close()
            self._runs[caller] -= 1
            if not self._runs[caller]:
                del self._runs[caller]

    def _schedule(self) -> None:
        if self._steps and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turns)

    def _take_turns(self) -> None:
        """Run steps for `SLICE` seconds. An exception goes to the handler of the event loop; other steps still run."""
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
