"""The messages sent by both sides: data frames within the window, credit and pings (docs/wire.md, sections 3, 4)."""

from collections.abc import Sequence

from hawse.wire.channel import Step
from hawse.wire.errors import LocalProtocolError
from hawse.wire.frames import OFFSET_MAX, Kind, encode_frame, encode_shared
from hawse.wire.messages import GRANT_MAX, Credit, Ping
from hawse.wire.protocol_state import ProtocolState


class DataSender(ProtocolState):
    """Sends frames and credit on open channels."""

    def send_data(self, ch: int, kind: Kind, offset: int, payload: bytes | memoryview) -> None:
        """Send one frame.

        Args:
            ch: an open channel.
            kind: `INPUT` for a client, an output kind for a server.
            offset: the offset of the first byte of `payload` in its stream.
            payload: at most `limits.payload` bytes, and at most `window(ch)`.

        Raises:
            LocalProtocolError: an argument exceeds its limit, or the channel does not accept this frame.
        """
        self._spend(ch, kind, offset, len(payload))
        frame = encode_frame(kind, ch, offset, payload)
        self._push(frame, len(frame))

    def send_shared(self, chs: Sequence[int], kind: Kind, offset: int, payload: bytes | memoryview) -> None:
        """Send the same bytes on several channels as one frame. Only allowed on a server, and only if `shares` is true.

        Args:
            chs: at most `SHARED_MAX` open channels.
            kind: as in `send_data`.
            offset: as in `send_data`; the same on all channels.
            payload: as in `send_data`, within each channel's window.

        Raises:
            LocalProtocolError: the same errors as `send_data`.
        """
        if not self.shares or not self._server:
            raise LocalProtocolError("the other side does not accept frames for many channels")
        for ch in chs:
            self._spend(ch, kind, offset, len(payload))
        frame = encode_shared(kind, chs, offset, payload)
        self._push(frame, len(frame))

    def _spend(self, ch: int, kind: Kind, offset: int, size: int) -> None:
        """Use `size` bytes of the window for `ch` to send a frame."""
        channel = self._sendable(ch)
        if size > self.limits.payload or size > channel.send_window:
            raise LocalProtocolError(
                f"the payload has {size} bytes; the limit is {self.limits.payload},"
                f" and the window of channel {ch} is {channel.send_window}"
            )
        if not 0 <= offset <= OFFSET_MAX - size:
            raise LocalProtocolError(f"offset {offset} on channel {ch} is not in the range 0 to {OFFSET_MAX - size}")
        if not (channel.output_open if self._server else channel.input_open):
            self._step_local(channel, Step.OUTPUT if self._server else Step.INPUT)  # raises
        if (kind is Kind.INPUT) is self._server:
            raise LocalProtocolError(f"a {self.role.value} must not send {kind.name}")
        channel.send_window -= size
        channel.spent += size

    def grant(self, ch: int, size: int) -> int:
        """Let the peer send `size` more bytes on `ch`.

        Returns:
            The number of bytes granted: `size`, or less if the window would exceed `limits.window_max`; 0 if `ch` is
                not open.
        """
        channel = self.channels.get(ch)
        if channel is None:
            return 0
        self._step_local(channel, Step.SERVER_CREDIT if self._server else Step.CLIENT_CREDIT)
        size = min(size, self.limits.window_max - channel.receive_window)
        granted = max(size, 0)
        channel.receive_window += granted
        while size > 0:
            self._send(Credit(ch=ch, bytes=min(size, GRANT_MAX)))
            size -= GRANT_MAX
        return granted

    def window(self, ch: int) -> int:
        """Return the number of bytes that can currently be sent on `ch`; 0 if it is not open."""
        channel = self.channels.get(ch)
        return max(channel.send_window, 0) if channel else 0

    def flow(self, ch: int) -> tuple[int, int]:
        """Return the total number of bytes used from the window of `ch`, and the total number returned by credit.

        Both numbers are 0 if the channel is not open.
        """
        channel = self.channels.get(ch)
        return (channel.spent, channel.returned) if channel else (0, 0)

    def ping(self, t: float) -> None:
        """Send a `ping`. The peer immediately responds with a `pong` that has the same `t`."""
        if not self._greeted:
            raise LocalProtocolError("a ping before `hello`")
        self._send(Ping(t=t))
