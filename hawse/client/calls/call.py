"""One call as its caller sees it: it may take several channels on several lines until it is settled.

Nothing here waits or opens anything: `Calls` opens, and tells a call what happened. What carries bytes
(`command`, `process`, `terminal`, `files`) derives from `ClientCall` and says how it is resumed.
"""

import asyncio
import secrets
from typing import Any

import msgspec

from hawse.api import Params, spec_of
from hawse.client.base.channel import ClientChannel
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import InputStream
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.wire import Data, Event, HawseError, RemoteProtocolError
from hawse.wire.limits import EVENT_OVERHEAD


def new_key() -> str:
    """A key for a call that must run once, whatever happens to the lines it is repeated on."""
    return secrets.token_hex(16)


class ClientCall:
    """A method, its parameters, and its outcome. `timeout` in seconds, from when it is sent."""

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
            method: The parameters of a declared method, or the name of any method.
            params: The parameters of a method that is given by name; None leaves a parameter out.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            key: The same key again joins the same call.
            timeout: Seconds from when the call is sent.
            repeats: Whether it may be sent again on a new connection; by default if it has a `key`.
            window: Bytes of events and data that the server may send before further credit; 0 takes neither.

        Raises:
            HawseError: `invalid_params` for a name, key or timeout that the server would refuse.
        """
        self._result: Any = Any  # the type of the result
        if isinstance(method, Params):
            spec = spec_of(type(method))
            method, params, self._result = spec.name, msgspec.to_builtins(method), spec.result
            key = key or (None if repeats or spec.safe or spec.stream else new_key())
            repeats = True if spec.safe else repeats
        else:
            params = {name: value for name, value in (params or {}).items() if value is not None}
        _check(method=method, sandbox=sandbox, key=key, timeout=timeout)
        self.method = method
        self.base: dict[str, Any] = params
        self.sandbox = sandbox
        self.key = key
        self.timeout = timeout
        self.repeats = key is not None if repeats is None else repeats
        self.channel: ClientChannel | None = None  # set by Calls while it is open
        self.sent_at: float | None = None  # wall clock, when it first went out
        self.feed: InputStream | None = None  # what it sends
        self.inbox: ReceiveBuffer | None = None  # what it receives, if somebody is to read it
        self._window = window
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = loop.create_future()  # the result's value, as `finished` returns it
        self.opened: asyncio.Future[None] = loop.create_future()  # the first `opened`

    @property
    def sent(self) -> bool:
        """It went out at least once."""
        return self.sent_at is not None

    # ---- how it is opened: to be overridden by what can be resumed

    def params(self) -> dict[str, Any]:
        """The parameters for the next opening."""
        return self.base

    def opening(self) -> int:
        """A channel is being opened; return its first window in bytes."""
        if self.feed:
            self.feed.opening()
        return self.inbox.window() if self.inbox else self._window

    # ---- what arrives: to be overridden by what carries something

    def receive_event(self, event: Event) -> None:
        """An event. By default it is of no interest."""
        self.spend(event_cost(event))

    def receive_data(self, data: Data) -> None:
        """A frame; its payload is valid during the call only. By default it is of no interest."""
        self.spend(len(data.payload))

    def finished(self, value: msgspec.Raw) -> Any:
        """Turn the result into what the caller gets. May raise `HawseError`."""
        return parse(value, self._result)

    # ---- for Calls

    def settle(self, value: msgspec.Raw) -> None:
        try:
            outcome = self.finished(value)
        except RemoteProtocolError as error:
            self.fail(error)
            raise
        except HawseError as error:
            self.fail(error)
            return
        self._over(None)
        if not self.done.done():
            self.done.set_result(outcome)

    def fail(self, error: HawseError) -> None:
        self._over(error)
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # it is no mistake if nobody asks

    @property
    def settled(self) -> bool:
        return self.done.done()

    # ---- for those that derive

    def spend(self, size: int) -> None:
        """`size` bytes of credit were used up by what needs no reader."""
        if self.inbox:
            self.inbox.spend(size)
        else:
            self.grant(size)

    def grant(self, size: int) -> None:
        if self.channel:
            self.channel.grant(size)

    def wake(self) -> None:
        if self.channel:
            self.channel.wake()

    def mark_opened(self) -> None:
        if not self.opened.done():
            self.opened.set_result(None)

    def _over(self, error: HawseError | None) -> None:
        if self.feed:
            self.feed.finish(error)
        if self.inbox:
            self.inbox.finish(error)
        if not self.opened.done():
            if error:
                self.opened.set_exception(error)
                self.opened.exception()
            else:
                self.opened.set_result(None)


def event_cost(event: Event) -> int:
    """What an event takes of a window: docs/wire.md section 4."""
    return len(event.value) + EVENT_OVERHEAD


def _check(*, method: str, sandbox: str | None, key: str | None, timeout: float | None) -> None:
    """What the server would close the connection for is refused here, before it costs every other call."""
    for name, text in (("method", method), ("sandbox", sandbox), ("key", key)):
        if text is not None and not 1 <= len(text) <= 128:
            raise HawseError("invalid_params", f"{name}: 1 to 128 characters", details={"path": name})
    if timeout is not None and not 0 < timeout <= 10**9:
        raise HawseError("invalid_params", "timeout: more than 0 seconds", details={"path": "timeout"})
