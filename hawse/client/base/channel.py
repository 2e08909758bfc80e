"""The channel that a call has on one line: what the call does to it, without knowing the line."""

from typing import Protocol

from hawse.wire import Connection, FairWriter


class ConnectionProtocol(Protocol):
    """What channels are on."""

    connection: Connection
    writer: FairWriter

    def kick(self) -> None:
        """There is something to write."""
        ...


class ClientChannel:
    """Number `ch` on `line`. After its last word nothing done to it has an effect."""

    def __init__(self, line: ConnectionProtocol, ch: int) -> None:
        self.ch = ch
        self._line = line

    def grant(self, size: int) -> None:
        """Let the server send `size` more bytes."""
        if self._line.connection.grant(self.ch, size):
            self._line.kick()

    def wake(self) -> None:
        """Its source may have something to send."""
        self._line.writer.wake(self.ch)
        self._line.kick()

    def cancel(self) -> None:
        """End our interest; the server's last word is still to come."""
        self.detach()
        self._line.connection.cancel(self.ch)
        self._line.kick()

    def detach(self) -> None:
        """Nothing more is to be pulled for it."""
        self._line.writer.detach(self.ch)
