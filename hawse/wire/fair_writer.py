"""Decides what is sent next: control messages first, then data from each channel in turn (round robin).

When the carrier can write, the writer *pulls* a channel's bytes from its `FrameSource`. It never queues them, so the
only buffer is the source's own, such as a journal, a file or a bounded queue. A channel waits for at most one slice
from each other channel, no matter how much data the others have.
"""

from typing import Protocol

from hawse.wire.connection import Connection


class FrameSource(Protocol):
    """Supplies a channel's data in order. It calls `FairWriter.wake` when it has more to send."""

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send at most about `size` bytes through `connection`, within the channel's window. Can close the channel.

        Returns:
            Whether there is more to send now. If False, or if nothing was sent, the source is not pulled again until
            `FairWriter.wake` is called.
        """
        ...


class FairWriter:
    """The sending half of a carrier. The carrier calls `take` whenever it can write."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ready: dict[int, None] = {}  # an ordered set of channels that have something to send

    @property
    def idle(self) -> bool:
        return not self._ready and not self._connection.pending

    def attach(self, ch: int, source: FrameSource) -> None:
        """Attach the source of channel `ch` and schedule its first turn. The source is released with the channel."""
        channel = self._connection.channels.get(ch)
        if channel is not None:
            channel.source = source
            self._ready[ch] = None

    def detach(self, ch: int) -> None:
        channel = self._connection.channels.get(ch)
        if channel is not None:
            channel.source = None
        self._ready.pop(ch, None)

    def wake(self, ch: int) -> None:
        """Schedule a turn of channel `ch`, because its source has more bytes or the channel has more credit."""
        channel = self._connection.channels.get(ch)
        if channel is not None and channel.source is not None:
            self._ready[ch] = None

    def take(self, size: int) -> list[str | bytes]:
        """Return the next messages to write: all control messages, then about `size` bytes from the channels in turn.

        A turn is at most `size` bytes and at most one frame. The list is empty if there is nothing to write now.
        """
        connection = self._connection
        most = min(size, connection.limits.payload)
        out = connection.data_to_send()
        while size > 0 and self._ready:
            ch = next(iter(self._ready))
            del self._ready[ch]
            channel = connection.channels.get(ch)
            if channel is None or channel.source is None:
                continue
            more = channel.source.pull(connection, ch, most)
            sent = connection.pending
            size -= sent
            out += connection.data_to_send()
            if more and sent:
                self.wake(ch)
        return out
