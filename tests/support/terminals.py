"""Waits for the output or the end of a test's `Terminal`."""

from collections.abc import Callable

from hawse_runtime.terminal.terminal import Terminal
from tests.support.waiting import Changes


class _Follower:
    """A `Subscriber` that reads nothing, so that it does not affect the pace of reading."""

    cursor: int | None = None
    lossless = False
    follows = True

    def __init__(self) -> None:
        self.changes = Changes()

    def wake(self) -> None:
        self.changes.notify()


async def until(terminal: Terminal, condition: Callable[[], object]) -> None:
    """Wait until `condition`, which depends on the terminal's output, size or exit, returns a true value."""
    follower = _Follower()
    terminal.subscribe(follower)
    try:
        await follower.changes.until(condition)
    finally:
        terminal.unsubscribe(follower)


async def exited(terminal: Terminal) -> None:
    """Wait until the program has ended and its output is complete."""
    await until(terminal, lambda: terminal.exit is not None)
