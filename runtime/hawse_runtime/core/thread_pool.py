"""The threads of a runtime: one bounded pool for each kind of blocking work, so that kinds do not block each other.

Long work is a generator: each step runs in a thread, and other work of the pool runs between steps. The loop's default
executor is not used, because a slow disk would delay kills there.
"""

import asyncio
import errno
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

DISK_THREADS = 8  # the most that a slow disk can block
SEARCH_THREADS = 2  # regular expressions hold the interpreter lock, so more threads would not help
PROC_THREADS = 2  # look-ups of all processes' sockets: a few milliseconds, more on a large machine
_NO_THREAD = "can't start new thread"  # the text of Python's RuntimeError
IMAGE_THREADS = 1  # zlib releases the interpreter lock: more threads would compete with terminals
KILL_THREADS = 1  # one scan of /proc serves all waiting kills


class Stepped(NamedTuple):
    """One step of a generator, which yielded `value` or, if `over`, returned it."""

    over: bool
    value: Any


class ThreadPool:
    """A pool of at most `threads` threads. Work belongs to the coroutine that awaits it."""

    def __init__(self, name: str, threads: int) -> None:
        """`name`: the prefix of the threads' names."""
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `work` in a thread. In a pool of one thread, work runs in order of submission.

        If the caller is cancelled, an error of its work is dropped.

        Raises:
            OSError: EAGAIN if a thread cannot be started for lack of memory or processes. A running thread may still do
            the work.
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
        """Run a short function in a thread. Propagates its exceptions."""
        return await self.submit(lambda: work(*args, **kwargs))

    async def step(self, work: Generator[Any, None, Any]) -> Stepped:
        """Run the next step of `work`. Propagates its exceptions."""
        return await self.run(_step, work)

    async def finish(self, work: Generator[None, None, T]) -> T:
        """Run `work` to completion, one step at a time, and return its result.

        When cancelled, even repeatedly, it waits for the running step and closes `work`.
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
        """Let the threads exit after the submitted work. Does not wait for them."""
        self._pool.shutdown(wait=False)


class ThreadPools:
    """All pools of a runtime."""

    def __init__(self) -> None:
        self.disk = ThreadPool("disk", DISK_THREADS)  # files, recordings, watches, clones
        self.spill = ThreadPool("spill", 1)  # output written to disk: one thread keeps it in order
        self.search = ThreadPool("search", SEARCH_THREADS)  # patterns in output
        self.proc = ThreadPool("proc", PROC_THREADS)  # look-ups in /proc
        self.image = ThreadPool("image", IMAGE_THREADS)  # encoding of desktop screenshots
        self.kill = ThreadPool("kill", KILL_THREADS)  # looking for the processes to kill

    def close(self) -> None:
        for pool in (self.disk, self.spill, self.search, self.proc, self.image, self.kill):
            pool.close()


def _step(work: Generator[Any, None, Any]) -> Stepped:
    try:
        return Stepped(False, next(work))
    except StopIteration as end:
        return Stepped(True, end.value)


def _retrieve(work: "asyncio.Future[Any]") -> None:
    """Retrieve the error of `work`, so that asyncio does not report it when the future is collected."""
    if not work.cancelled():
        work.exception()


async def _until_done(work: "asyncio.Future[Any]") -> None:
    """Wait until `work` is done, ignoring further cancellation. The caller is already being cancelled."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])
