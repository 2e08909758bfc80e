"""Receiving: validates each message and frame from the peer against docs/wire.md and turns it into an event.

The first violation raises `RemoteProtocolError`, and all later calls raise the same error.
"""

from hawse.wire.channel import Step
from hawse.wire.errors import HawseError, RemoteProtocolError
from hawse.wire.frames import SHARED, Data, Kind, decode_frame, decode_shared
from hawse.wire.limits import EVENT_OVERHEAD, PROTOCOL, Limits
from hawse.wire.messages import (
    ABILITY_SHARED,
    Call,
    Cancel,
    Credit,
    End,
    Error,
    Event,
    Goaway,
    Hello,
    Message,
    Ping,
    Pong,
    Result,
    Welcome,
    from_client,
    from_server,
)
from hawse.wire.parsing import MalformedCallError, parse
from hawse.wire.protocol_state import Role
from hawse.wire.server_sender import ServerSender


class Receiver(ServerSender):
    """Converts received data to events."""

    def __init__(self, role: Role, limits: Limits | None = None, *, window: int = 0) -> None:
        """Create one side of a connection. The arguments are the same as in `ProtocolState`."""
        super().__init__(role, limits, window=window)
        self._decode = (from_client if self._server else from_server).decode
        self._events: list[Message | Data] = []

    def receive_text(self, text: str | bytes | memoryview) -> None:
        """Receive one control message. The event doesn't refer to `text`, so the caller can keep the event.

        Raises:
            RemoteProtocolError: the peer violated the protocol. A server has queued the `error` message for it.
        """
        self._check_unbroken()
        try:
            self._receive_message(parse(text, self._decode, self.limits.text))
        except MalformedCallError as call:
            if not self._refuse_call(call):
                self._break(call)
        except RemoteProtocolError as error:
            self._break(error)

    def receive_data(self, frame: bytes | memoryview) -> None:
        """Receive one data frame. The event's payload is a view into `frame`. Raises the same errors as
        `receive_text`.
        """
        self._check_unbroken()
        try:
            if self.shares and frame and frame[0] == SHARED:
                for data in decode_shared(frame, payload_limit=self.limits.payload):
                    self._receive_frame(data)
            else:
                self._receive_frame(decode_frame(frame, payload_limit=self.limits.payload))
        except RemoteProtocolError as error:
            self._break(error)

    def events(self) -> list[Message | Data]:
        """Return the events since the previous call."""
        events, self._events = self._events, []
        return events

    # ---- violations

    def _check_unbroken(self) -> None:
        if self._broken is not None:
            raise self._broken.with_traceback(None)

    def _break(self, error: RemoteProtocolError) -> None:
        self._broken = error
        self.send_connection_error(error)
        raise error

    def _refuse_call(self, error: MalformedCallError) -> bool:
        """Respond to a malformed `call` on its channel; return False if that is not possible."""
        if not self._server or not self.ready or error.ch <= self.last_channel:
            return False
        self.last_channel = error.ch
        self._send(Error.from_exception(HawseError(error.code, error.message), error.ch))
        return True

    # ---- control messages

    def _receive_message(self, message: Message) -> None:
        if not self.ready:
            self._check_early(message)
        if self._accept(message):
            self._events.append(message)

    def _accept(self, message: Message) -> bool:
        """Update the state with `message`; return whether to pass it on as an event."""
        match message:
            case Call():
                return self._receive_call(message)
            case Event():
                self._receive_event(message)
            case Result() | Error(ch=int()):
                self._step_remote(self._known(message.ch), Step.LAST)  # type: ignore[arg-type]
                self.channels.pop(message.ch)  # type: ignore[arg-type]
            case Cancel():
                return self._step_remote(self._known(message.ch), Step.CANCEL)
            case End():
                return self._step_remote(self._known(message.ch), Step.END)
            case Credit():
                return self._receive_credit(message)
            case Ping():
                self._send(Pong(t=message.t))
                return False
            case Hello():
                self._receive_hello(message)
            case Welcome():
                self._receive_welcome(message)
        return True

    def _check_early(self, message: Message) -> None:
        """Before `welcome`, only allow the handshake, the error that ends it, and pings after `hello`."""
        if not isinstance(message, Hello | Welcome | Error | Goaway | Ping | Pong):
            raise RemoteProtocolError("only `hello` and `ping` are allowed before `welcome`")
        if self._server and not self._greeted and not isinstance(message, Hello):
            raise RemoteProtocolError("the first message must be `hello`")

    def _receive_hello(self, hello: Hello) -> None:
        if self._greeted:
            raise RemoteProtocolError("a second `hello`")
        if hello.protocol != PROTOCOL:
            raise RemoteProtocolError(f"unsupported protocol {hello.protocol}; this server supports {PROTOCOL}")
        self._greeted = True
        self.channel_window = hello.window
        self.shares = ABILITY_SHARED in hello.abilities

    def _receive_welcome(self, welcome: Welcome) -> None:
        if self.ready:
            raise RemoteProtocolError("a second `welcome`")
        if welcome.protocol != PROTOCOL:
            raise RemoteProtocolError(f"unsupported protocol {welcome.protocol}; this client supports {PROTOCOL}")
        self.limits = welcome.limits
        self.ready = True

    def _receive_call(self, call: Call) -> bool:
        if call.ch <= self.last_channel:
            raise RemoteProtocolError(f"channel {call.ch} has already been used")
        if len(self.channels) >= self.limits.channels:
            self.last_channel = call.ch
            error = HawseError("limit_exceeded", f"channel limit reached: {self.limits.channels} channels are open")
            self._send(Error.from_exception(error, call.ch))
            return False
        self._open(call.ch)
        return True

    def _receive_event(self, event: Event) -> None:
        channel = self._known(event.ch)
        self._step_remote(channel, Step.EVENT)
        if channel.receive_window <= 0:
            raise RemoteProtocolError(f"an event exceeds the window of channel {event.ch}", code="credit_exceeded")
        channel.receive_window -= len(event.value) + EVENT_OVERHEAD

    def _receive_credit(self, credit: Credit) -> bool:
        channel = self._known(credit.ch)
        if not self._step_remote(channel, Step.CLIENT_CREDIT if self._server else Step.SERVER_CREDIT):
            return False
        # Limit the window to the maximum, but don't shrink a window that started out larger.
        channel.send_window += min(credit.bytes, max(self.limits.window_max - channel.send_window, 0))
        channel.returned += min(credit.bytes, channel.spent - channel.returned)
        return True

    # ---- data frames

    def _receive_frame(self, data: Data) -> None:
        if (data.kind is Kind.INPUT) is not self._server:
            raise RemoteProtocolError(f"the peer must not send {data.kind.name}")
        channel = self.channels.get(data.ch)
        if channel is None or not (channel.input_open if self._server else channel.output_open):
            self._step_remote(self._known(data.ch), Step.INPUT if self._server else Step.OUTPUT)
            return  # the channel is closed
        size = len(data.payload)
        if size > channel.receive_window:
            raise RemoteProtocolError(
                f"{size} bytes exceed the window of channel {data.ch}, which is {channel.receive_window}",
                code="credit_exceeded",
            )
        channel.receive_window -= size
        self._events.append(data)
