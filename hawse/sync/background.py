"""An event loop in a separate thread, where the synchronous client runs the asynchronous client."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Generic, TypeVar

from hawse.sync.deadline import limited

T = TypeVar("T")

STOPPED: Final = "this client belongs to another process, or to a loop that was stopped: connect again"
EXIT_TIMEOUT: Final = 2.0  # seconds the program waits for open clients when it exits


class _Work(Generic[T]):
    """A coroutine that one thread waits for while the loop's thread runs it.

    It costs a third as much as a `concurrent.futures.Future`, and the result doesn't have to wait for another loop
    iteration.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        self._result: T
        self._error: BaseException | None = None
        self._running = threading.Lock()  # locked until the result is available
        self._running.acquire()

    def wait(self) -> T:
        """Return the result of the coroutine or raise its exception. A signal can interrupt the wait."""
        self._running.acquire()
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            del self  # breaks the reference cycle between this object and the exception's traceback

    # ---- in the loop's thread

    def begin(self) -> asyncio.Task[None] | None:
        """Run the coroutine in a task on the running loop. Returns None if the coroutine was already cancelled."""
        if self._cancelled:
            self.abandon(CancelledError())
        else:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return self._task

    def cancel(self) -> None:
        """Cancel the coroutine. Has no effect if it has ended."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def abandon(self, error: BaseException) -> None:
        """Make `wait` raise `error` without running the coroutine. Has no effect if the coroutine has ended."""
        if self._running.locked():
            self._coroutine.close()
            self._error = error
            self._running.release()

    async def _run(self) -> None:
        try:
            self._result = await self._coroutine
        except asyncio.CancelledError:
            self._error = CancelledError()
            raise
        except BaseException as error:
            self._error = error
        finally:
            self._running.release()


class BackgroundLoop:
    """An event loop that runs in a daemon thread until `stop`. All methods can be called from other threads."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._waited: set[_Work[Any]] = set()  # coroutines that threads are waiting for
        self._begun: set[asyncio.Task[None]] = set()  # tasks started by threads; a thread may have been interrupted
        self._held: dict[asyncio.Task[Any], None] = {}  # contexts, in the order they were entered
        self._lock = threading.Lock()
        self._stopped = False
        self._exiting = False  # the program is exiting
        self._thread = threading.Thread(target=self._run, name="hawse", daemon=True)
        self._thread.start()

    @property
    def usable(self) -> bool:
        """Whether the thread is running in this process. A forked process has no such thread."""
        return self._pid == os.getpid() and self._thread.is_alive()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and return its result or raise its exception.

        An exception in the waiting thread, such as `KeyboardInterrupt`, cancels the coroutine.

        Raises:
            RuntimeError: This process is a fork of the loop's process, the loop was stopped, or the caller is the
                loop's thread.
        """
        try:
            return self._run_coroutine(coroutine)
        except BaseException:
            if self._exiting and threading.current_thread() is not threading.main_thread():
                threading.Event().wait()  # a daemon thread ends with the program, and would just print the exception
            raise

    def _run_coroutine(self, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            if not self.usable:
                raise RuntimeError(STOPPED)
            if threading.current_thread() is self._thread:
                raise RuntimeError("a client callback must not wait for the client")
        except RuntimeError:
            coroutine.close()
            raise
        work = _Work(coroutine)
        try:
            with self._lock:
                if self._stopped:
                    coroutine.close()
                    raise RuntimeError(STOPPED)
                self._waited.add(work)
            self._loop.call_soon_threadsafe(self._begin, work)
            return work.wait()
        except BaseException:  # either the coroutine's exception or an interrupt by Ctrl-C
            with suppress(RuntimeError):  # if the loop is closed, it has already cancelled its tasks
                self._loop.call_soon_threadsafe(work.cancel)
            raise
        finally:
            self._waited.discard(work)

    def hold(self, context: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Run a coroutine that enters and leaves a context, in a task that `stop` awaits. Called in the loop's
        thread.
        """
        task = self._loop.create_task(context)
        self._held[task] = None
        task.add_done_callback(self._held.pop)
        return task

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a function in the loop's thread, and return its result or raise its exception."""

        async def call() -> T:
            return function(*arguments, **options)

        return self.run(call())

    def release(self, values: list[Any]) -> None:
        """Clear a list in the loop's thread, so that its items' finalizers run there. Does not wait."""
        if self.usable:
            with suppress(RuntimeError):  # the loop has been closed in the meantime
                self._loop.call_soon_threadsafe(values.clear)

    def exit(self) -> None:
        """Like `stop`, but used when the program exits. Threads that still have calls in progress end silently with the
        program.
        """
        self._exiting = True
        self.stop()

    def stop(self) -> None:
        """Cancel running coroutines, leave all contexts that were entered, and end the thread.

        Has no effect in a forked process.
        """
        if not self.usable:
            return
        with suppress(RuntimeError):  # the loop has been closed in the meantime
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(EXIT_TIMEOUT)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            with self._lock:
                self._stopped = True
            for work in list(self._waited):
                work.cancel()  # also cancels scheduled coroutines that have not started
            self._loop.run_until_complete(self._end())
        finally:
            with self._lock:
                self._stopped = True
            self._loop.close()
            for work in list(self._waited):  # calls that never started, or that ignored being cancelled
                work.abandon(RuntimeError(STOPPED))

    def _begin(self, work: _Work[Any]) -> None:
        if (task := work.begin()) is not None:
            self._begun.add(task)
            task.add_done_callback(self._begun.discard)

    async def _end(self) -> None:
        """Wait for cancelled tasks to end, then leave the contexts. Clients are closed while they still have a
        connection, so that they can end their calls on the server.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_TIMEOUT):
                if self._begun:
                    await asyncio.wait(self._begun)
                for context in reversed(list(self._held)):
                    context.cancel()
                    await asyncio.gather(context, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_TIMEOUT):
                while rest := asyncio.all_tasks() - {asyncio.current_task()}:  # a task that is ending may start another
                    for task in rest:
                        task.cancel()
                    await asyncio.wait(rest)


class EnteredContext:
    """An async context manager entered and left in the same task, as required by task groups.

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
        """Return the result of entering the context, or raise its exception."""
        return self._loop.run(limited(self._enter))

    def leave(self, error: BaseException | None) -> bool:
        """Leave the context because of `error`. Returns whether the context manager suppressed it. Raises any other
        exception that leaving the context raises.
        """
        return self._loop.run(self._exit(error))

    async def _enter(self) -> Any:
        loop = asyncio.get_running_loop()
        self._leave = loop.create_future()
        entered: asyncio.Future[Any] = loop.create_future()
        self._task = self._loop.hold(self._hold(entered))
        try:
            await asyncio.wait([entered, self._task], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if not entered.done():
            await self._task  # raises the context's exception
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
    """This process's loop."""

    def __init__(self) -> None:
        self._loop: BackgroundLoop | None = None
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def get(self) -> BackgroundLoop:
        """Return the process's loop, which is started on first use and ends with the program."""
        with self._lock:
            if self._loop is None or not self._loop.usable:
                self._loop = BackgroundLoop()
                atexit.register(self._loop.exit)
            return self._loop

    def _forget(self) -> None:
        """Reset the state in a forked process, where the thread does not exist and another thread may have held the
        lock.
        """
        self._loop, self._lock = None, threading.Lock()


DEFAULT: Final = Default()
