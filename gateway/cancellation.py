"""Cancellation that is not lost. For tasks that go on after errors, and use code which may lose a cancellation."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

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


async def in_thread(work: Callable[[], T]) -> T:
    """Do work that blocks in a thread. A cancellation waits until it has ended, so that nothing it uses is closed."""
    running = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        running.exception()  # the cancellation matters more
        raise cancelled
    return running.result()
