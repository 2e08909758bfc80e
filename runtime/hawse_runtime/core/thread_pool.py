"""The threads of a runtime: one bounded pool for each kind of blocking work, so that no kind waits for another.

Long work is a generator: each step runs in a thread, and between two steps other work of its pool gets a turn.
The loop's default executor is not used: a slow disk would hold up kills there.
"""

import asyncio
import errno
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

DISK_THREADS = 8  # a slow disk costs at most so many
SEARCH_THREADS = 2  # regular expressions hold the interpreter lock: more threads would only take turns
PROC_THREADS = 2  # the sockets of all processes: a few milliseconds each, on a large machine many
_NO_THREAD = "can't start new thread"  # the text of Python's RuntimeError
IMAGE_THREADS = 1  # zlib does not hold the interpreter lock: more would take the processor from terminals
KILL_THREADS = 1  # one scan of /proc serves all kills that wait for one


class Stepped(NamedTuple):
    """One step of a generator: it yielded `value`, or, if it is `over`, returned it."""

    over: bool
    value: Any


class ThreadPool:
    """A pool of at most `threads` threads. The coroutine that awaits one of its methods owns that work."""

    def __init__(self, name: str, threads: int) -> None:
        """`name`: the prefix of the threads' names."""
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `work` in a thread; with one thread, after all that was submitted before.

        An error of work whose caller has gone, because it was cancelled, is dropped: nothing is left to handle it.

        Raises:
            OSError: EAGAIN: a thread cannot be started, for lack of memory or processes. A thread that runs may still
                do the work.
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
        """Run something short in a thread. Raises what it raises."""
        return await self.submit(lambda: work(*args, **kwargs))

    async def step(self, work: Generator[Any, None, Any]) -> Stepped:
        """Run the next step of `work`. Raises what it raises."""
        return await self.run(_step, work)

    async def finish(self, work: Generator[None, None, T]) -> T:
        """Run `work` to its end, one step at a time; return what it returns.

        If it is cancelled, it waits for the step that is running and closes `work`, however often it is cancelled.
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
        """Let the threads end after the work that was submitted. Does not wait for them."""
        self._pool.shutdown(wait=False)


class ThreadPools:
    """All pools of a runtime."""

    def __init__(self) -> None:
        self.disk = ThreadPool("disk", DISK_THREADS)  # files, recordings, watches, clones
        self.spill = ThreadPool("spill", 1)  # output that is written to disk: one thread, so that it stays in order
        self.search = ThreadPool("search", SEARCH_THREADS)  # patterns in output
        self.proc = ThreadPool("proc", PROC_THREADS)  # look-ups in /proc
        self.image = ThreadPool("image", IMAGE_THREADS)  # screenshots of desktops that are encoded
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
    """Mark the error of `work` as retrieved, so that asyncio does not report it when the future is collected."""
    if not work.cancelled():
        work.exception()


async def _until_done(work: "asyncio.Future[Any]") -> None:
    """Wait until `work` is done. The caller is being cancelled: being cancelled again changes nothing."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([work])
