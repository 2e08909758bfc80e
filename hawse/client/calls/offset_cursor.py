"""How far one stream of bytes from the server has come. Pure: what makes a resume exact on the receiving side."""

from hawse.wire import RemoteProtocolError


class OffsetCursor:
    """The offset after the last byte that was received of one stream."""

    __slots__ = ("offset",)

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def accept(self, offset: int, payload: memoryview | bytes) -> memoryview:
        """Return what is new of a payload at `offset`: a repeat is dropped, a gap raises `RemoteProtocolError`.

        "Within a channel, frames of one kind come in order and without gaps" (docs/wire.md section 3).
        """
        if offset > self.offset:
            raise RemoteProtocolError(f"bytes {self.offset} to {offset} are missing")
        new = memoryview(payload)[self.offset - offset :]
        self.offset += len(new)
        return new
