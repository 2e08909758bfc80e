"""The messages that only a client sends: `hello`, `call`, `cancel` and `end` (docs/wire.md section 2)."""

from typing import Any

import msgspec

from hawse.wire.channel import ChannelState, Step
from hawse.wire.data_sender import DataSender
from hawse.wire.errors import HawseError, LocalProtocolError
from hawse.wire.limits import PROTOCOL
from hawse.wire.messages import (
    ABILITY_SHARED,
    CHANNEL_MAX,
    EMPTY,
    Call,
    Cancel,
    End,
    Hello,
    Principal,
    encode,
    from_client,
    to_raw,
)


class ClientSender(DataSender):
    """Opens channels, ends their input and cancels them."""

    def send_hello(self, client: str, token: str | None = None, *, shares: bool = False) -> None:
        """Send the first message of the connection.

        Args:
            client: name and version, at most 256 characters.
            token: the client's token, if the carrier cannot authenticate it otherwise, as on a link.
            shares: whether this client accepts frames shared by many channels; used only on links.

        Raises:
            LocalProtocolError: this is a server, or `hello` has already been sent.
        """
        if self._server or self._greeted:
            raise LocalProtocolError("only a client sends `hello`, and only once")
        abilities = [ABILITY_SHARED] if shares else []
        hello = Hello(protocol=PROTOCOL, client=client, window=self.channel_window, token=token, abilities=abilities)
        self._push_text(self._checked(hello))
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
        trace: str | None = None,
        principal: Principal | None = None,
        window: int | None = None,
    ) -> int:
        """Open a channel and return its number.

        Args:
            method: 1 to 128 characters.
            params: a `msgspec.Raw`, or any value that encodes to JSON.
            sandbox: the sandbox to call; None on a link or for the gateway's own methods.
            key: the idempotency key, 1 to 128 characters.
            timeout: seconds until the server ends the call with `deadline_exceeded`.
            age: for a repeated call with a key, the number of seconds since it was first sent.
            trace: the caller's W3C `traceparent`.
            principal: on a link, the caller that the gateway acts for.
            window: initial window for this channel, in bytes, if larger than the connection's default.

        Raises:
            HawseError: `limit_exceeded` or `too_large` if the server would refuse the call. Nothing is sent.
            LocalProtocolError: an argument is not allowed, or `welcome` has not been received.
        """
        if self._server or not self.ready:
            raise LocalProtocolError("only a client that has received `welcome` sends `call`")
        if len(self.channels) >= self.limits.channels:
            raise HawseError("limit_exceeded", f"channel limit reached: {self.limits.channels} channels are open")
        if self.last_channel >= CHANNEL_MAX:
            raise LocalProtocolError("all channel numbers are used: reconnect")
        raw = params if isinstance(params, msgspec.Raw) else to_raw(params)
        ch = self.last_channel + 1
        message = Call(
            ch=ch,
            method=method,
            sandbox=sandbox,
            params=raw,
            key=key,
            timeout=timeout,
            age=age,
            trace=trace,
            principal=principal,
        )
        self._push_text(self._checked(message))
        self._open(ch)
        if window is not None and window > self.channel_window:
            self.grant(ch, window - self.channel_window)
        return ch

    def cancel(self, ch: int) -> None:
        """Send `cancel`. Has no effect if the channel has already been cancelled or isn't open."""
        channel = self.channels.get(ch)
        if channel is not None and channel.state is not ChannelState.CANCELLING:
            self._step_local(channel, Step.CANCEL)
            self._send(Cancel(ch=ch))

    def end(self, ch: int) -> None:
        """Send `end`: no more input follows on `ch`."""
        self._step_local(self._sendable(ch), Step.END)
        self._send(End(ch=ch))

    def _checked(self, message: Hello | Call) -> bytes:
        """Encode a message with the caller's values and decode it as the server would, to report errors locally."""
        text = encode(message)
        if len(text) > self.limits.text:
            raise HawseError("too_large", f"the message has {len(text)} bytes; the limit is {self.limits.text}")
        try:
            from_client.decode(text)
        except (ValueError, RecursionError) as error:
            raise LocalProtocolError(str(error)) from None
        return text
