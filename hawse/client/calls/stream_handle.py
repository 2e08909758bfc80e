"""The base class of the handles of streams: `async with` opens the call, `async for` reads what it sends."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Generic, Self, TypeVar

from hawse.client.base.errors import ClientClosedError
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.iterators import OutputIterator

C = TypeVar("C", bound=ClientCall)
T = TypeVar("T")


class StreamHandle(ABC, Generic[C, T]):
    """A handle of a call with a receive buffer.

    Entering it starts the call and waits until the server has accepted it. Leaving it ends the call, after which
    reading raises `ClientClosedError`.
    """

    def __init__(self, calls: CallTable, call: C) -> None:
        self._calls = calls
        self._call = call

    async def __aenter__(self) -> Self:
        await self._calls.begin(self._call)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.abandon(self._call, ClientClosedError("the handle was closed"))

    def __aiter__(self) -> OutputIterator[T]:
        assert self._call.receive_buffer is not None
        return OutputIterator(self._call.receive_buffer, self._next)

    @abstractmethod
    async def _next(self) -> T:
        """Wait for the next item of the receive buffer and return it. Raises `StopAsyncIteration` at the end."""
