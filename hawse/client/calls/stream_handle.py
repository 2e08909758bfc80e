"""The base class for stream handles: `async with` opens the call, `async for` reads its items."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from hawse.client.base.errors import ClientClosedError
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.line_reader import LineReader

C = TypeVar("C", bound=ClientCall)
T = TypeVar("T")


class StreamHandle(ABC, Generic[C, T]):
    """A handle for a call with a receive buffer.

    Entering the handle starts the call and waits until the server has accepted it. Leaving it ends the call; reading
    then raises `ClientClosedError`.
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
        self._check_entered()
        assert self._call.receive_buffer is not None
        return OutputIterator(self._call.receive_buffer, self._next)

    def _check_entered(self) -> None:
        """Raise `RuntimeError` if the call was never opened, since no item would ever arrive."""
        if not self._call.sent:
            raise RuntimeError(f"this {type(self).__name__} is not open: use it in `async with` before reading it")

    @abstractmethod
    async def _next(self) -> T:
        """Wait for the next item of the receive buffer and return it. Raises `StopAsyncIteration` at the end."""


class ByteStreamHandle(StreamHandle[C, bytes]):
    """A handle for a stream of bytes. It can be read in chunks (`async for`) and line by line, in any order."""

    def __init__(self, calls: CallTable, call: C) -> None:
        super().__init__(calls, call)
        self._reader = LineReader(self._receive)

    async def lines(self, *, encoding: str = "utf-8", errors: str = "replace") -> AsyncIterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """
        self._check_entered()
        async for line in self._reader.lines(encoding, errors):
            yield line

    async def _next(self) -> bytes:
        return await self._reader.read()

    @abstractmethod
    async def _receive(self) -> bytes:
        """Wait for the next bytes and return them. Raises `StopAsyncIteration` at the end."""
