"""Cancellation that is not lost. For tasks that go on after errors, and use code which may lose a cancellation."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


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
