"""A runtime's threads: a bounded pool for each kind of blocking work, so that one kind can't block another.

Long-running work is a generator. Each step runs in a thread, and the pool runs other work between steps. The event
loop's default executor is not used, because a slow disk could block its threads and delay kills.
"""

import asyncio
import errno
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

DISK_THREADS = 8  # number of threads for disk I/O; a slow disk can block all of them
SEARCH_THREADS = 2  # regular expressions hold the GIL, so more threads would not help
LOOK_THREADS = 2  # for inspecting programs; a thread can block on memory that a program has mapped from a slow file
# For looking up all processes' sockets, which takes a few milliseconds, or more on a large machine.
PROC_THREADS = 2
_NO_THREAD = "can't start new thread"  # message of the RuntimeError that Python raises if no thread can be started
IMAGE_THREADS = 1  # zlib releases the GIL; more threads would compete with the terminals
KILL_THREADS = 1  # one scan of /proc serves all pending kills


class Stepped(NamedTuple):
    """The result of a generator's step: `value` was yielded or, if `over` is set, returned."""

    over: bool
    value: Any


class ThreadPool:
    """A pool of at most `threads` threads. Work is owned by the coroutine that awaits it."""

    def __init__(self, name: str, threads: int) -> None:
        """Create a pool. `name` is the prefix for its threads' names."""
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `work` in a thread. A pool with one thread runs work in the order it was submitted.

        If the caller is cancelled, exceptions raised by `work` are dropped.

        Raises:
            OSError: EAGAIN if a thread can't be started for lack of memory or processes. A running thread may still
                execute `work` later.
        """
        try:
            running = asyncio.get_running_loop().run_in_executor(self._pool, work)
        except RuntimeError as error:
            if str(error) == _NO_THREAD:
                raise OSError(errno.EAGAIN, "the server cannot start a thread") from None
            raise
        running.add_done_callback(_retrieve)
        return running

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a short function in a thread. Exceptions are propagated."""
        return await self.submit(lambda: work(*args, **kwargs))

    async def step(self, work: Generator[Any, None, Any]) -> Stepped:
        """Run the next step of the generator `work`. Exceptions are propagated."""
        return await self.run(_step, work)

    async def finish(self, work: Generator[None, None, T]) -> T:
        """Run the generator `work` to completion, one step at a time, and return its result.

        If cancelled, even repeatedly, this waits for the running step and closes `work`.
        """
        while True:
            running = self.submit(lambda: _step(work))
            try:
                stepped = await asyncio.shield(running)
            except asyncio.CancelledError:
                await _until_done(running)
                closing = self.submit(work.close)
                await _until_done(closing)
                closing.result()
                raise
            if stepped.over:
                result: T = stepped.value
                return result

    def close(self) -> None:
        """Let the threads exit once all submitted work is done. Doesn't wait for them."""
        self._pool.shutdown(wait=False)


class ThreadPools:
    """A runtime's thread pools."""

    def __init__(self) -> None:
        self.disk = ThreadPool("disk", DISK_THREADS)  # work on files, recordings, watches and clones
        self.spill = ThreadPool("spill", 1)  # writes output to disk; one thread keeps it in order
        self.search = ThreadPool("search", SEARCH_THREADS)  # searches output
        self.proc = ThreadPool("proc", PROC_THREADS)  # look-ups in /proc
        # Checks whether programs in terminals are waiting for input.
        self.look = ThreadPool("look", LOOK_THREADS)
        self.image = ThreadPool("image", IMAGE_THREADS)  # encodes desktop screenshots
        self.kill = ThreadPool("kill", KILL_THREADS)  # finds processes to kill

    def close(self) -> None:
        for pool in (self.disk, self.spill, self.search, self.proc, self.look, self.image, self.kill):
            pool.close()


def _step(work: Generator[Any, None, Any]) -> Stepped:
    try:
        return Stepped(False, next(work))
    except StopIteration as end:
        return Stepped(True, end.value)


def _retrieve(work: "asyncio.Future[Any]") -> None:
    """Retrieve any exception from `work`, because asyncio would otherwise report it as never retrieved."""
    if not work.cancelled():
        work.exception()


async def _until_done(work: "asyncio.Future[Any]") -> None:
    """Wait until `work` is done. Further cancellation is ignored, because the caller has already been cancelled."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])
