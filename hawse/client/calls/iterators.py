"""Async iterators over an inbox, one for each `async for`: while one exists, nothing it may want is dropped."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from hawse.client.calls.receive_buffer import ReceiveBuffer

T = TypeVar("T")


class OutputIterator(Generic[T]):
    """Yields what `step` returns. It may be left with `break`; another one then goes on at the same place."""

    def __init__(self, inbox: ReceiveBuffer, step: Callable[[], Awaitable[T]]) -> None:
        self._inbox = inbox
        self._step = step
        inbox.register()

    def __aiter__(self) -> "OutputIterator[T]":
        return self

    async def __anext__(self) -> T:
        return await self._step()

    def __del__(self) -> None:
        self._inbox.unregister()
