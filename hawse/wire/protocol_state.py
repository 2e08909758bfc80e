"""The state of one side of a connection: its role, the handshake, the open channels, and the messages to write.

`Connection` inherits from this class and from classes that add sending and receiving. For speed, they share attributes
instead of delegating to each other, because each data frame passes through them.
"""

from enum import Enum

from hawse.wire.channel import CLIENT_STEPS, Channel, ChannelState, Step
from hawse.wire.errors import HawseError, LocalProtocolError, RemoteProtocolError
from hawse.wire.limits import Limits
from hawse.wire.messages import Error, Message, encode


class Role(Enum):
    CLIENT = "client"
    SERVER = "server"


class ProtocolState:
    """State shared by sending and receiving.

    Attributes:
        role: the side of the connection that this object represents.
        limits: the limits enforced by the server; a client gets them from `welcome`.
        ready: whether `welcome` has been sent or received.
        shares: whether the client accepts frames shared by many channels.
        channels: the open channels, keyed by number.
        last_channel: the highest channel number used so far.
        channel_window: number of bytes the server can send on each new channel; a server gets it from `hello`.
    """

    def __init__(self, role: Role, limits: Limits | None = None, *, window: int = 0) -> None:
        """Create one side of a new connection.

        Args:
            role: the side that this object represents.
            limits: the limits that a server announces and enforces; None for a client.
            window: for a client, the number of bytes the server can send on each new channel before it needs credit.
        """
        self.role = role
        self.limits = limits or Limits()
        self.ready = False
        self.shares = False
        self.channels: dict[int, Channel] = {}
        self._server = role is Role.SERVER
        self._greeted = False  # whether `hello` has been received or (by a client) sent
        self._failed = False  # whether the `error` that ends the connection has been sent
        self.channel_window = window
        self.last_channel = 0
        self._broken: RemoteProtocolError | None = None  # set on the first violation; nothing more is received
        self._out: list[str | bytes] = []
        self._out_size = 0

    # ---- messages to write

    def data_to_send(self) -> list[str | bytes]:
        """Remove and return the messages to write, in order: each `str` is a control message, each `bytes` a data
        frame.
        """
        out, self._out = self._out, []
        self._out_size = 0
        return out

    @property
    def pending(self) -> int:
        """Number of bytes that `data_to_send` would return. A transport that cannot write keeps this within
        `limits.backlog`.
        """
        return self._out_size

    def send_connection_error(self, error: HawseError) -> None:
        """Queue an `error` without a channel. It states why the connection is about to be closed.

        Only the first call has an effect, and only on a server, because clients can't send this message.
        """
        if self._server and not self._failed:
            self._failed = True
            self._send(Error.from_exception(error))

    def _send(self, message: Message) -> None:
        self._push_text(encode(message))

    def _push_text(self, text: bytes) -> None:
        self._push(text.decode(), len(text))

    def _push(self, message: str | bytes, size: int) -> None:
        self._out.append(message)
        self._out_size += size

    # ---- channels

    def _open(self, ch: int) -> None:
        to_client, to_server = self.channel_window, self.limits.input_window
        send, receive = (to_client, to_server) if self._server else (to_server, to_client)
        channel = Channel(ch, send_window=send, receive_window=receive)
        channel.step(Step.CALL)
        self.channels[ch] = channel
        self.last_channel = ch

    def _close(self, ch: int) -> None:
        self._step_local(self._sendable(ch), Step.LAST)
        del self.channels[ch]

    def _sendable(self, ch: int) -> Channel:
        channel = self.channels.get(ch)
        if channel is None:
            raise LocalProtocolError(f"channel {ch} is not open")
        return channel

    def _known(self, ch: int) -> Channel:
        """Return the channel that the peer refers to, which may have been closed while the message was in transit.

        Raises:
            RemoteProtocolError: no call has used this channel number.
        """
        channel = self.channels.get(ch)
        if channel is not None:
            return channel
        if not 0 < ch <= self.last_channel:
            raise RemoteProtocolError(f"channel {ch} was never opened")
        channel = Channel(ch, send_window=0, receive_window=0)
        channel.state = ChannelState.CLOSED
        return channel

    def _step_local(self, channel: Channel, step: Step) -> None:
        """Take a step for this side. Raises `LocalProtocolError` if the step table does not allow it."""
        if (step in CLIENT_STEPS) is self._server:
            raise LocalProtocolError(f"a {self.role.value} must not send {step.value}")
        if not channel.step(step):
            raise LocalProtocolError(f"cannot send {step.value}: channel {channel.ch} is {channel.state.value}")

    def _step_remote(self, channel: Channel, step: Step) -> bool:
        """Take a step for the peer. Returns False if the channel is closed and the message must be ignored.

        Raises:
            RemoteProtocolError: the step table does not allow it.
        """
        before = channel.state
        if not channel.step(step):
            raise RemoteProtocolError(f"{step.value} is not allowed on channel {channel.ch}, which is {before.value}")
        return before is not ChannelState.CLOSED
