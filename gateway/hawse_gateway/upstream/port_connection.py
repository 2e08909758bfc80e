"""A connection of the gateway into a sandbox: `port.connect`, read and written as bytes.

To a link it is what the `ChannelBridge` of a client is. The window bounds the bytes from the program, the runtime's
credit those to it; credit is granted only for bytes that have been taken from here.
"""

import asyncio
from collections import deque
from typing import Final, Self

import msgspec

from hawse.api.ports import PortConnectOpened
from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Connection, Credit, Data, Error, Event, HawseError, Kind, Principal, Result
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import to_raw
from hawse_gateway.auth.principals import PREVIEW
from hawse_gateway.core.context import CallContext
from hawse_gateway.limits.pace import Pace, Pacer
from hawse_gateway.upstream.sandbox_link import SandboxLink

WINDOW: Final = 256 << 10  # bytes: the memory that a slow reader costs
CONNECT_TIME: Final = 20.0  # s for the link (10 s) and the connection (10 s)
GRANT_STEP: Final = 32 << 10  # bytes taken until credit is granted again: an eighth of the window


class PortTunnel:
    """Use it in `async with`: entering waits for the connection, leaving closes it.

    Entering, `read` and `write` raise `HawseError`.
    """

    def __init__(
        self, link: SandboxLink, place: str | int, pace: Pace | None = None, *, principal: Principal = PREVIEW
    ) -> None:
        """Create it.

        Args:
            link: The sandbox.
            place: The token of a preview, or the number of a port.
            pace: How fast bytes may flow in both directions. None: there is no limit.
            principal: On whose behalf. A number of a port needs the right `operate`.
        """
        params = {"token": place} if isinstance(place, str) else {"port": place}
        self.call = Call(ch=1, method="port.connect", params=to_raw(params))
        self.principal = principal
        self.context = CallContext("")
        self.link_ch = 0
        self.port = 0  # 0 until the connection is made
        self._sandbox = link
        self._link: StreamLink | None = None
        self._chunks: deque[bytes] = deque()
        self._taken = 0  # bytes taken from here for which no credit was granted yet
        self._eof = False  # the program has closed its side
        self._unsent: deque[memoryview] = deque()
        self._offset = 0  # of the next byte to the program
        self._ended = False  # `end` was called
        self._end_sent = False
        self._error: HawseError | None = None
        self._changed = asyncio.Event()  # something was received
        self._written = asyncio.Event()  # something was sent, or never will be
        self._pacer = None if pace is None else Pacer(pace, self._grant)

    async def __aenter__(self) -> Self:
        self._sandbox.open(self)
        try:
            async with asyncio.timeout(CONNECT_TIME):
                while not self.port:
                    self._check()
                    await self._change()
        except TimeoutError:
            self._sandbox.close(self)
            raise HawseError("unavailable", f"the port did not answer within {CONNECT_TIME:g} s") from None
        except BaseException:
            self._sandbox.close(self)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sandbox.close(self)
        if self._pacer is not None:
            self._pacer.close()

    @property
    def buffered(self) -> int:
        """The number of bytes from the program that were not yet read."""
        return sum(map(len, self._chunks))

    async def read(self) -> bytes:
        """Some bytes from the program; none when it has closed its side. For one task at a time."""
        while not self._chunks:
            if self._eof:
                return b""
            self._check()
            await self._change()
        chunk = self._chunks.popleft()
        self._taken += len(chunk)
        self._spend(len(chunk))
        if self._taken >= GRANT_STEP or not self._chunks:
            self._grant()
        return chunk

    async def write(self, *parts: bytes) -> None:
        """Send to the program; return when the link has taken all of it. Concurrent calls keep their order."""
        self._check()
        self._unsent.extend(memoryview(part) for part in parts if part)
        self._wake()
        while self._unsent:
            self._written.clear()
            await self._written.wait()
            self._check()
        self._spend(sum(map(len, parts)))

    async def keep_pace(self) -> None:
        """Wait before more is read from the browser, as long as its bytes per second require."""
        if self._pacer is not None and (wait := self._pacer.pace.wait):
            await asyncio.sleep(wait)

    def end(self) -> None:
        """Close our side: the program sees the end after all that was written."""
        self._ended = True
        self._wake()

    def cut(self, error: HawseError) -> None:
        """Break the connection. `read` and `write` raise the error."""
        self._sandbox.close(self)
        self.fail(error)

    # ---- for the link

    def start(self, link: StreamLink, waited: float = 0.0) -> int:
        window = WINDOW if self._pacer is None else self._pacer.pace.window(WINDOW)
        self.link_ch = link.connection.call(self.call.method, self.call.params, principal=self.principal, window=window)
        self._link = link
        link.attach(self.link_ch, self)
        return self.link_ch

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send what was written. Called by the link's writer when it is this channel's turn."""
        if self._unsent:
            part = self._unsent[0][: min(size, connection.window(ch))]
            if not part:
                return False
            connection.send_data(ch, Kind.INPUT, self._offset, part)
            self._offset += len(part)
            rest = self._unsent.popleft()[len(part) :]
            if rest:
                self._unsent.appendleft(rest)
            self._written.set()
            return bool(self._unsent) or self._ended
        if self._ended and not self._end_sent:
            self._end_sent = True
            connection.end(ch)
        return False

    def receive_data(self, data: Data) -> None:
        self._chunks.append(bytes(data.payload))
        self._changed.set()

    def receive_message(self, message: Event | Result | Error) -> None:
        match message:
            case Event(name="opened"):
                self.port = msgspec.json.decode(message.value, type=PortConnectOpened).port
            case Event(name="end"):
                self._eof = True
            case Result():
                self._over(None)
            case Error():
                self._over(message.to_exception())
        if isinstance(message, Event):
            self._taken += len(message.value) + EVENT_OVERHEAD
        self._changed.set()

    def receive_progress(self, event: Event) -> None:
        """Ignored: the browser waits for the response."""

    def receive_credit(self, credit: Credit) -> None:
        self._wake()

    def fail(self, error: HawseError) -> None:
        self._over(error)
        self._changed.set()

    def abandon(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.writer.detach(self.link_ch)
            link.connection.cancel(self.link_ch)
            link.flush()
        self._chunks.clear()
        self._unsent.clear()

    # ---- inside

    def _over(self, error: HawseError | None) -> None:
        """The final message of the channel has arrived."""
        if self._link is not None:
            self._link.writer.detach(self.link_ch)
            self._link = None
        self._eof = self._eof or error is None
        self._error = error or HawseError("exited", "the connection is closed")
        self._unsent.clear()
        self._written.set()

    def _check(self) -> None:
        if self._error is not None:
            error = self._error
            raise HawseError(error.code, error.message, admitted=error.admitted, details=error.details)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _wake(self) -> None:
        if self._link is not None:
            self._link.wake(self.link_ch)

    def _spend(self, size: int) -> None:
        if self._pacer is not None:
            self._pacer.pace.spend(size)

    def _grant(self) -> None:
        if self._link is not None and self._taken and not (self._pacer is not None and self._pacer.blocked):
            self._link.connection.grant(self.link_ch, self._taken)
            self._taken = 0
            self._link.flush()
