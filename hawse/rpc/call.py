"""A call on the server, and the interface for streams that serve its channel."""

import asyncio
import math
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from hawse.api.rights import ALL, CONTROL
from hawse.link.stream_link import StreamLink
from hawse.rpc.errors import typed
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Call as CallMessage, Connection, FrameSource, HawseError, Principal
from hawse.wire.messages import to_raw

# The principal for calls that don't name one, from processes that connect to the runtime's socket without a gateway.
DIRECT = Principal(id="direct", name="", kind="owner", rights=(ALL, CONTROL))
ACK_DELAY = 0.05  # maximum delay before applied input is acknowledged, in seconds


class Stream(FrameSource, Protocol):
    """Serves a channel that carries events or bytes. `pull` (from `FrameSource`) sends them and closes the channel."""

    def receive_input(self, offset: int, payload: memoryview) -> None:
        """Receive input. `payload` is only valid during this call. Raises `HawseError`, which closes the channel."""
        ...

    def receive_end(self) -> None:
        """Handle the end of the input."""
        ...

    def detach(self) -> None:
        """Called once when the channel has closed because the call finished, was cancelled, or lost its connection."""
        ...


class _HeldResult(OutputOnlyStream):
    """Sends a call's result when it is the channel's turn."""

    def __init__(self, call: "ServerCall", link: StreamLink, value: msgspec.Raw) -> None:
        super().__init__(call)
        self._link = link
        self._value = value
        link.held += len(value)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        connection.send_result(ch, self._value)
        self._call.finish()
        return False

    def detach(self) -> None:
        self._link.held -= len(self._value)


class ServerCall:
    """An open channel on a link."""

    def __init__(self, link: StreamLink, message: CallMessage) -> None:
        self.ch = message.ch
        self.method = message.method
        self.params = message.params
        self.key = message.key
        self.age = message.age  # for a repeated call: seconds since it was first sent
        self.timeout = message.timeout
        self.principal = message.principal or DIRECT
        # Only gateways send a principal, and they have already refused unknown parameters.
        self.checked = message.principal is not None
        self.trace = message.trace  # the caller's W3C `traceparent`
        self.stream: Stream | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.on_finish: Callable[[int], object] | None = None  # called with the channel's number when the call ends
        self._on_close: list[Callable[[], object]] = []
        self._link = link
        self._grant = 0  # number of bytes applied but not yet acknowledged
        self._ack: asyncio.TimerHandle | None = None
        self._acknowledged = -math.inf  # loop time of the last acknowledgement

    @property
    def open(self) -> bool:
        return self.ch in self._link.connection.channels

    @property
    def link_lost(self) -> bool:
        """Whether the call's link was lost, rather than only this channel being closed."""
        return self._link.closed

    @property
    def connection(self) -> Connection:
        return self._link.connection

    def result(self, value: Any) -> None:
        """End the call with `value`. While the link is congested, the result waits for this channel's turn."""
        if not self.open or isinstance(self.stream, _HeldResult):
            return
        if self.stream is None and self._link.congested:
            self.serve(_HeldResult(self, self._link, to_raw(value)))
        else:
            self._link.connection.send_result(self.ch, value)
            self.finish()

    def error(self, error: HawseError) -> None:
        if self.open:
            self._link.connection.send_error(self.ch, error)
            self.finish()

    def on_close(self, callback: Callable[[], object]) -> None:
        """Call `callback` once when the channel has closed for any reason."""
        self._on_close.append(callback)

    def serve(self, stream: Stream) -> None:
        """Make `stream` serve this channel."""
        self.stream = stream
        self._link.attach(self.ch, self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Let the stream send data. An unexpected exception ends only this channel."""
        assert self.stream is not None
        try:
            more = self.stream.pull(connection, ch, size)
        except Exception as error:
            self.error(typed(error))
            return False
        ack = self._ack
        if ack is not None and connection.pending and ack.when() >= self._acknowledged + 2 * ACK_DELAY:
            self._acknowledge(ack.when() - ACK_DELAY)
        return more

    def wake(self) -> None:
        """Schedule a call to `pull`, because the stream may have data to send."""
        self._link.wake(self.ch)

    def applied(self, size: int) -> None:
        """Acknowledge `size` bytes of input, so that the client can send that many more.

        The credit is sent once a quarter of the window has been applied, and at the latest after ACK_DELAY seconds,
        because the client keeps its input until it is acknowledged. If no credit was sent in the ACK_DELAY seconds
        before this input, the credit is sent with the next output, usually the echo of a key.
        """
        self._grant += size
        if self._grant >= self._link.connection.limits.input_window // 4:
            self._overdue()
        elif self._ack is None and self._grant and self.open:
            self._ack = asyncio.get_running_loop().call_later(ACK_DELAY, self._overdue)

    def _overdue(self) -> None:
        self._acknowledge(asyncio.get_running_loop().time())
        self._link.flush()

    def _acknowledge(self, now: float) -> None:
        self._cancel_ack()
        self._acknowledged = now
        grant, self._grant = self._grant, 0
        self._link.connection.grant(self.ch, grant)

    def _cancel_ack(self) -> None:
        if self._ack is not None:
            self._ack.cancel()
            self._ack = None

    def finish(self) -> None:
        """Release all of the call's resources after its channel has closed or its link has been lost. Can be called
        repeatedly.
        """
        on_finish, self.on_finish = self.on_finish, None
        if on_finish is not None:
            on_finish(self.ch)
        self._cancel_ack()
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        stream, self.stream = self.stream, None
        if stream is not None:
            self._link.writer.detach(self.ch)
            stream.detach()
        callbacks, self._on_close = self._on_close, []
        for callback in callbacks:
            callback()
        self._link.flush()
