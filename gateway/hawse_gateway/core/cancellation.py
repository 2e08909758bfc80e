"""Reliable cancellation for tasks that continue after errors or call code that can swallow a cancellation."""

import asyncio
import logging
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


@contextmanager
def cancellation_kept() -> Iterator[None]:
    """Raise `CancelledError` at the end of the block if the task was cancelled inside it and the cancellation was lost.

    In Python 3.11, `asyncio.wait_for`, which redis-py uses for every command, swallows a cancellation that arrives at
    the same moment as the result. Client libraries that close their connection when cancelled may raise a connection
    error instead of `CancelledError`. Without this check, a task that calls such code in a loop would never end.

    Raises:
        asyncio.CancelledError: The task was cancelled.
    """
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    except Exception:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError from None
        raise
    if task is not None and task.cancelling() > before:
        raise asyncio.CancelledError


async def finished(work: Awaitable[T]) -> T:
    """Wait for `work` to finish and return its result, even if the current task is cancelled in the meantime.

    If the task was cancelled, `CancelledError` is raised once the work is done. Any error that the work raised is then
    only logged.

    Raises:
        asyncio.CancelledError: The task was cancelled, once or several times.
    """
    running, cancelled = await _completed(work)
    if cancelled is not None:
        if not running.cancelled() and (error := running.exception()) is not None:
            log.warning("! after a cancellation: %r", error)
        raise cancelled
    return running.result()


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread. If cancelled, wait for the function to return before raising
    `CancelledError`."""
    return await finished(asyncio.get_running_loop().run_in_executor(None, work))


async def start_process(*command: str, **options: Any) -> Process:
    """Start a process as the leader of a new process group. If the task is cancelled in the meantime, the group is
    killed.

    uvloop abandons the process if `create_subprocess_exec` is cancelled.

    Args:
        command: The program and its arguments.
        options: Options for `asyncio.create_subprocess_exec`.

    Raises:
        OSError: The process cannot be started.
    """
    starting, cancelled = await _completed(asyncio.create_subprocess_exec(*command, start_new_session=True, **options))
    if cancelled is not None:
        if starting.exception() is None:
            await kill_process(starting.result())
        raise cancelled
    return starting.result()


async def kill_process(process: Process) -> None:
    """Kill the process group of a process from `start_process`, and wait until it has exited and its pipes are closed.

    If the process has already exited, nothing is killed, because its id may have been reused. A process that exits by
    itself must therefore not leave child processes behind.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    await process.communicate()


async def _completed(work: Awaitable[T]) -> tuple[asyncio.Future[T], asyncio.CancelledError | None]:
    """Wait until `work` is done. Return it as a future, along with this task's last cancellation during the wait."""
    running = asyncio.ensure_future(work)  # noqa: TID251  # this call is its parent, which ends after it in any case
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    return running, cancelled
