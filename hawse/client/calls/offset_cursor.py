"""Keeps track of how much of a byte stream has been received, so that it can be resumed exactly."""

from hawse.wire import RemoteProtocolError


class OffsetCursor:
    """The offset after the last byte received in a stream. Does no I/O."""

    __slots__ = ("offset",)

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def accept(self, offset: int, payload: memoryview | bytes) -> memoryview:
        """Return the new part of a payload at `offset`, without any bytes already received.

        "Within a channel, frames of one kind come in order and without gaps" (docs/wire.md section 3).

        Raises:
            RemoteProtocolError: There is a gap before `offset`.
        """
        if offset > self.offset:
            raise RemoteProtocolError(f"bytes {self.offset} to {offset} are missing")
        new = memoryview(payload)[self.offset - offset :]
        self.offset += len(new)
        return new
