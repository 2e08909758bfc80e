"""Messages on a plain byte stream (a link from gateway to runtime), each preceded by its length as a big-endian u32.

A control message starts with `{` and a data frame with its kind, so the first byte tells them apart.
"""

from collections.abc import Iterable, Iterator

from hawse.wire.errors import RemoteProtocolError
from hawse.wire.frames import SHARED_SIZE
from hawse.wire.limits import Limits

LENGTH_SIZE = 4
_OPEN_BRACE = ord("{")


def encode_stream(messages: Iterable[str | bytes]) -> list[bytes]:
    """Return alternating lengths and messages, ready for `writelines`."""
    parts: list[bytes] = []
    for message in messages:
        body = message.encode() if isinstance(message, str) else message
        parts += (len(body).to_bytes(LENGTH_SIZE, "big"), body)
    return parts


class StreamDecoder:
    """Splits a byte stream into messages; copies only messages that span several chunks.

    It buffers at most one incomplete message, whose size is bounded by the larger of the two limits.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = max(limits.text, limits.payload + SHARED_SIZE)
        self._partial = bytearray()

    @property
    def held(self) -> int:
        """The number of bytes buffered for an incomplete message, including its length field."""
        return len(self._partial)

    def feed(self, chunk: bytes) -> Iterator[tuple[bool, memoryview | bytes]]:
        """Yield `(is_control, message)` for each message completed by `chunk`.

        Each yielded view is valid until the iterator's next step.

        Raises:
            RemoteProtocolError: a message is empty or exceeds the limit.
        """
        view = memoryview(chunk)
        position = 0
        if self._partial:
            position = self._fill(view)
            message = self._finished()
            if message is None:
                return
            yield message[0] == _OPEN_BRACE, message
        end = len(view)
        while end - position >= LENGTH_SIZE:
            start = position + LENGTH_SIZE
            stop = start + self._checked(int.from_bytes(view[position:start], "big"))
            if stop > end:
                break
            yield view[start] == _OPEN_BRACE, view[start:stop]
            position = stop
        self._partial += view[position:]

    def _fill(self, view: memoryview) -> int:
        """Append the missing part of the incomplete message; return the number of bytes taken from `view`."""
        taken = 0
        if len(self._partial) < LENGTH_SIZE:
            taken = LENGTH_SIZE - len(self._partial)
            self._partial += view[:taken]
            if len(self._partial) < LENGTH_SIZE:
                return len(view)
        size = self._checked(int.from_bytes(self._partial[:LENGTH_SIZE], "big"))
        lacking = LENGTH_SIZE + size - len(self._partial)
        self._partial += view[taken : taken + lacking]
        return min(taken + lacking, len(view))

    def _finished(self) -> bytes | None:
        if len(self._partial) < LENGTH_SIZE:
            return None
        size = int.from_bytes(self._partial[:LENGTH_SIZE], "big")
        if len(self._partial) < LENGTH_SIZE + size:
            return None
        message = bytes(memoryview(self._partial)[LENGTH_SIZE:])
        self._partial = bytearray()
        return message

    def _checked(self, size: int) -> int:
        if not 0 < size <= self._limit:
            raise RemoteProtocolError(f"a message has {size} bytes; expected 1 to {self._limit}", close_code=1009)
        return size
