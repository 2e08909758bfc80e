"""An event loop in a thread of its own, in which the synchronous client runs the asynchronous one."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

EXIT_TIMEOUT: Final = 2.0  # s that the end of the program waits for open clients


class _Work(Generic[T]):
    """A coroutine that can be cancelled from its beginning on."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False

    async def run(self) -> T:
        if self._cancelled:
            self._coroutine.close()
            raise asyncio.CancelledError
        self._task = asyncio.current_task()
        return await self._coroutine

    def cancel(self) -> None:
        """Cancel it, in its loop. Has no effect if it has ended."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()


class BackgroundLoop:
    """An event loop that runs in a daemon thread until `stop`. All methods may be called from any other thread."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="hawse", daemon=True)
        self._thread.start()

    @property
    def usable(self) -> bool:
        """Whether the thread runs in this process: a process that was forked does not have it."""
        return self._pid == os.getpid() and self._thread.is_alive()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and return its result, or raise its exception.

        An exception in the waiting thread, such as `KeyboardInterrupt`, cancels the coroutine.

        Raises:
            RuntimeError: The loop belongs to a process that this one was forked from, was stopped, or is the caller.
        """
        try:
            if not self.usable:
                raise RuntimeError(
                    "this client belongs to another process, or to a loop that was stopped: connect again"
                )
            if threading.current_thread() is self._thread:
                raise RuntimeError("a callback of the client must not wait for the client")
        except RuntimeError:
            coroutine.close()
            raise
        work = _Work(coroutine)
        try:
            return asyncio.run_coroutine_threadsafe(work.run(), self._loop).result()
        except BaseException:  # also Ctrl-C before the line above has a future that could be cancelled
            with suppress(RuntimeError):  # the loop has been closed, and so has cancelled its work
                self._loop.call_soon_threadsafe(work.cancel)
            raise

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a function in the loop's thread and return its result, or raise its exception."""

        async def call() -> T:
            return function(*arguments, **options)

        return self.run(call())

    def stop(self) -> None:
        """Cancel what runs and end the thread. Does nothing in a forked process."""
        if not self.usable:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(EXIT_TIMEOUT)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=EXIT_TIMEOUT))
        finally:
            self._loop.close()


class EnteredContext:
    """An async context manager that was entered in one task, which also leaves it: a task group requires that.

    Args:
        loop: The loop that runs it.
        context: The context manager.
    """

    def __init__(self, loop: BackgroundLoop, context: AbstractAsyncContextManager[T]) -> None:
        self._loop = loop
        self._context = context
        self._leave: asyncio.Future[BaseException | None]
        self._task: asyncio.Task[bool]

    def enter(self) -> Any:
        """Return what entering returned, or raise its exception."""
        return self._loop.run(self._enter())

    def leave(self, error: BaseException | None) -> bool:
        """Leave because of `error`; return whether the context manager has handled it. Raises what leaving raises."""
        return self._loop.run(self._exit(error))

    async def _enter(self) -> Any:
        loop = asyncio.get_running_loop()
        self._leave = loop.create_future()
        entered: asyncio.Future[Any] = loop.create_future()
        self._task = loop.create_task(self._hold(entered))
        try:
            await asyncio.wait([entered, self._task], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if not entered.done():
            await self._task  # raises
        return entered.result()

    async def _hold(self, entered: "asyncio.Future[Any]") -> bool:
        error = None
        try:
            async with self._context as value:
                entered.set_result(value)
                error = await self._leave
                if error is not None:
                    raise error
        except BaseException as raised:
            if raised is not error:
                raise
            return False
        return error is not None

    async def _exit(self, error: BaseException | None) -> bool:
        if not self._leave.done():
            self._leave.set_result(error)
        return await asyncio.shield(self._task)


class Default:
    """The loop of this process."""

    def __init__(self) -> None:
        self._loop: BackgroundLoop | None = None
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def get(self) -> BackgroundLoop:
        """Return the loop, which is started when it is first needed and ends with the program."""
        with self._lock:
            if self._loop is None or not self._loop.usable:
                self._loop = BackgroundLoop()
                atexit.register(self._loop.stop)
            return self._loop

    def _forget(self) -> None:
        """In a forked process: the thread does not exist here, and another one may have held the lock."""
        self._loop, self._lock = None, threading.Lock()


DEFAULT: Final = Default()
