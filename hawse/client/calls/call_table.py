"""The calls that are not settled yet, and the connection they use.

    waiting ──connection──▶ open ──result, error──▶ settled
       ▲                     │ connection lost: repeatable calls wait again, the rest end as `interrupted`
       └────── pause ◀───────┘ `interrupted`, `unavailable`: repeatable calls are reopened after a pause

All methods except `perform`, `request`, `outcome` and `begin` are synchronous.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from hawse.api import Params
from hawse.client.base.boot_time import boot_time
from hawse.client.base.call_errors import DeadlineExceededError
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

RETRIED = frozenset({"interrupted", "unavailable"})  # repeatable calls are retried after these errors


@asynccontextmanager
async def deadline(call: ClientCall) -> AsyncIterator[None]:
    """Raise `HawseError` (`deadline_exceeded`) if the block takes longer than the call's timeout."""
    try:
        async with asyncio.timeout(call.timeout) as scope:
            yield
    except TimeoutError:
        if not scope.expired():
            raise
        message = f"{call.method}: no result within {call.timeout:g} s"
        raise DeadlineExceededError(message, admitted="unknown" if call.sent else "no") from None


class CallTable:
    """The table of one client's calls."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._connection: ConnectionProtocol | None = None  # the connection that new calls use
        self._waiting: deque[ClientCall] = deque()
        self._open: dict[int, ClientCall | None] = {}  # calls keyed by channel; None for an abandoned call
        self._posted: set[asyncio.Future[Any]] = set()  # the futures and calls that `settle_posted` waits for
        self._retry_policy = RetryPolicy(options)
        self._closed: HawseError | None = None

    def __len__(self) -> int:
        """The number of calls that are not settled yet."""
        return len(self._pending())

    # ---- called by the client's methods

    async def perform(self, call: ClientCall) -> Any:
        """Make a call and wait for its outcome. If the caller is cancelled, the call is cancelled as well.

        Raises:
            HawseError: The call failed or the client closed. `deadline_exceeded` if the call's timeout passes.
        """
        try:
            async with deadline(call):
                self.submit(call)
                return await self.outcome(call)
        finally:
            self.abandon(call)

    async def request(
        self, params: Params[R], *, sandbox: str | None, repeats: bool | None = None, undo: Params[Any] | None = None
    ) -> R:
        """Call a method that is not a stream, exactly once, and return its result.

        Args:
            params: The parameters, as an instance of the type that declares the method.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            repeats: True if running the method twice is harmless. The call then gets no key.
            undo: A call to send if the caller is cancelled or gets an error although the server may have run the
                method. The outcome of `undo` is not awaited.

        Raises:
            HawseError: The call failed or the client closed. `deadline_exceeded` if the client's `request_timeout`
                passes.
        """
        timeout = self._options.time_limit(params)
        call = ClientCall(params, sandbox=sandbox, timeout=timeout, repeats=repeats)
        result: R = await (self.perform(call) if undo is None else self._perform_or_undo(call, undo))
        return result

    async def _perform_or_undo(self, call: ClientCall, undo: Params[Any]) -> Any:
        try:
            async with deadline(call):
                self.submit(call)
                return await self.outcome(call)
        except BaseException as error:
            if call.sent and not (isinstance(error, HawseError) and error.admitted == "no"):
                self.post_after(call.done, lambda: self.post(ClientCall(undo, sandbox=call.sandbox)))
            else:
                self.abandon(call)
            raise

    async def outcome(self, call: ClientCall) -> Any:
        """Wait for the outcome of a call that was submitted. Raises `HawseError`."""
        try:
            return await asyncio.shield(call.done)
        except HawseError as error:
            raise fresh(error) from None

    async def begin(self, call: ClientCall) -> None:
        """Open a stream, and wait until the server has accepted it. The caller must `abandon` it when done.

        Raises:
            HawseError: The call failed or the client closed.
        """
        self.submit(call)
        try:
            await asyncio.shield(call.opened)
        except HawseError as error:
            raise fresh(error) from None
        except asyncio.CancelledError:
            self.abandon(call)
            raise

    def submit(self, call: ClientCall) -> None:
        """Open `call` now or as soon as the client is connected. If the client is closed, raises the error that
        closed it.
        """
        if self._closed:
            raise fresh(self._closed)
        self._waiting.append(call)
        self._open_waiting()
        self._limit_waiting()

    def post(self, call: ClientCall) -> None:
        """Make a call and ignore its outcome. Does nothing if the client is closed."""
        if not self._closed:
            self._expect(call.done)
            self.submit(call)

    def post_after(self, future: asyncio.Future[Any], post: Callable[[], None]) -> None:
        """Call `post` once `future` is done. `settle_posted` waits for the future and for the call made by `post`."""
        future.add_done_callback(lambda _: post())
        self._expect(future)

    async def settle_posted(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for posted calls to be settled. Does nothing if there is no connection."""
        if self._connection is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while self._posted:
                    await asyncio.wait(self._posted)

    def _expect(self, future: asyncio.Future[Any]) -> None:
        self._posted.add(future)
        future.add_done_callback(self._posted.discard)

    def abandon(self, call: ClientCall, error: HawseError | None = None) -> None:
        """Cancel `call` on the server and settle it, by default with `ClientClosedError`.

        A settled call keeps its outcome.
        """
        if call in self._waiting:
            self._waiting.remove(call)
        self._retry_policy.forget(call)
        if channel := call.channel:
            call.channel = None
            self._open[channel.ch] = None
            channel.cancel()
        if not call.settled:
            call.fail(error or ClientClosedError("the call was abandoned", admitted="unknown" if call.sent else "no"))

    def close(self, error: HawseError) -> None:
        """Settle all calls with `error`. Later calls will raise the same error."""
        self._closed = self._closed or error
        self._connection = None
        pending = self._pending()
        self._open.clear()
        self._waiting.clear()
        for call in pending:
            self._retry_policy.forget(call)
            call.channel = None
            own = fresh(error)
            own.admitted = "unknown" if call.sent else "no"
            call.fail(own)

    # ---- called by the connection

    def connected(self, connection: ConnectionProtocol) -> None:
        """Open waiting and new calls on `connection`."""
        self._connection = connection
        self._open_waiting()

    def draining(self) -> None:
        """Stop opening calls, because the connection will be closed soon. Open calls can finish on this connection; new
        calls wait for the next one.
        """
        self._connection = None

    def disconnected(self) -> None:
        """Handle the loss of the connection. Repeatable calls wait for the next connection, ahead of calls not yet
        sent.
        """
        self._connection = None
        open_, self._open = self._open, {}
        repeated = []
        for call in filter(None, open_.values()):
            call.channel = None
            if call.repeats:
                repeated.append(call)
            else:
                call.fail(HawseError("interrupted", "the connection was lost during the call", admitted="unknown"))
        self._waiting.extendleft(reversed(repeated))
        self._limit_waiting()

    def receive(self, event: Message | Data) -> None:
        """Pass a received message to its call. Raises `RemoteProtocolError` if the message violates the protocol."""
        match event:
            case Result(ch=ch):
                if call := self._close_channel(ch):
                    self._retry_policy.forget(call)
                    call.settle(event.value)
            case Error(ch=int(ch)):
                if call := self._close_channel(ch):
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
                    self._retry_policy.succeeded(call)
                    call.receive_event(event)
                case Credit() if call.input_stream:
                    call.input_stream.credited(event.bytes)
                    call.wake()
        except RemoteProtocolError:
            raise
        except HawseError as error:  # the error ends only this call
            self.abandon(call, error)

    # ---- internals

    def _pending(self) -> list[ClientCall]:
        return list(dict.fromkeys([*filter(None, self._open.values()), *self._waiting, *self._retry_policy]))

    def _close_channel(self, ch: int) -> ClientCall | None:
        call = self._open.pop(ch, None)
        if call and call.channel:
            call.channel.detach()
            call.channel = None
        if self._waiting:
            self._open_waiting()
        return call

    def _open_waiting(self) -> None:
        connection = self._connection
        while connection and self._waiting and len(connection.protocol.channels) < connection.protocol.limits.channels:
            call = self._waiting.popleft()
            try:
                self._open_on(connection, call)
            except HawseError as error:
                call.fail(error)
            except UnicodeEncodeError as error:
                surrogate = error.object[error.start]
                text = f"a text in the parameters has {surrogate!r}, a surrogate, which is not valid Unicode"
                call.fail(HawseError("invalid_params", text))
            except (LocalProtocolError, TypeError, ValueError, OverflowError, RecursionError) as error:
                call.fail(HawseError("invalid_params", str(error)))

    def _open_on(self, connection: ConnectionProtocol, call: ClientCall) -> None:
        if not call.sent:
            self._retry_policy.forget(call)
        now = boot_time()
        ch = connection.protocol.call(
            call.method,
            call.params(),
            sandbox=call.sandbox,
            key=call.key,
            timeout=call.timeout,
            age=None if call.key is None or call.sent_at is None else max(0.0, now - call.sent_at),
            trace=call.trace,
            window=min(call.opening(), connection.protocol.limits.window_max),
        )
        call.sent_at = now if call.sent_at is None else call.sent_at
        self._open[ch] = call
        call.channel = ClientChannel(connection, ch)
        if call.input_stream:
            connection.writer.attach(ch, call.input_stream)
        connection.wake_writer()

    def _failed(self, call: ClientCall, error: HawseError) -> None:
        """Handle an `error`. A call that can be repeated is reopened after a delay, for a limited time."""
        again = call.repeats and error.retryable and error.code in RETRIED
        if not (again and self._retry_policy.retry(call, self._try_again)):
            self._retry_policy.forget(call)
            call.fail(error)

    def _try_again(self, call: ClientCall) -> None:
        self._waiting.append(call)
        self._open_waiting()

    def _limit_waiting(self) -> None:
        """Fail an unsent call once it has waited for a connection for as long as one connection attempt can take."""
        if self._connection is None:
            for call in self._waiting:
                if not call.sent:
                    self._retry_policy.limit(call, self._expire)

    def _expire(self, call: ClientCall) -> None:
        self._retry_policy.forget(call)
        if call in self._waiting:
            self._waiting.remove(call)
            call.fail(GaveUpError(f"no connection within {self._options.connect_timeout} s"))
