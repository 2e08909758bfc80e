"""The threads in which the disk is touched: few, so that a slow disk costs bounded threads, and no turn is long.

Work that takes long is a generator: each step runs in a thread, and between two steps others get their turn.
"""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 8


class Stepped(NamedTuple):
    """A step of a generator: it yielded `value`, or if it is `over` returned it."""

    over: bool
    value: Any


class ThreadPool:
    """The pool. Who awaits one of its methods owns that work."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="disk")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something short in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))

    async def step(self, work: Generator[Any, None, Any]) -> Stepped:
        """The next step of `work`. Raises what it raises."""
        return await self.run(_step, work)

    async def finish(self, work: Generator[None, None, T]) -> T:
        """Run `work` to its end, a step at a time; return what it returns."""
        while not (stepped := await self.step(work)).over:
            pass
        result: T = stepped.value
        return result

    def close(self) -> None:
        """Let the threads end when they have done what they do."""
        self._pool.shutdown(wait=False)


def _step(work: Generator[Any, None, Any]) -> Stepped:
    try:
        return Stepped(False, next(work))
    except StopIteration as end:
        return Stepped(True, end.value)
