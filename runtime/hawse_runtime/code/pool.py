"""A pool of executors started in advance. Once used, an executor never returns to the pool."""

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


class _KernelPool:
    """Executors for a language and kernel that are ready for use."""

    def __init__(self, options: ExecutorOptions, limits: PoolLimits) -> None:
        self.options = options
        self.limits = limits
        self.ready: list[Executor] = []
        self.starting = 0
        self.idle: asyncio.TimerHandle | None = None


class ExecutorPool:
    """Provides executors. Once a language has been used, some executors for it are started in the background and kept
    ready.
    """

    def __init__(self, start: StartExecutor, tasks: Tasks, limits: CodeLimits) -> None:
        """Create an empty pool.

        Args:
            start: Starts an executor.
            tasks: Owns background tasks.
            limits: Determines how many executors to keep ready, and for how long.
        """
        self._start = start
        self._tasks = tasks
        self._limits = limits
        self._pools: dict[tuple[str | None, str | None], _KernelPool] = {}
        self._closed = False

    @property
    def ready(self) -> Mapping[str, int]:
        """The number of ready executors, keyed by kernel name."""
        found: dict[str, int] = {}
        for pool in self._pools.values():
            for executor in pool.ready:
                found[executor.kernel.kernel] = found.get(executor.kernel.kernel, 0) + 1
        return found

    async def take(self, options: ExecutorOptions, *, usual: bool) -> Executor:
        """Return an unused executor, from the pool if possible.

        Args:
            options: Options for starting the executor.
            usual: Whether the options are common enough that the pool keeps executors ready for them.

        Raises:
            HawseError: `language_unavailable` or `spawn_failed`.
        """
        if not usual:
            return await self._start(options)
        pool = self._pool(options)
        executor = self._from(pool)
        if executor is None:
            executor = await self._start(options)
        self._fill(pool)
        return executor

    async def close(self) -> None:
        """End all executors in the pool."""
        self._closed = True
        waiting = [executor for pool in self._pools.values() for executor in self._emptied(pool)]
        await asyncio.gather(*(executor.end() for executor in waiting), return_exceptions=True)

    def _pool(self, options: ExecutorOptions) -> _KernelPool:
        key = (options.language, options.kernel)
        pool = self._pools.get(key)
        if pool is None:
            limits = self._limits.pools.get(options.language or "", self._limits.pool)
            pool = self._pools[key] = _KernelPool(options, limits)
        if pool.options != options:  # the sandbox's environment has changed
            self._end_all(self._emptied(pool))
            pool.options = options
        return pool

    def _from(self, pool: _KernelPool) -> Executor | None:
        while pool.ready:
            executor = pool.ready.pop(0)
            if executor.exit is None:
                executor.on_exit = None
                return executor
        return None

    def _fill(self, pool: _KernelPool) -> None:
        """Start any missing executors, and schedule all of them to be ended if none is used for a long time."""
        if pool.idle is not None:
            pool.idle.cancel()
        if self._closed:
            return
        pool.idle = asyncio.get_running_loop().call_later(pool.limits.idle, self._reap, pool)
        while len(pool.ready) + pool.starting < pool.limits.size and self._has_memory(pool):
            pool.starting += 1
            self._tasks.start(self._add(pool, pool.options))

    def _has_memory(self, pool: _KernelPool) -> bool:
        """Return whether the language's memory limit allows another executor as large as the largest one."""
        sizes = [executor.kernel.memory for executor in pool.ready]
        each = max(sizes, default=0)
        return sum(sizes) + (pool.starting + 1) * each <= pool.limits.memory

    async def _add(self, pool: _KernelPool, options: ExecutorOptions) -> None:
        try:
            executor = await self._start(options)
        except HawseError as error:
            log.warning("! cannot start an executor for the pool: %s", error)
            return
        finally:
            pool.starting -= 1
        if self._closed or pool.idle is None or pool.options != options or not self._fits(pool, executor):
            await executor.end()
            return
        executor.on_exit = lambda exit: self._ended(pool, executor)
        pool.ready.append(executor)

    def _fits(self, pool: _KernelPool, executor: Executor) -> bool:
        sizes = [other.kernel.memory for other in pool.ready]
        return sum(sizes) + executor.kernel.memory <= pool.limits.memory

    def _ended(self, pool: _KernelPool, executor: Executor) -> None:
        if executor in pool.ready:
            pool.ready.remove(executor)

    def _reap(self, pool: _KernelPool) -> None:
        self._end_all(self._emptied(pool))

    def _emptied(self, pool: _KernelPool) -> list[Executor]:
        if pool.idle is not None:
            pool.idle.cancel()
            pool.idle = None
        ready, pool.ready = pool.ready, []
        for executor in ready:
            executor.on_exit = None
        return ready

    def _end_all(self, executors: list[Executor]) -> None:
        for executor in executors:
            self._tasks.start(executor.end())
