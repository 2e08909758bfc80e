"""Reads a stream of bytes line by line or in chunks. Callers can alternate between the two without losing bytes."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

LINE_MAX: Final = 1 << 20  # maximum length of a line, in bytes; longer lines are returned in parts


class LineReader:
    """Buffers received bytes until they are returned: at most one line and the rest of the chunk that completed it."""

    def __init__(self, receive: Callable[[], Awaitable[bytes]], *, limit: int = LINE_MAX) -> None:
        """Create a reader.

        Args:
            receive: Waits for the next bytes and returns them; raises `StopAsyncIteration` at the end.
            limit: Maximum length of a line, in bytes. Longer lines are returned in parts.
        """
        self._receive = receive
        self._limit = limit
        self._held = bytearray()
        self._searched = 0  # number of bytes at the start of `_held` that are known to contain no LF

    @property
    def held(self) -> int:
        """The number of bytes received but not yet returned."""
        return len(self._held)

    def feed(self, data: bytes) -> None:
        """Append bytes received by the caller."""
        self._held += data

    def take(self, size: int | None = None) -> bytes:
        """Return the first `size` buffered bytes; None means all of them."""
        taken = bytes(self._held if size is None else self._held[:size])
        del self._held[: len(taken)]
        self._searched = 0
        return taken

    def take_line(self) -> bytes | None:
        """Return the next complete line without its line ending (LF or CR LF), or a part of a long line. None if no
        line is complete.
        """
        end = self._held.find(b"\n", self._searched, self._limit)
        if end >= 0:
            return self.take(end + 1)[:-1].removesuffix(b"\r")
        if len(self._held) >= self._limit:
            return self.take(self._limit)
        self._searched = len(self._held)
        return None

    async def read(self) -> bytes:
        """Return buffered bytes, or wait for the next bytes. Raises `StopAsyncIteration` at the end."""
        return self.take() if self._held else await self._receive()

    async def lines(self, encoding: str, errors: str) -> AsyncIterator[str]:
        """Iterate over the lines, decoded. The last line may lack a line ending."""
        while True:
            while (line := self.take_line()) is not None:
                yield line.decode(encoding, errors)
            try:
                self.feed(await self._receive())
            except StopAsyncIteration:
                break
        if self._held:
            yield self.take().decode(encoding, errors)
