"""The calls that are not settled, and the line they are on: who waits, who is open, who is tried again.

    waiting ──line──▶ open ──result, error──▶ settled
       ▲               │ line lost: what repeats waits again, the rest is `interrupted`
       └──── pause ◀───┘ `interrupted`, `unavailable`: what repeats is opened again after a pause

Everything here is synchronous but `perform` and `begin`, which wait for an outcome and clean up when cancelled.
"""

import asyncio
import time
from collections import deque
from typing import Any, TypeVar

from hawse.api import Params
from hawse.client.base.channel import ClientChannel, ConnectionProtocol
from hawse.client.base.errors import ClientClosedError, GaveUpError, fresh
from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall
from hawse.client.calls.retry_policy import RetryPolicy
from hawse.wire import (
    Credit,
    Data,
    Error,
    Event,
    HawseError,
    LocalProtocolError,
    Message,
    RemoteProtocolError,
    Result,
)

R = TypeVar("R")

RETRIED = frozenset({"interrupted", "unavailable"})  # what a channel that can be resumed comes back from
OPENINGS = frozenset({"opened", "watching"})  # the events by which one sees that a channel works


class CallTable:
    """The table of one client's calls."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._line: ConnectionProtocol | None = None
        self._waiting: deque[ClientCall] = deque()
        self._open: dict[int, ClientCall | None] = {}  # by channel; None: abandoned, its last word is awaited
        self._patience = RetryPolicy(options)
        self._closed: HawseError | None = None

    def __len__(self) -> int:
        """How many calls are not settled."""
        return len(self._pending())

    # ---- the callers' side

    async def perform(self, call: ClientCall) -> Any:
        """Make a call and wait for its outcome. A caller that is cancelled leaves nothing behind."""
        self.submit(call)
        try:
            async with asyncio.timeout(call.timeout) as deadline:
                return await self.outcome(call)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise HawseError("deadline_exceeded", call.method, admitted="unknown" if call.sent else "no") from None
        finally:
            self.abandon(call)

    async def request(self, params: Params[R], *, sandbox: str | None, repeats: bool | None = None) -> R:
        """Call a method that is not a stream, exactly once, and return its result.

        Args:
            params: The parameters, of the type that declares the method.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            repeats: True if running it twice does no harm: then it gets no key.

        Raises:
            HawseError: The call's error, and what ends a client.
        """
        result: R = await self.perform(ClientCall(params, sandbox=sandbox, repeats=repeats))
        return result

    async def outcome(self, call: ClientCall) -> Any:
        """Wait for the outcome of a call that was submitted. Raises `HawseError`."""
        try:
            return await asyncio.shield(call.done)
        except HawseError as error:
            raise fresh(error) from None

    async def begin(self, call: ClientCall) -> None:
        """Open a call that stays open, and wait for its `opened`. Whoever began it has to `abandon` it."""
        self.submit(call)
        try:
            await asyncio.shield(call.opened)
        except HawseError as error:
            raise fresh(error) from None
        except asyncio.CancelledError:
            self.abandon(call)
            raise

    def submit(self, call: ClientCall) -> None:
        """Open `call` now, or as soon as there is a line. Raises what closed the client, if it is closed."""
        if self._closed:
            raise fresh(self._closed)
        self._waiting.append(call)
        self._open_waiting()
        self._limit_waiting()

    def post(self, call: ClientCall) -> None:
        """Make a call whose outcome nobody waits for. On a client that is closed it does nothing."""
        if not self._closed:
            self.submit(call)

    def abandon(self, call: ClientCall, error: HawseError | None = None) -> None:
        """Nobody is interested in `call` any more: say so to the server, and settle it. Again, it does nothing."""
        if call in self._waiting:
            self._waiting.remove(call)
        self._patience.forget(call)
        if channel := call.channel:
            call.channel = None
            self._open[channel.ch] = None
            channel.cancel()
        if not call.settled:
            call.fail(error or ClientClosedError("nobody waits for it", admitted="unknown" if call.sent else "no"))

    def close(self, error: HawseError) -> None:
        """Settle everything with `error`; so will every later call be."""
        self._closed = self._closed or error
        self._line = None
        pending = self._pending()
        self._open.clear()
        self._waiting.clear()
        for call in pending:
            self._patience.forget(call)
            call.channel = None
            last = fresh(error)
            last.admitted = "unknown" if call.sent else "no"
            call.fail(last)

    # ---- the line's side

    def line_up(self, line: ConnectionProtocol) -> None:
        self._line = line
        self._open_waiting()

    def line_draining(self) -> None:
        """The line is about to go: what is open may end on it, what is new waits for the next."""
        self._line = None

    def line_down(self) -> None:
        """The line is lost. What repeats waits for the next, before what was never sent."""
        self._line = None
        open_, self._open = self._open, {}
        repeated = []
        for call in filter(None, open_.values()):
            call.channel = None
            if call.repeats:
                repeated.append(call)
            else:
                call.fail(HawseError("interrupted", "the line was cut under the call", admitted="unknown"))
        self._waiting.extendleft(reversed(repeated))
        self._limit_waiting()

    def receive(self, event: Message | Data) -> None:
        """Something arrived on a channel. Raises `RemoteProtocolError` if it makes no sense there."""
        match event:
            case Result(ch=ch):
                if call := self._last_word(ch):
                    self._patience.forget(call)
                    call.settle(event.value)
            case Error(ch=int(ch)):
                if call := self._last_word(ch):
                    self._failed(call, event.to_exception())
            case Data(ch=ch) | Event(ch=ch) | Credit(ch=ch):
                if call := self._open.get(ch):
                    self._receive_open(call, event)

    def _receive_open(self, call: ClientCall, event: Data | Event | Credit) -> None:
        try:
            match event:
                case Data():
                    call.receive_data(event)
                case Event():
                    if event.name in OPENINGS:
                        self._patience.opened(call)
                    call.receive_event(event)
                case Credit() if call.feed:
                    call.feed.credited(event.bytes)
                    call.wake()
        except RemoteProtocolError:
            raise
        except HawseError as error:  # it ends this call alone
            self.abandon(call, error)

    # ---- inside

    def _pending(self) -> list[ClientCall]:
        return list(dict.fromkeys([*filter(None, self._open.values()), *self._waiting, *self._patience]))

    def _last_word(self, ch: int) -> ClientCall | None:
        call = self._open.pop(ch, None)
        if call and call.channel:
            call.channel.detach()
            call.channel = None
        if self._waiting:
            self._open_waiting()
        return call

    def _open_waiting(self) -> None:
        line = self._line
        while line and self._waiting and len(line.connection.channels) < line.connection.limits.channels:
            call = self._waiting.popleft()
            try:
                self._open_on(line, call)
            except HawseError as error:
                call.fail(error)
            except (LocalProtocolError, TypeError, ValueError, OverflowError, RecursionError) as error:
                call.fail(HawseError("invalid_params", str(error)))

    def _open_on(self, line: ConnectionProtocol, call: ClientCall) -> None:
        if not call.sent:
            self._patience.forget(call)
        now = time.time()  # goes on while the machine sleeps
        ch = line.connection.call(
            call.method,
            call.params(),
            sandbox=call.sandbox,
            key=call.key,
            timeout=call.timeout,
            age=None if call.key is None or call.sent_at is None else max(0.0, now - call.sent_at),
            window=min(call.opening(), line.connection.limits.window_max),
        )
        call.sent_at = now if call.sent_at is None else call.sent_at
        self._open[ch] = call
        call.channel = ClientChannel(line, ch)
        if call.feed:
            line.writer.attach(ch, call.feed)
        line.kick()

    def _failed(self, call: ClientCall, error: HawseError) -> None:
        """An `error` came. What can be resumed is opened again after a pause, for a bounded time."""
        if not (call.repeats and error.code in RETRIED and self._patience.retry(call, self._try_again)):
            self._patience.forget(call)
            call.fail(error)

    def _try_again(self, call: ClientCall) -> None:
        self._waiting.append(call)
        self._open_waiting()

    def _limit_waiting(self) -> None:
        """Without a line, a call that was never sent waits as long as one attempt to connect may take."""
        if self._line is None:
            for call in self._waiting:
                if not call.sent:
                    self._patience.limit(call, self._expire)

    def _expire(self, call: ClientCall) -> None:
        self._patience.forget(call)
        if call in self._waiting:
            self._waiting.remove(call)
            call.fail(GaveUpError(f"no connection within {self._options.connect_timeout} s"))
