"""Async iterators over a receive buffer, one for each `async for`. No output is discarded while an iterator exists."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from hawse.client.calls.receive_buffer import ReceiveBuffer

T = TypeVar("T")


class OutputIterator(Generic[T]):
    """Yields the results of `step`. After a `break`, a new iterator continues with the next item."""

    def __init__(self, buffer: ReceiveBuffer, step: Callable[[], Awaitable[T]]) -> None:
        self._buffer = buffer
        self._step = step
        buffer.register()

    def __aiter__(self) -> "OutputIterator[T]":
        return self

    async def __anext__(self) -> T:
        return await self._step()

    def __del__(self) -> None:
        self._buffer.unregister()
