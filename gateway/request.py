"""A call that the gateway itself makes on a link, for an HTTP door: its bytes and events come as one reads them.

To a link it is what a client's `Bridge` is. What is on its way is bounded by the window; nothing is granted that has
not been taken from here.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

from gateway.links import SandboxLink
from hawse.link import StreamLink
from hawse.wire import Call, Credit, Data, Error, Event, HawseError, Result
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import from_raw, to_raw

WINDOW: Final = 256 << 10  # bytes on their way: what a slow reader costs


class Request:
    """Use it in `async with`; leaving cancels what is not over."""

    def __init__(self, link: SandboxLink, method: str, params: Any, *, role: str, timeout: float | None = None) -> None:
        self.call = Call(ch=1, method=method, params=to_raw(params), timeout=timeout)
        self.role = role
        self.link_ch = 0
        self._sandbox = link
        self._link: StreamLink | None = None
        self._items: deque[bytes | Event] = deque()
        self._result: Any = None
        self._error: HawseError | None = None
        self._done = False
        self._changed = asyncio.Event()

    async def __aenter__(self) -> "Request":
        self._sandbox.open(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sandbox.close(self)

    async def result(self) -> Any:
        """The call's value. Raises `HawseError`."""
        async for _ in self.data():
            pass
        return self._result

    async def begun(self) -> None:
        """Return when the first of it is there. Raises `HawseError` if it was refused instead."""
        while not self._items and not self._done:
            self._changed.clear()
            await self._changed.wait()
        if self._error is not None and not self._items:
            raise self._error

    async def data(self) -> AsyncIterator[bytes]:
        """Its bytes, in order. Raises `HawseError`, also if it ends with an error after some of them."""
        while True:
            while self._items:
                item = self._items.popleft()
                self._grant(len(item) if isinstance(item, bytes) else len(item.value) + EVENT_OVERHEAD)
                if isinstance(item, bytes):
                    yield item
            if self._done:
                if self._error is not None:
                    raise self._error
                return
            self._changed.clear()
            await self._changed.wait()

    def _grant(self, size: int) -> None:
        if self._link is not None and not self._done and size:
            self._link.connection.grant(self.link_ch, size)
            self._link.flush()

    # ---- for the link

    def start(self, link: StreamLink, waited: float = 0.0) -> int:
        call = self.call
        timeout = None if call.timeout is None else max(call.timeout - waited, 0.001)
        self.link_ch = link.connection.call(call.method, call.params, timeout=timeout, role=self.role, window=WINDOW)
        self._link = link
        link.flush()
        return self.link_ch

    def receive_data(self, data: Data) -> None:
        self._items.append(bytes(data.payload))
        self._changed.set()

    def receive_message(self, message: Event | Result | Error) -> None:
        match message:
            case Event():
                self._items.append(message)
            case Result():
                self._result = from_raw(message.value)
                self._done = True
            case Error():
                self._error = message.to_exception()
                self._done = True
        self._changed.set()

    def receive_credit(self, credit: Credit) -> None:
        """It sends no input."""

    def fail(self, error: HawseError) -> None:
        self.receive_message(Error.from_exception(error, self.call.ch))

    def abandon(self) -> None:
        link, self._link = self._link, None
        if link is not None and not self._done:
            link.connection.cancel(self.link_ch)
            link.flush()
        self._done = True
        self._items.clear()
