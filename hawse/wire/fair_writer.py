"""Whose turn it is: control messages first, then the channels that have something to send, round robin.

A channel's bytes are *pulled* from its `FrameSource` when the carrier can take them, never queued here, so the only
buffer is the source's own (a journal, a file, a bounded queue). Nothing waits behind a flood for longer than
one slice of every other channel.
"""

from typing import Protocol

from hawse.wire.connection import Connection


class FrameSource(Protocol):
    """What a channel sends, in order. Pulled by the writer; says when it has more with `FairWriter.wake`."""

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send at most about `size` bytes through `connection`, within the window of `ch`.

        Return whether there is more to send now; False means that `wake` will tell. One that sent nothing is
        believed to wait, whatever it returns: it would be asked forever. It may close the channel.
        """
        ...


class FairWriter:
    """The sending half of a carrier: give it `take` whenever the carrier can write."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ready: dict[int, None] = {}  # an ordered set: those that have something to send

    @property
    def idle(self) -> bool:
        return not self._ready and not self._connection.pending

    def attach(self, ch: int, source: FrameSource) -> None:
        """Give channel `ch` its source and its first turn. The source is let go when the channel closes."""
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
        """The source of `ch` may have something to send: more bytes, more credit."""
        channel = self._connection.channels.get(ch)
        if channel is not None and channel.source is not None:
            self._ready[ch] = None

    def take(self, size: int) -> list[str | bytes]:
        """The next messages to write: all control messages, then about `size` bytes of turns.

        Empty when there is nothing to write now.
        """
        connection = self._connection
        out = connection.data_to_send()
        while size > 0 and self._ready:
            ch = next(iter(self._ready))
            del self._ready[ch]
            channel = connection.channels.get(ch)
            if channel is None or channel.source is None:
                continue
            more = channel.source.pull(connection, ch, connection.limits.payload)
            sent = connection.pending
            size -= sent
            out += connection.data_to_send()
            if more and sent:
                self.wake(ch)
        return out
