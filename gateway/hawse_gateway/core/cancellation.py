"""Cancellation that is not lost. For tasks that go on after errors, and use code which may lose a cancellation."""

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
    """Raise `CancelledError` at the end of the block if the task was cancelled during it, whatever the block has done.

    `asyncio.wait_for` of Python 3.11 returns its result if that comes at the same moment as the cancellation; redis-py
    writes every command with it. A client that closes its connection because of a cancellation may also raise an error
    of the connection instead. A task that calls such code again and again would never end.

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
    """Return the result of work that has to end, such as a clean-up. A cancellation waits until it has ended.

    Its error is logged if the task was cancelled.

    Raises:
        asyncio.CancelledError: The task was cancelled, once or several times.
    """
    running = asyncio.ensure_future(work)  # noqa: TID251  # this call is its parent, which ends after it in any case
    cancelled = await _done(running)
    if cancelled is not None:
        if not running.cancelled() and (error := running.exception()) is not None:
            log.warning("! after a cancellation: %r", error)
        raise cancelled
    return running.result()


async def in_thread(work: Callable[[], T]) -> T:
    """Do work that blocks in a thread. A cancellation waits until it has ended, so that nothing it uses is closed."""
    return await finished(asyncio.get_running_loop().run_in_executor(None, work))


async def start_process(*command: str, **options: Any) -> Process:
    """Start a process that leads a group of its own. A cancellation meanwhile kills that group.

    uvloop leaves a process to itself if `create_subprocess_exec` is cancelled.

    Args:
        command: The program and its arguments.
        options: Those of `asyncio.create_subprocess_exec`.

    Raises:
        OSError: It cannot be started.
    """
    work = asyncio.create_subprocess_exec(*command, start_new_session=True, **options)
    starting = asyncio.ensure_future(work)  # noqa: TID251  # this call is its parent, which ends after it in any case
    cancelled = await _done(starting)
    if cancelled is not None:
        if starting.exception() is None:
            await kill_process(starting.result())
        raise cancelled
    return starting.result()


async def kill_process(process: Process) -> None:
    """Kill the group of a process of `start_process`, and wait until the process has ended and its pipes are closed.

    Nothing is killed if the process itself has ended, since another group may have its number then. What such a process
    may leave has to end with it.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    await process.communicate()


async def _done(work: "asyncio.Future[Any]") -> asyncio.CancelledError | None:
    """Wait until `work` is done, and return the last cancellation meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled
