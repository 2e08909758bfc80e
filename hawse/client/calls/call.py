"""A call as its caller sees it. Until it is settled, it can use several channels on several connections.

`CallTable` opens the channels and passes received messages to the call. The streams (`exec`, `process.attach`,
`terminal.attach`, `file.read`, …) are subclasses of `ClientCall` that define how they are resumed.
"""

import asyncio
import secrets
from typing import Any

import msgspec

from hawse.api import Params, spec_of
from hawse.client.base.call_errors import InvalidParamsError
from hawse.client.base.channel import ClientChannel
from hawse.client.base.timeouts import check_timeout
from hawse.client.base.trace import current_trace
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import InputStream
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.wire import Data, Event, HawseError, RemoteProtocolError
from hawse.wire.limits import EVENT_OVERHEAD


def new_key() -> str:
    """Return a random idempotency key, which makes sure that a repeated call runs only once."""
    return secrets.token_hex(16)


class ClientCall:
    """A method call, with its parameters and outcome."""

    def __init__(
        self,
        method: str | Params[Any],
        params: dict[str, Any] | None = None,
        *,
        sandbox: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        repeats: bool | None = None,
        window: int = 0,
    ) -> None:
        """Prepare a call.

        Args:
            method: The parameters for a declared method, or the name of any method.
            params: The parameters for a method called by name. Parameters that are None are omitted.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            key: Calls with the same key join each other. By default, a call gets a random key unless its method is safe
                or a stream.
            timeout: Time limit in seconds, starting when the call is sent.
            repeats: Whether to resend the call on a new connection. By default, the call is resent if its method is
                safe or it has a `key`.
            window: Number of bytes of events and data the server can send before it needs more credit. If this is 0,
                the server can't send events or data.

        Raises:
            HawseError: `invalid_params` if the server would refuse the name, key or timeout.
        """
        self._result: Any = Any  # the type of the result
        self._events: Any = {}  # the type of each event's value, keyed by event name
        self._params: Params[Any] | dict[str, Any]
        if isinstance(method, Params):
            spec = spec_of(type(method))
            self._params, method, self._result, self._events = method, spec.name, spec.result, spec.events
            if key is None and not (repeats or spec.safe or spec.stream):
                key = new_key()
            repeats = True if spec.safe else repeats
        else:
            self._params = {name: value for name, value in (params or {}).items() if value is not None}
        _check(method=method, sandbox=sandbox, key=key, timeout=timeout)
        self.trace = current_trace()  # the caller's `traceparent`
        self.method = method
        self.sandbox = sandbox
        self.key = key
        self.timeout = timeout
        self.repeats = key is not None if repeats is None else repeats
        self.channel: ClientChannel | None = None  # set by `CallTable` while the call is open
        self.sent_at: float | None = None  # `boot_time` when the call was first sent
        self.input_stream: InputStream | None = None  # the input that the call sends, if any
        self.receive_buffer: ReceiveBuffer | None = None  # the received items, if the call has a reader
        self._window = window
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = loop.create_future()  # the result's value, as returned by `finished`
        self.opened: asyncio.Future[None] = loop.create_future()  # done when the first `opened` event arrives

    # ---- opening a channel

    def params(self) -> Params[Any] | dict[str, Any]:
        """Return the parameters for the next channel."""
        return self._params

    def opening(self) -> int:
        """Prepare for a new channel; return its initial window in bytes."""
        if self.input_stream:
            self.input_stream.opening()
        return self.receive_buffer.window() if self.receive_buffer else self._window

    # ---- received messages; streams override these methods

    def receive_event(self, event: Event) -> None:
        """Handle an event. By default, ignore the event and return its credit."""
        self.spend(event_cost(event))

    def receive_data(self, data: Data) -> None:
        """Handle a data frame, whose payload is valid only during this call. By default, ignore the frame."""
        self.spend(len(data.payload))

    def finished(self, value: msgspec.Raw) -> Any:
        """Convert the result `value` to the value for `done`. If this raises `HawseError`, so does awaiting `done`."""
        return parse(value, self._result)

    # ---- for `CallTable`

    @property
    def sent(self) -> bool:
        return self.sent_at is not None

    def settle(self, value: msgspec.Raw) -> None:
        """Handle the `result`."""
        try:
            outcome = self.finished(value)
        except RemoteProtocolError as error:
            self.fail(error)
            raise
        except HawseError as error:
            self.fail(error)
            return
        self._close_streams(None)
        if not self.done.done():
            self.done.set_result(outcome)

    def fail(self, error: HawseError) -> None:
        """End the call with `error`."""
        self._close_streams(error)
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # marks the exception as retrieved, in case no task awaits `done`

    @property
    def settled(self) -> bool:
        return self.done.done()

    # ---- for streams

    def decode(self, event: Event) -> Any:
        """Decode an event's value as the type declared by the method; None if the event is unknown.

        Raises:
            RemoteProtocolError: The value is not of the declared type.
        """
        kind = self._events.get(event.name)
        return None if kind is None else parse(event.value, kind)

    def spend(self, size: int) -> None:
        """Give `size` bytes of credit back to the server, for messages that don't need a reader."""
        if self.receive_buffer:
            self.receive_buffer.spend(size)
        else:
            self.grant(size)

    def grant(self, size: int) -> None:
        """Grant the server credit for `size` more bytes."""
        if self.channel:
            self.channel.grant(size)

    def wake(self) -> None:
        """Make the channel pull from `input_stream`."""
        if self.channel:
            self.channel.wake()

    def mark_opened(self) -> None:
        """Record that the server has accepted the call. `CallTable.begin` then returns."""
        if not self.opened.done():
            self.opened.set_result(None)

    def _close_streams(self, error: HawseError | None) -> None:
        if self.input_stream:
            self.input_stream.finish(error)
        if self.receive_buffer:
            self.receive_buffer.finish(error)
        if not self.opened.done():
            if error:
                self.opened.set_exception(error)
                self.opened.exception()
            else:
                self.opened.set_result(None)


def event_cost(event: Event) -> int:
    """Return how many bytes of the window an event uses (docs/wire.md section 4)."""
    return len(event.value) + EVENT_OVERHEAD


def _check(*, method: str, sandbox: str | None, key: str | None, timeout: float | None) -> None:
    """Refuse values that would make the server close the connection, because all other calls would then fail too."""
    for name, text in (("method", method), ("sandbox", sandbox), ("key", key)):
        if text is not None and not 1 <= len(text) <= 128:
            message = f"{name} has {len(text)} characters; 1 to 128 are allowed"
            raise InvalidParamsError(message, details={"path": name})
    check_timeout(timeout, most=1e9)
