"""A pool of executors that are started in advance. Used executors never return to the pool."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from hawse.code_pool import PoolLimits
from hawse.wire import HawseError
from hawse_runtime.code.executor import Executor, ExecutorOptions
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.core.tasks import Tasks

log = logging.getLogger(__name__)


class StartExecutor(Protocol):
    """A function that starts an executor. Raises `HawseError`."""

    async def __call__(self, options: ExecutorOptions) -> Executor: ...


class _Shelf:
    """The executors of one language and kernel that are ready for use."""

    def __init__(self, options: ExecutorOptions, limits: PoolLimits) -> None:
        self.options = options
        self.limits = limits
        self.ready: list[Executor] = []
        self.starting = 0
        self.idle: asyncio.TimerHandle | None = None


class ExecutorPool:
    """Provides executors. Once a language has been used, some executors are kept ready, started in the background."""

    def __init__(self, start: StartExecutor, tasks: Tasks, limits: CodeLimits) -> None:
        """Create an empty pool.

        Args:
            start: Starts an executor.
            tasks: Owns the background tasks.
            limits: Determines how many executors are kept ready, and for how long.
        """
        self._start = start
        self._tasks = tasks
        self._limits = limits
        self._shelves: dict[tuple[str | None, str | None], _Shelf] = {}
        self._closed = False

    @property
    def ready(self) -> Mapping[str, int]:
        """The number of ready executors by kernel name."""
        found: dict[str, int] = {}
        for shelf in self._shelves.values():
            for executor in shelf.ready:
                found[executor.kernel.kernel] = found.get(executor.kernel.kernel, 0) + 1
        return found

    async def take(self, options: ExecutorOptions, *, usual: bool) -> Executor:
        """Return an unused executor, from the pool if possible.

        Args:
            options: The start options of the executor.
            usual: Whether the options are so common that the pool keeps executors ready for them.

        Raises:
            HawseError: `language_unavailable` or `spawn_failed`.
        """
        if not usual:
            return await self._start(options)
        shelf = self._shelf(options)
        executor = self._from(shelf)
        if executor is None:
            executor = await self._start(options)
        self._fill(shelf)
        return executor

    async def close(self) -> None:
        """End all executors in the pool."""
        self._closed = True
        waiting = [executor for shelf in self._shelves.values() for executor in self._emptied(shelf)]
        await asyncio.gather(*(executor.end() for executor in waiting), return_exceptions=True)

    def _shelf(self, options: ExecutorOptions) -> _Shelf:
        key = (options.language, options.kernel)
        shelf = self._shelves.get(key)
        if shelf is None:
            limits = self._limits.pools.get(options.language or "", self._limits.pool)
            shelf = self._shelves[key] = _Shelf(options, limits)
        if shelf.options != options:  # the sandbox's environment has changed
            self._end_all(self._emptied(shelf))
            shelf.options = options
        return shelf

    def _from(self, shelf: _Shelf) -> Executor | None:
        while shelf.ready:
            executor = shelf.ready.pop(0)
            if executor.exit is None:
                executor.on_exit = None
                return executor
        return None

    def _fill(self, shelf: _Shelf) -> None:
        """Start the missing executors. Schedule the end of all executors in case none is used for a long time."""
        if shelf.idle is not None:
            shelf.idle.cancel()
        if self._closed:
            return
        shelf.idle = asyncio.get_running_loop().call_later(shelf.limits.idle, self._reap, shelf)
        while len(shelf.ready) + shelf.starting < shelf.limits.size and self._has_memory(shelf):
            shelf.starting += 1
            self._tasks.start(self._add(shelf, shelf.options))

    def _has_memory(self, shelf: _Shelf) -> bool:
        """Return whether the language's memory limit allows another executor, assuming the size of the largest one."""
        sizes = [executor.kernel.memory for executor in shelf.ready]
        each = max(sizes, default=0)
        return sum(sizes) + (shelf.starting + 1) * each <= shelf.limits.memory

    async def _add(self, shelf: _Shelf, options: ExecutorOptions) -> None:
        try:
            executor = await self._start(options)
        except HawseError as error:
            log.warning("! cannot start an executor for the pool: %s", error)
            return
        finally:
            shelf.starting -= 1
        if self._closed or shelf.idle is None or shelf.options != options or not self._fits(shelf, executor):
            await executor.end()
            return
        executor.on_exit = lambda exit: self._ended(shelf, executor)
        shelf.ready.append(executor)

    def _fits(self, shelf: _Shelf, executor: Executor) -> bool:
        sizes = [other.kernel.memory for other in shelf.ready]
        return sum(sizes) + executor.kernel.memory <= shelf.limits.memory

    def _ended(self, shelf: _Shelf, executor: Executor) -> None:
        if executor in shelf.ready:
            shelf.ready.remove(executor)

    def _reap(self, shelf: _Shelf) -> None:
        self._end_all(self._emptied(shelf))

    def _emptied(self, shelf: _Shelf) -> list[Executor]:
        if shelf.idle is not None:
            shelf.idle.cancel()
            shelf.idle = None
        ready, shelf.ready = shelf.ready, []
        for executor in ready:
            executor.on_exit = None
        return ready

    def _end_all(self, executors: list[Executor]) -> None:
        for executor in executors:
            self._tasks.start(executor.end())
