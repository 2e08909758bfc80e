"""A call made by gateway code on a link. The caller reads output and sends input as bytes.

Such a call implements the same interface as a client's `ChannelBridge`. At most one window of output is buffered,
because more credit is only granted once the caller has read some output.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple, Self

from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Credit, Data, End, Error, Event, HawseError, Kind, Principal, Result
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import from_raw, to_raw
from hawse_gateway.core.context import CallContext, current
from hawse_gateway.limits.byte_rates import CURRENT, Pace, Pacer
from hawse_gateway.upstream.input_queue import InputQueue
from hawse_gateway.upstream.sandbox_link import SandboxLink

WINDOW: Final = 256 << 10  # maximum number of output bytes buffered for a slow reader
PIECE: Final = 64 << 10  # maximum number of input bytes per frame
GRANT_STEP: Final = 32 << 10  # minimum number of bytes to grant at a time, an eighth of the window


class UpstreamItem(NamedTuple):
    """Bytes from an output stream, starting at `offset`."""

    kind: Kind
    offset: int
    payload: bytes


class UpstreamCall:
    """A call, used as an async context manager. Exiting the context cancels the call if it has not ended yet."""

    def __init__(
        self,
        link: SandboxLink,
        method: str,
        params: Any,
        *,
        principal: Principal,
        key: str | None = None,
        timeout: float | None = None,
        context: CallContext | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Create a call. Entering the context starts the call.

        Args:
            link: The link to the sandbox.
            method: The method.
            params: The parameters, as a struct from `hawse.api` or a dict.
            principal: The caller.
            key: The idempotency key.
            timeout: The maximum duration of the call in seconds. A longer call fails with `deadline_exceeded`.
            context: The context used for logs and limits. Defaults to the current context.
            pace: Limits the byte rate in both directions. Defaults to the current HTTP request's pace.
        """
        self.call = Call(ch=1, method=method, params=to_raw(params), key=key, timeout=timeout)
        self.principal = principal
        self.context = context or current()
        self.link_ch = 0
        self._sandbox = link
        self._link: StreamLink | None = None
        self._items: deque[UpstreamItem | Event] = deque()
        self._input_queue = InputQueue(self._count_input, whole=False)
        self._input_waiting = 0  # number of input bytes waiting for credit from the runtime
        self._input_offset = 0
        self._result: Any = None
        self._error: Error | None = None
        self._done = False
        self._changed = asyncio.Event()
        pace = pace or CURRENT.get()
        self._pacer = None if pace is None else Pacer(pace, self._grant)
        self._taken = 0  # number of bytes read but not yet granted back as credit
        self._spend(len(self.call.params))

    async def __aenter__(self) -> Self:
        self._sandbox.open(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sandbox.close(self)
        if self._pacer is not None:
            self._pacer.close()

    @property
    def buffered(self) -> int:
        """The number of bytes received but not yet read."""
        return sum(len(item.payload) for item in self._items if isinstance(item, UpstreamItem))

    async def result(self) -> Any:
        """Return the call's result, dropping its bytes and events. Raises `HawseError`."""
        while await self.next() is not None:
            pass
        return self._result

    async def begun(self) -> None:
        """Wait for the first output, event or result. Raises `HawseError` if the call fails before any of these
        arrives."""
        while not self._items and not self._done:
            await self._change()
        if self._error is not None and not self._items:
            raise self._error.to_exception()

    async def data(self) -> AsyncIterator[bytes]:
        """Yield the output bytes in order. Raises `HawseError`, possibly after some output."""
        while (item := await self.next()) is not None:
            if isinstance(item, UpstreamItem):
                yield item.payload

    async def next(self) -> UpstreamItem | Event | None:
        """Return the next bytes or event, or None at the end. Raises `HawseError`. Cancelling this method loses no
        data."""
        while not self._items and not self._done:
            await self._change()
        if self._items:
            item = self._items.popleft()
            size = len(item.payload) if isinstance(item, UpstreamItem) else len(item.value) + EVENT_OVERHEAD
            self._taken += size
            self._spend(size)
            if self._taken >= GRANT_STEP or not self._items:
                self._grant()
            return item
        if self._error is not None:
            raise self._error.to_exception()
        return None

    # ---- input

    async def send(self, data: bytes) -> bool:
        """Send input, and wait until the link has accepted the input. Concurrent calls send their input in order.

        Returns:
            False if the call has ended.
        """
        for at in range(0, len(data), PIECE):
            piece = memoryview(data)[at : at + PIECE]
            self._put(Data(Kind.INPUT, self.call.ch, self._input_offset, piece))
            self._input_offset += len(piece)
        while self._input_waiting and not self._done:
            await self._change()
        self._spend(len(data))
        return not self._done

    async def keep_pace(self) -> None:
        """Wait until the byte rate limit allows reading more input from the client."""
        if self._pacer is not None and (wait := self._pacer.pace.wait):
            await asyncio.sleep(wait)

    def end(self) -> None:
        """Send the end of the input."""
        self._put(End(ch=self.call.ch))

    def _put(self, item: Data | End) -> None:
        if not self._done:
            self._input_queue.put(item)
            if self._link is not None:
                self._link.attach(self.link_ch, self._input_queue)

    def _count_input(self, change: int) -> None:
        self._input_waiting += change
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _grant(self) -> None:
        """Grant credit for the bytes that were read, as soon as the pace allows it."""
        if self._link is None or self._done or not self._taken or (self._pacer is not None and self._pacer.blocked):
            return
        size, self._taken = self._taken, 0
        self._link.connection.grant(self.link_ch, size)
        self._link.flush()

    def _spend(self, size: int) -> None:
        if self._pacer is not None:
            self._pacer.pace.spend(size)

    # ---- called by the link

    def start(self, link: StreamLink, waited: float = 0.0) -> int:
        call = self.call
        timeout = None if call.timeout is None else max(call.timeout - waited, 0.001)
        self.link_ch = link.connection.call(
            call.method,
            call.params,
            key=call.key,
            timeout=timeout,
            trace=str(self.context.trace),
            principal=self.principal,
            window=WINDOW if self._pacer is None else self._pacer.pace.window(WINDOW),
        )
        self._link = link
        if self._input_queue:
            link.writer.attach(self.link_ch, self._input_queue)
        link.flush()
        return self.link_ch

    def receive_data(self, data: Data) -> None:
        if data.payload:  # empty frames are dropped, since credit doesn't limit their number
            self._items.append(UpstreamItem(data.kind, data.offset, bytes(data.payload)))
        self._changed.set()

    def receive_message(self, message: Event | Result | Error) -> None:
        match message:
            case Event():
                self._items.append(message)
            case Result():
                self._result = from_raw(message.value)
                self._spend(len(message.value))
                self._finish()
            case Error():
                self._error = message
                self._finish()
        self._changed.set()

    def receive_progress(self, event: Event) -> None:
        self.receive_message(event)

    def receive_credit(self, credit: Credit) -> None:
        if self._link is not None:
            self._link.wake(self.link_ch)

    def fail(self, error: HawseError) -> None:
        self.receive_message(Error.from_exception(error, self.call.ch))

    def abandon(self) -> None:
        link, over = self._link, self._done
        self._finish()
        if link is not None and not over:
            link.connection.cancel(self.link_ch)
            link.flush()
        self._items.clear()

    def _finish(self) -> None:
        link, self._link = self._link, None
        self._done = True
        self._input_queue.clear()
        if link is not None:
            link.writer.detach(self.link_ch)
