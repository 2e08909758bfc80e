"""The messages only sent by servers: `welcome`, events, results, errors and `goaway` (docs/wire.md section 2)."""

from typing import Any

import msgspec

from hawse.wire.channel import Step
from hawse.wire.client_sender import ClientSender
from hawse.wire.errors import HawseError, LocalProtocolError
from hawse.wire.limits import EVENT_OVERHEAD, PROTOCOL
from hawse.wire.messages import Error, Event, Goaway, Result, Welcome, encode, to_raw

SHORT_MESSAGE = 256  # if an error is too large to send, its message is cut to this many characters


class ServerSender(ClientSender):
    """Responds to calls and closes their channels."""

    def send_welcome(self, server: str, *, identity: str, role: str, abilities: list[str] | None = None) -> None:
        """Respond to `hello`, so that the client can call.

        Args:
            server: name and version.
            identity: the `id` of the client's principal.
            role: the client's role.
            abilities: this server's features beyond version 1.

        Raises:
            LocalProtocolError: this is a client, `hello` has not been received, or `welcome` has already been sent.
        """
        if not self._server or not self._greeted or self.ready:
            raise LocalProtocolError("only a server sends `welcome`, once, after it has received `hello`")
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
        """Send an event. The window must be above 0 before the event is sent, and can be negative afterwards.

        Args:
            ch: an open channel.
            name: the event's name.
            value: a `msgspec.Raw`, or any value that encodes to JSON.
            seq: the event's number in its stream.

        Raises:
            HawseError: `too_large` if the message exceeds `limits.text`. Nothing is sent.
            LocalProtocolError: the channel is not open, or its window is used up.
        """
        channel = self._sendable(ch)
        if channel.send_window <= 0:
            raise LocalProtocolError(f"channel {ch} has no window left for an event: {channel.send_window}")
        self._step_local(channel, Step.EVENT)
        raw = value if isinstance(value, msgspec.Raw) else to_raw(value)
        text = encode(Event(ch=ch, name=name, value=raw, seq=seq))
        if len(text) > self.limits.text:
            raise HawseError(
                "too_large", f"the event has {len(text)} bytes; the limit is {self.limits.text}", admitted="yes"
            )
        channel.send_window -= len(raw) + EVENT_OVERHEAD
        channel.spent += len(raw) + EVENT_OVERHEAD
        self._push_text(text)

    def send_result(self, ch: int, value: Any = None) -> None:
        """Close `ch` with a result, or with `too_large` if the message exceeds `limits.text`."""
        raw = value if isinstance(value, msgspec.Raw) else to_raw(value)
        text = encode(Result(ch=ch, value=raw))
        if len(text) > self.limits.text:
            message = f"the result has {len(text)} bytes; the limit is {self.limits.text}"
            self.send_error(ch, HawseError("too_large", message, admitted="yes"))
            return
        self._close(ch)
        self._push_text(text)

    def send_error(self, ch: int, error: HawseError) -> None:
        """Close `ch` with `error`, without its details and most of its text if the message exceeds `limits.text`."""
        text = encode(Error.from_exception(error, ch))
        if len(text) > self.limits.text:
            message = error.message[:SHORT_MESSAGE]
            short = HawseError(error.code, message, admitted=error.admitted, retryable=error.retryable)
            text = encode(Error.from_exception(short, ch))
        self._close(ch)
        self._push_text(text)

    def goaway(self, reason: str, retry_after: float) -> None:
        """Ask the client to reconnect after `retry_after` seconds. The carrier then closes the connection with code
        1012.
        """
        self._send(Goaway(reason=reason, retry_after=retry_after))
