"""One end of a connection, without I/O: `receive_text`/`receive_data` in, `events()` out, `data_to_send()` to write.

It enforces the whole of docs/wire.md on both directions: what the other side gets wrong raises
`RemoteProtocolError` (a server has then queued the `error` that says so), what our own code gets wrong
raises `LocalProtocolError`. It knows no carrier, no clock and no method.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec

from hawse.wire.channel import CLIENT_STEPS, Channel, ChannelState, Step
from hawse.wire.errors import HawseError, LocalProtocolError, RemoteProtocolError
from hawse.wire.frames import OFFSET_MAX, SHARED, Data, Kind, decode_frame, decode_shared, encode_frame, encode_shared
from hawse.wire.limits import EVENT_OVERHEAD, PROTOCOL, Limits
from hawse.wire.messages import (
    ABILITY_SHARED,
    CHANNEL_MAX,
    EMPTY,
    GRANT_MAX,
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
    Principal,
    Result,
    Welcome,
    encode,
    from_client,
    from_server,
    to_raw,
)


class Role(Enum):
    CLIENT = "client"
    SERVER = "server"


class Connection:
    """The protocol's state on one side: the handshake, the open channels and their windows."""

    def __init__(self, role: Role, limits: Limits | None = None, *, window: int = 0) -> None:
        """`window` is a client's own: what it lets the server send on each new channel at first, in bytes."""
        self.role = role
        self.limits = limits or Limits()
        self.ready = False  # the handshake is done
        self.shares = False  # one frame may be for many channels: the client of a link offered it
        self._greeted = False  # `hello` came, or (a client) was sent
        self._failed = False  # the `error` that ends the connection was said
        self._broken: RemoteProtocolError | None = None  # what the other side did wrong: it is not listened to any more
        self.channels: dict[int, Channel] = {}  # those that are open
        self._server = role is Role.SERVER
        self._window = window  # server to client, on each new channel; a server learns it from `hello`
        self._last = 0  # the highest channel number used
        self._decode = (from_client if self._server else from_server).decode
        self._events: deque[Message | Data] = deque()
        self._out: list[str | bytes] = []
        self._out_size = 0

    # ---- what the carrier uses

    def receive_text(self, text: str | bytes | memoryview) -> None:
        """Take one control message. What `events` says of it is valid for as long as it is kept."""
        self._check_unbroken()
        try:
            self._receive_message(self._parse(text))
        except RemoteProtocolError as error:
            self._broken = error
            self.say(error)
            raise

    def receive_data(self, frame: bytes | memoryview) -> None:
        """Take one data frame. The event's payload is a view into `frame`."""
        self._check_unbroken()
        try:
            if self.shares and frame and frame[0] == SHARED:
                for data in decode_shared(frame, payload_limit=self.limits.payload):
                    self._receive_frame(data)
            else:
                self._receive_frame(decode_frame(frame, payload_limit=self.limits.payload))
        except RemoteProtocolError as error:
            self._broken = error
            self.say(error)
            raise

    def events(self) -> Iterator[Message | Data]:
        """Take what has been received since the last time."""
        while self._events:
            yield self._events.popleft()

    def data_to_send(self) -> list[str | bytes]:
        """Take what has to be written, in order: `str` is a control message, `bytes` a data frame."""
        out, self._out = self._out, []
        self._out_size = 0
        return out

    @property
    def pending(self) -> int:
        """Bytes that wait in `data_to_send`: what a carrier that is not drained bounds by `limits.backlog`."""
        return self._out_size

    # ---- sending: both sides

    def send_data(self, ch: int, kind: Kind, offset: int, payload: bytes | memoryview) -> None:
        """Send one frame. Raises `LocalProtocolError` beyond the payload limit, the window or the channel's life."""
        self._spend(ch, kind, offset, len(payload))
        frame = encode_frame(kind, ch, offset, payload)
        self._push(frame, len(frame))

    def send_shared(self, chs: Sequence[int], kind: Kind, offset: int, payload: bytes | memoryview) -> None:
        """Send the same bytes on several channels as one frame, where `shares`. Raises as `send_data`."""
        if not self.shares or not self._server:
            raise LocalProtocolError("a frame for many channels was not offered")
        for ch in chs:
            self._spend(ch, kind, offset, len(payload))
        frame = encode_shared(kind, chs, offset, payload)
        self._push(frame, len(frame))

    def _spend(self, ch: int, kind: Kind, offset: int, size: int) -> None:
        """Take `size` bytes of a channel's window for a frame."""
        channel = self._sendable(ch)
        if size > self.limits.payload or size > channel.send_window:
            raise LocalProtocolError(f"{size} bytes on channel {ch}, whose window is {channel.send_window}")
        if not 0 <= offset <= OFFSET_MAX - size:
            raise LocalProtocolError(f"offset {offset} on channel {ch}")
        self._step_local(channel, Step.OUTPUT if self._server else Step.INPUT)
        if (kind is Kind.INPUT) is self._server:
            raise LocalProtocolError(f"a {self.role.value} does not send {kind.name}")
        channel.send_window -= size
        channel.spent += size

    def grant(self, ch: int, size: int) -> int:
        """Let the other side send `size` more bytes on `ch`; return what was granted after the cut to the maximum.

        A channel that is no longer open is granted nothing.
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
        """How many bytes may be sent on `ch` now; 0 if it is not open."""
        channel = self.channels.get(ch)
        return max(channel.send_window, 0) if channel else 0

    def flow(self, ch: int) -> tuple[int, int]:
        """(bytes of the window of `ch` that were used ever, how many of them credit gave back); zeros if not open."""
        channel = self.channels.get(ch)
        return (channel.spent, channel.returned) if channel else (0, 0)

    def ping(self, t: float) -> None:
        if not self._greeted:
            raise LocalProtocolError("a ping before `hello`")
        self._send(Ping(t=t))

    # ---- sending: the client

    def send_hello(self, client: str, token: str | None = None, *, shares: bool = False) -> None:
        """`shares` (on links): frames may come that are for many channels."""
        if self._server or self._greeted:
            raise LocalProtocolError("only a client says `hello`, and once")
        abilities = [ABILITY_SHARED] if shares else []
        hello = Hello(protocol=PROTOCOL, client=client, window=self._window, token=token, abilities=abilities)
        self._push_text(self._proven(hello))
        self.shares = shares
        self._greeted = True

    def call(
        self,
        method: str,
        params: Any = EMPTY,
        *,
        sandbox: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        age: float | None = None,
        principal: Principal | None = None,
        window: int | None = None,
    ) -> int:
        """Open a channel and return its number.

        `params` is a `msgspec.Raw` or anything that encodes to JSON. `window` (bytes) opens the channel with
        more than the connection's own window, by granting the difference at once. Raises `HawseError`
        (`limit_exceeded`, `too_large`) for a call that the server would refuse, with nothing sent.
        """
        if self._server or not self.ready:
            raise LocalProtocolError("only a client that was welcomed calls")
        if len(self.channels) >= self.limits.channels:
            raise HawseError("limit_exceeded", f"{self.limits.channels} channels are open")
        if self._last >= CHANNEL_MAX:
            raise LocalProtocolError("the channel numbers are used up: reconnect")
        raw = params if isinstance(params, msgspec.Raw) else to_raw(params)
        ch = self._last + 1
        message = Call(
            ch=ch,
            method=method,
            sandbox=sandbox,
            params=raw,
            key=key,
            timeout=timeout,
            age=age,
            principal=principal,
        )
        self._push_text(self._proven(message))
        self._open(ch)
        if window is not None and window > self._window:
            self.grant(ch, window - self._window)
        return ch

    def cancel(self, ch: int) -> None:
        """Say that nobody is interested in `ch` any more. Again, or on a closed channel, it does nothing."""
        channel = self.channels.get(ch)
        if channel is not None and channel.state is not ChannelState.CANCELLING:
            self._step_local(channel, Step.CANCEL)
            self._send(Cancel(ch=ch))

    def end(self, ch: int) -> None:
        """No more input on `ch`."""
        self._step_local(self._sendable(ch), Step.END)
        self._send(End(ch=ch))

    # ---- sending: the server

    def send_welcome(self, server: str, *, identity: str, role: str, abilities: list[str] | None = None) -> None:
        if not self._server or not self._greeted or self.ready:
            raise LocalProtocolError("only a server says `welcome`, once, to a `hello`")
        self._send(
            Welcome(
                protocol=PROTOCOL,
                server=server,
                identity=identity,
                role=role,
                limits=self.limits,
                abilities=abilities or [],
            )
        )
        self.ready = True

    def send_event(self, ch: int, name: str, value: Any = None, *, seq: int | None = None) -> None:
        """Send an event. It needs a positive window (`window(ch)`), and may overdraw it.

        Raises `HawseError` (`too_large`), with nothing sent, if it would be beyond what a control message may have.
        """
        channel = self._sendable(ch)
        if channel.send_window <= 0:
            raise LocalProtocolError(f"an event on channel {ch}, whose window is used up")
        self._step_local(channel, Step.EVENT)
        raw = value if isinstance(value, msgspec.Raw) else to_raw(value)
        text = encode(Event(ch=ch, name=name, value=raw, seq=seq))
        if len(text) > self.limits.text:
            raise HawseError("too_large", "the event is too large", admitted="yes")
        channel.send_window -= len(raw) + EVENT_OVERHEAD
        channel.spent += len(raw) + EVENT_OVERHEAD
        self._push_text(text)

    def send_result(self, ch: int, value: Any = None) -> None:
        raw = value if isinstance(value, msgspec.Raw) else to_raw(value)
        text = encode(Result(ch=ch, value=raw))
        if len(text) > self.limits.text:
            self.send_error(ch, HawseError("too_large", "the result is too large", admitted="yes"))
            return
        self._close(ch)
        self._push_text(text)

    def send_error(self, ch: int, error: HawseError) -> None:
        """Close `ch` with `error`. One that is too large loses its details and most of its message."""
        text = encode(Error.from_exception(error, ch))
        if len(text) > self.limits.text:
            short = HawseError(error.code, error.message[:256], admitted=error.admitted, retryable=error.retryable)
            text = encode(Error.from_exception(short, ch))
        self._close(ch)
        self._push_text(text)

    def say(self, error: HawseError) -> None:
        """Say why the connection is about to be closed: a server's last word, said once. A client has none."""
        if self._server and not self._failed:
            self._failed = True
            self._send(Error.from_exception(error))

    def goaway(self, reason: str, retry_after: float) -> None:
        self._send(Goaway(reason=reason, retry_after=retry_after))

    # ---- receiving

    def _parse(self, text: str | bytes | memoryview) -> Message:
        try:
            # The limit counts bytes. A `str` that is not ASCII has more of them than characters.
            size = len(text.encode()) if isinstance(text, str) and not text.isascii() else len(text)
            if size > self.limits.text:
                raise RemoteProtocolError("a control message is too large", close_code=1009)
            # msgspec does not look into what it leaves undecoded, so all must be seen to be UTF-8 before: a gateway
            # forwards it. And `params` and `value` become views into this text of their own, not into a read buffer.
            message: Message = self._decode(text if isinstance(text, str) else str(text, "utf-8"))
        except (ValueError, RecursionError) as error:
            # The reason quotes what came, which may be long.
            raise RemoteProtocolError(str(error)[:256], code="invalid_message", close_code=1007) from None
        return message

    def _receive_message(self, message: Message) -> None:
        if not self.ready:
            self._check_early(message)
        match message:
            case Call():
                if not self._receive_call(message):
                    return
            case Event():
                self._receive_event(message)
            case Result() | Error(ch=int()):
                self._step_remote(self._known(message.ch), Step.LAST)  # type: ignore[arg-type]
                self.channels.pop(message.ch)  # type: ignore[arg-type]
            case Cancel():
                if not self._step_remote(self._known(message.ch), Step.CANCEL):
                    return
            case End():
                if not self._step_remote(self._known(message.ch), Step.END):
                    return
            case Credit():
                if not self._receive_credit(message):
                    return
            case Ping():
                self._send(Pong(t=message.t))
                return
            case Hello():
                self._receive_hello(message)
            case Welcome():
                self._receive_welcome(message)
        self._events.append(message)

    def _check_early(self, message: Message) -> None:
        """What may come before `welcome`: the handshake itself, why it failed, and pings once a server was greeted."""
        if not isinstance(message, Hello | Welcome | Error | Goaway | Ping | Pong):
            raise RemoteProtocolError("only `hello` and `ping` come before `welcome`")
        if self._server and not self._greeted and not isinstance(message, Hello):
            raise RemoteProtocolError("the first message must be `hello`")

    def _receive_hello(self, hello: Hello) -> None:
        if self._greeted:
            raise RemoteProtocolError("a second `hello`")
        if hello.protocol != PROTOCOL:
            raise RemoteProtocolError(f"protocol {hello.protocol}; this server speaks {PROTOCOL}")
        self._greeted = True
        self._window = hello.window
        self.shares = ABILITY_SHARED in hello.abilities

    def _receive_welcome(self, welcome: Welcome) -> None:
        if self.ready:
            raise RemoteProtocolError("a second `welcome`")
        if welcome.protocol != PROTOCOL:
            raise RemoteProtocolError(f"protocol {welcome.protocol}; this client speaks {PROTOCOL}")
        self.limits = welcome.limits
        self.ready = True

    def _receive_call(self, call: Call) -> bool:
        if call.ch <= self._last:
            raise RemoteProtocolError(f"channel {call.ch} was used before")
        if len(self.channels) >= self.limits.channels:
            self._last = call.ch
            error = HawseError("limit_exceeded", f"{self.limits.channels} channels are open")
            self._send(Error.from_exception(error, call.ch))
            return False
        self._open(call.ch)
        return True

    def _receive_event(self, event: Event) -> None:
        channel = self._known(event.ch)
        self._step_remote(channel, Step.EVENT)
        if channel.receive_window <= 0:
            raise RemoteProtocolError(f"an event beyond the window of channel {event.ch}", code="credit_exceeded")
        channel.receive_window -= len(event.value) + EVENT_OVERHEAD

    def _receive_credit(self, credit: Credit) -> bool:
        channel = self._known(credit.ch)
        if not self._step_remote(channel, Step.CLIENT_CREDIT if self._server else Step.SERVER_CREDIT):
            return False
        # Cut to the maximum; but a window that began above it is not lowered by a grant.
        channel.send_window += min(credit.bytes, max(self.limits.window_max - channel.send_window, 0))
        channel.returned += min(credit.bytes, channel.spent - channel.returned)
        return True

    def _receive_frame(self, data: Data) -> None:
        if (data.kind is Kind.INPUT) is not self._server:
            raise RemoteProtocolError(f"{data.kind.name} from the wrong side")
        channel = self._known(data.ch)
        if not self._step_remote(channel, Step.INPUT if self._server else Step.OUTPUT):
            return
        size = len(data.payload)
        if size > channel.receive_window:
            raise RemoteProtocolError(
                f"{size} bytes on channel {data.ch}, whose window is {channel.receive_window}",
                code="credit_exceeded",
            )
        channel.receive_window -= size
        self._events.append(data)

    def _known(self, ch: int) -> Channel:
        """The channel `ch` as the other side may speak of it: open, or (for a client's late words) closed."""
        channel = self.channels.get(ch)
        if channel is not None:
            return channel
        if not 0 < ch <= self._last:
            raise RemoteProtocolError(f"channel {ch} was never opened")
        channel = Channel(ch, send_window=0, receive_window=0)
        channel.state = ChannelState.CLOSED
        return channel

    def _step_remote(self, channel: Channel, step: Step) -> bool:
        """Take a step of the other side; False if it concerns a closed channel and is to be ignored."""
        before = channel.state
        if not channel.step(step):
            raise RemoteProtocolError(f"{step.value} on channel {channel.ch}, which is {before.value}")
        return before is not ChannelState.CLOSED

    # ---- our own state

    def _open(self, ch: int) -> None:
        toward_client, toward_server = self._window, self.limits.input_window
        send, receive = (toward_client, toward_server) if self._server else (toward_server, toward_client)
        channel = Channel(ch, send_window=send, receive_window=receive)
        channel.step(Step.CALL)
        self.channels[ch] = channel
        self._last = ch

    def _close(self, ch: int) -> None:
        self._step_local(self._sendable(ch), Step.LAST)
        del self.channels[ch]

    def _sendable(self, ch: int) -> Channel:
        channel = self.channels.get(ch)
        if channel is None:
            raise LocalProtocolError(f"channel {ch} is not open")
        return channel

    def _step_local(self, channel: Channel, step: Step) -> None:
        if (step in CLIENT_STEPS) is self._server:
            raise LocalProtocolError(f"{step.value} is not a {self.role.value}'s to send")
        if not channel.step(step):
            raise LocalProtocolError(f"{step.value} on channel {channel.ch}, which is {channel.state.value}")

    def _check_unbroken(self) -> None:
        if self._broken is not None:
            raise self._broken.with_traceback(None)

    def _proven(self, message: Hello | Call) -> bytes:
        """Encode what a caller had a hand in, and read it as the server will: its refusal would end the connection."""
        text = encode(message)
        if len(text) > self.limits.text:
            raise HawseError("too_large", "the call is too large")
        try:
            from_client.decode(text)
        except (ValueError, RecursionError) as error:
            raise LocalProtocolError(str(error)) from None
        return text

    def _send(self, message: Message) -> None:
        self._push_text(encode(message))

    def _push_text(self, text: bytes) -> None:
        self._push(text.decode(), len(text))

    def _push(self, message: str | bytes, size: int) -> None:
        self._out.append(message)
        self._out_size += size
