"""The end offset of the received part of a byte stream, for an exact resume."""

from hawse.wire import RemoteProtocolError


class OffsetCursor:
    """The offset after the last received byte of one stream. Does no I/O."""

    __slots__ = ("offset",)

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def accept(self, offset: int, payload: memoryview | bytes) -> memoryview:
        """Return the new part of a payload at `offset`, without repeated bytes.

        "Within a channel, frames of one kind come in order and without gaps" (docs/wire.md section 3).

        Raises:
            RemoteProtocolError: There is a gap before `offset`.
        """
        if offset > self.offset:
            raise RemoteProtocolError(f"bytes {self.offset} to {offset} are missing")
        new = memoryview(payload)[self.offset - offset :]
        self.offset += len(new)
        return new
