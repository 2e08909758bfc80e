"""Keeps written bytes until they are confirmed, so that they can be resent after a reconnect (docs/wire.md section 5).

Does no I/O and reads no clock. Offsets are absolute in the input stream and never reused.

    0 … applied … sent … end
        └─── kept ───────┘     at most `limit` bytes; the server confirms `applied` with credit and `opened`
"""

from hawse.client.base.call_errors import InputGapError
from hawse.wire import RemoteProtocolError


class InputBuffer:
    """The unconfirmed bytes in an input stream."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.applied = 0  # all bytes before this offset have been applied and are no longer kept
        self.sent = 0  # offset of the next byte to send on the current channel
        self.ended = False  # whether no more bytes will be written
        self._kept = bytearray()
        self._base = 0  # the offset where sending started on the current channel
        self._credit = 0  # credit received on the current channel

    @property
    def end(self) -> int:
        """The offset after the last byte written."""
        return self.applied + len(self._kept)

    @property
    def room(self) -> int:
        """The number of bytes that `append` currently accepts."""
        return 0 if self.ended else max(self.limit - len(self._kept), 0)

    @property
    def unsent(self) -> int:
        return self.end - self.sent

    def append(self, data: bytes | memoryview) -> int:
        """Append as much of `data` as fits; return the number of bytes appended."""
        taken = min(len(data), self.room)
        self._kept += data[:taken]
        return taken

    def take(self, size: int) -> tuple[int, bytes]:
        """Return the offset of the next bytes to send on the current channel, and up to `size` of them.

        The returned bytes then count as sent.
        """
        offset, start = self.sent, self.sent - self.applied
        payload = bytes(memoryview(self._kept)[start : start + size])
        self.sent += len(payload)
        return offset, payload

    def credited(self, size: int) -> None:
        """Handle credit on the current channel, which means that the server has applied `size` more bytes."""
        self._credit += size
        if self._base + self._credit > self.sent:
            raise RemoteProtocolError("credit for input that was not sent")
        self._confirm(self._base + self._credit)

    def confirmed(self, offset: int) -> None:
        """Handle the server's confirmation of all bytes before `offset` on the current channel."""
        if offset > self.sent:
            raise RemoteProtocolError(f"input applied to {offset}, sent to {self.sent}")
        self._confirm(offset)

    def reattach(self, applied: int) -> None:
        """Continue on a new channel. The server has applied all bytes before the offset `applied`.

        Raises:
            HawseError: `input_gap` if the server has lost bytes that it had confirmed.
        """
        if applied < self.applied:
            raise InputGapError(
                f"the server has lost input that it had confirmed: it has {applied} of {self.applied} bytes",
                admitted="unknown",
                details={"applied": applied},
            )
        if applied > self.end:
            raise RemoteProtocolError(f"input applied to {applied}, written to {self.end}")
        self._base, self._credit, self.sent = applied, 0, applied
        self._confirm(applied)

    def _confirm(self, offset: int) -> None:
        if offset > self.applied:
            del self._kept[: offset - self.applied]
            self.applied = offset
