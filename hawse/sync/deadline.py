"""Time limits for the synchronous client, like those that `asyncio.timeout` provides for the asynchronous client."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from hawse.client.base.call_errors import DeadlineExceededError

T = TypeVar("T")

_UNTIL: Final[ContextVar[float | None]] = ContextVar("hawse.sync.timeout", default=None)  # a monotonic time

_OVER: Final = "the time limit set with `hawse.sync.timeout` has passed"


@contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """Limit the total time of the calls in a block: `with hawse.sync.timeout(10): box.files.read("f")`.

    When time is up, a waiting call is cancelled, on the server as well, and later calls fail immediately. The limit
    does not apply to other threads. Exiting an inner `with` block is also exempt: exiting a process's block, for
    example, still ends the process.

    Args:
        seconds: The time limit, from the start of the block.

    Raises:
        DeadlineExceededError: Time is up. The error is also a `TimeoutError`.
    """
    until, outer = time.monotonic() + seconds, _UNTIL.get()
    token = _UNTIL.set(until if outer is None else min(until, outer))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def limited(function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> Coroutine[Any, Any, T]:
    """Call a coroutine function, applying this thread's time limit."""
    until = _UNTIL.get()
    return function(*arguments) if until is None else _within(until, function, *arguments)


async def _within(until: float, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
    if until <= time.monotonic():
        raise DeadlineExceededError(_OVER, admitted="no")
    try:
        async with asyncio.timeout(until - time.monotonic()) as scope:
            return await function(*arguments)
    except TimeoutError:
        if not scope.expired():  # the call itself failed
            raise
        raise DeadlineExceededError(_OVER, admitted="unknown") from None
