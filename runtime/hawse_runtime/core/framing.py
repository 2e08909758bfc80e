"""Length-prefixed messages on a byte stream: `length u32 | body` (big-endian). Does no I/O."""

import struct
from collections.abc import Callable, Generator
from typing import TypeVar

T = TypeVar("T")

LENGTH = struct.Struct(">I")


class ProtocolError(Exception):
    """Raised when the peer sends something that isn't a valid message."""


def frame(*parts: bytes | memoryview) -> bytes:
    """Return a message whose body is the concatenation of `parts`."""
    return b"".join((LENGTH.pack(sum(map(len, parts))), *parts))


def decoded(decode: Callable[[bytes], T], body: bytes) -> T:
    """Return `decode(body)` for the body of an untrusted message. Raises `ProtocolError` if decoding fails."""
    try:
        return decode(body)
    except (ValueError, RecursionError) as error:  # msgspec raises UnicodeDecodeError for invalid UTF-8
        raise ProtocolError(str(error)) from None


class FrameDecoder:
    """Splits a byte stream into message bodies.

    Buffers one incomplete message, along with any complete ones that the caller of `feed` hasn't consumed.
    """

    def __init__(self, limit: int) -> None:
        """Create a decoder. `limit` is the maximum size of a body in bytes."""
        self._limit = limit
        self._buffer = bytearray()

    @property
    def pending(self) -> bool:
        """Whether the buffer holds a complete or invalid message. If so, call `feed(b"")` to continue."""
        if len(self._buffer) < LENGTH.size:
            return False
        size: int = LENGTH.unpack_from(self._buffer)[0]
        return size > self._limit or len(self._buffer) - LENGTH.size >= size

    def feed(self, data: bytes) -> Generator[bytes, None, None]:
        """Yield the body of each message that `data` completes. If the generator is closed early, the rest is kept.

        Raises:
            ProtocolError: A body is empty or exceeds the limit.
        """
        self._buffer += data
        position = 0
        try:
            while len(self._buffer) - position >= LENGTH.size:
                (size,) = LENGTH.unpack_from(self._buffer, position)
                if not 0 < size <= self._limit:
                    raise ProtocolError(f"message of {size} bytes; expected 1 to {self._limit} bytes")
                start = position + LENGTH.size
                if len(self._buffer) - start < size:
                    return
                position = start + size
                yield bytes(memoryview(self._buffer)[start:position])
        finally:
            del self._buffer[:position]
