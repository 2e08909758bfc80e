"""A call's channel on one connection. Calls use it without depending on the connection itself."""

from typing import Protocol

from hawse.wire import Connection, FairWriter


class ConnectionProtocol(Protocol):
    """The subset of a connection's interface that channels use."""

    protocol: Connection
    writer: FairWriter

    def wake_writer(self) -> None:
        """Wake the writer task, which sends data from `protocol` and `writer`."""
        ...


class ClientChannel:
    """The channel `ch` on `connection`. After the channel's final message has arrived, these methods have no effect."""

    def __init__(self, connection: ConnectionProtocol, ch: int) -> None:
        self.ch = ch
        self._connection = connection

    def grant(self, size: int) -> None:
        """Grant the server credit for `size` more bytes."""
        if self._connection.protocol.grant(self.ch, size):
            self._connection.wake_writer()

    def wake(self) -> None:
        """Schedule a pull from the channel's source, which may have data to send."""
        self._connection.writer.wake(self.ch)
        self._connection.wake_writer()

    def cancel(self) -> None:
        """Send `cancel` as the last message. The server responds with the channel's final message."""
        self.detach()
        self._connection.protocol.cancel(self.ch)
        self._connection.wake_writer()

    def detach(self) -> None:
        """Stop pulling from the channel's source."""
        self._connection.writer.detach(self.ch)
