"""Waits for the output or the end of a test's `Process`."""

from collections.abc import Callable

from hawse_runtime.process.process import Process
from tests.support.waiting import Changes


class _Follower:
    """A `ProcessSubscriber` that reads nothing."""

    def __init__(self) -> None:
        self.changes = Changes()

    def wake(self) -> None:
        self.changes.notify()


async def until(process: Process, condition: Callable[[], object]) -> None:
    """Wait until `condition`, which depends on the process's output or exit, returns a true value."""
    follower = _Follower()
    process.readers[follower] = None
    try:
        await follower.changes.until(condition)
    finally:
        del process.readers[follower]


async def exited(*processes: Process) -> None:
    """Wait until each of these processes has ended."""
    for process in processes:
        await until(process, lambda: process.exit is not None)  # noqa: B023
