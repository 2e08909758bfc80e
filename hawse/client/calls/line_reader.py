"""Reads a stream of bytes by lines, or as it arrives, in any order: no byte is lost between both."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

LINE_MAX: Final = 1 << 20  # bytes of a line that are held: a longer one is returned in parts


class LineReader:
    """Holds the bytes that were received and not yet returned: at most a line and what arrived with its end."""

    def __init__(self, receive: Callable[[], Awaitable[bytes]], *, limit: int = LINE_MAX) -> None:
        """Create a reader.

        Args:
            receive: Returns some bytes; raises `StopAsyncIteration` at the end.
            limit: The number of bytes of a line; a longer one is returned in parts.
        """
        self._receive = receive
        self._limit = limit
        self._held = bytearray()
        self._searched = 0  # bytes at the start of `_held` that contain no end of line

    @property
    def held(self) -> int:
        """The number of bytes that were received and not yet returned."""
        return len(self._held)

    def feed(self, data: bytes) -> None:
        """Append bytes that were received elsewhere."""
        self._held += data

    def take(self, size: int | None = None) -> bytes:
        """Return the first `size` bytes that are held; None means all."""
        taken = bytes(self._held if size is None else self._held[:size])
        del self._held[: len(taken)]
        self._searched = 0
        return taken

    def take_line(self) -> bytes | None:
        """Return the next complete line without its end (LF or CR LF), or a part of a long one; None without a line."""
        end = self._held.find(b"\n", self._searched, self._limit)
        if end >= 0:
            return self.take(end + 1)[:-1].removesuffix(b"\r")
        if len(self._held) >= self._limit:
            return self.take(self._limit)
        self._searched = len(self._held)
        return None

    async def read(self) -> bytes:
        """Return buffered bytes, or the next ones to arrive. Raises `StopAsyncIteration` at the end."""
        return self.take() if self._held else await self._receive()

    async def lines(self, encoding: str, errors: str) -> AsyncIterator[str]:
        """Iterate over the lines, decoded. The last one need not have an end."""
        while True:
            while (line := self.take_line()) is not None:
                yield line.decode(encoding, errors)
            try:
                self.feed(await self._receive())
            except StopAsyncIteration:
                break
        if self._held:
            yield self.take().decode(encoding, errors)
