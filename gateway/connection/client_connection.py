"""One client's connection: takes its messages, writes what is for it, and ends for exactly one reason.

No task stands between a socket and a link: a message is handled as it is received, and what is to be sent is taken in
small batches while the socket has room, so that control goes first and no channel starves. It knows no HTTP and no
WebSocket library: a `MessageTransport` moves the messages.
"""

import asyncio
import logging
from collections import Counter, deque
from typing import Final, NamedTuple, Protocol

from gateway.auth.principals import role_of
from gateway.connection.channel_bridge import ChannelBridge
from gateway.connection.credit_budget import CreditBudget
from gateway.upstream.links import Links, SandboxLink
from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    FairWriter,
    HawseError,
    Hello,
    Limits,
    Message,
    Principal,
    RemoteProtocolError,
    Role,
)

log = logging.getLogger(__name__)

BATCH: Final = 64 << 10  # bytes the writer takes at a time: what new control may have to wait for
INPUT_HIGH: Final = 1 << 20  # bytes one client may have waiting toward runtimes before it is not read from
CLOSE_TIMEOUT: Final = 2.0  # s for the last words to a client


class ConnectionClose(NamedTuple):
    """Why a connection ends. Without a code the client has ended it."""

    code: int | None
    reason: str
    error: HawseError | None = None  # said before the close; the connection says its own


class ConnectionStats(NamedTuple):
    """What one client, or several, have cost."""

    calls: int = 0
    bytes_in: int = 0  # of messages, without their frames
    bytes_out: int = 0


class MessageTransport(Protocol):
    """A WebSocket, open."""

    bytes_in: int  # of the messages that came, whole
    bytes_out: int

    @property
    def has_room(self) -> bool:
        """Whether it takes more now. When it does again it calls `ClientConnection.resume_writing`."""
        ...

    def attach(self, receiver: "ClientConnection | None") -> None:
        """Hand what comes to `receiver.receive`, and that nothing more will come to `receiver.lost`."""
        ...

    def write(self, message: str | bytes) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def drain(self) -> None:
        """Wait until it has room. Raises `OSError` when the other side is gone."""
        ...

    async def close(self, code: int, reason: str) -> None: ...


class ClientConnection:
    """Use `run` once. It is the `Front` of its bridges."""

    def __init__(
        self,
        transport: MessageTransport,
        links: Links,
        limits: Limits,
        name: str,
        principal: Principal,
    ) -> None:
        self.connection = Connection(Role.SERVER, limits)
        self.writer = FairWriter(self.connection)
        self.budget = CreditBudget()
        self.name = name
        self.principal = principal
        self.role = role_of(principal)
        self._transport = transport
        self._links = links
        self._bridges: dict[int, tuple[ChannelBridge, SandboxLink]] = {}
        self._closing: asyncio.Future[ConnectionClose] = asyncio.get_running_loop().create_future()
        self._unsent: deque[str | bytes] = deque()  # the rest of a batch that the transport had no room for
        self._busy = False  # receiving or writing: whatever that gives to write is written at its end
        self._used: Counter[SandboxLink] = Counter()  # open calls of this client
        self.input_waiting = 0  # bytes toward runtimes
        self._calls = 0  # ever
        self._reading = True

    async def run(self) -> ConnectionClose:
        """Serve until either side ends it; return why."""
        loop = asyncio.get_running_loop()
        deadline = loop.call_later(self.connection.limits.hello_timeout, self._no_hello)
        try:
            self._transport.attach(self)
            closing = await self._closing
        finally:
            self._transport.attach(None)
            deadline.cancel()
            for bridge, link in list(self._bridges.values()):
                link.close(bridge)
            self._bridges.clear()
        await self.say(closing)
        return closing

    @property
    def counts(self) -> ConnectionStats:
        return ConnectionStats(self._calls, self._transport.bytes_in, self._transport.bytes_out)

    @property
    def closing(self) -> bool:
        return self._closing.done()

    def close(self, closing: ConnectionClose) -> None:
        """End the connection; the first reason holds."""
        if not self._closing.done():
            self._closing.set_result(closing)

    def go_away(self, reason: str, retry_after: float) -> None:
        self.connection.goaway(reason, retry_after)
        self.close(ConnectionClose(1012, reason))

    # ---- for bridges

    def flush(self) -> None:
        """There may be something to write."""
        if not self._busy:
            self._busy = True
            self._write()
            self._busy = False

    def count_input(self, change: int) -> None:
        self.input_waiting += change
        if change < 0 and not self._reading:
            self._read_on()

    def forget(self, ch: int) -> None:
        self.budget.close(ch)
        if entry := self._bridges.pop(ch, None):
            bridge, link = entry
            self._used[link] -= 1
            if not self._used[link]:
                del self._used[link]
            link.close(bridge)

    # ---- for the transport

    def receive(self, message: str | bytes) -> None:
        """Take and handle one message. Never raises: what goes wrong ends the connection."""
        if self.closing:
            return
        self._busy = True
        try:
            if isinstance(message, str):
                self.connection.receive_text(message)
            else:
                self.connection.receive_data(message)
            for event in self.connection.events():
                self._handle(event)
        except RemoteProtocolError as error:
            self.close(ConnectionClose(error.close_code, error.code))
        except Exception:
            self._fail()
        else:
            self._write()
            self._read_on()
        finally:
            self._busy = False

    def lost(self) -> None:
        """The other side is gone."""
        self.close(ConnectionClose(None, "gone"))

    def resume_writing(self) -> None:
        self.flush()

    # ---- reading

    def _no_hello(self) -> None:
        if not self.connection.ready:
            self.close(ConnectionClose(4408, "hello_timeout", HawseError("hello_timeout", "no `hello` in time")))

    def _read_on(self) -> None:
        """Read, unless too much of this client's waits for a runtime that does not read."""
        room = self.input_waiting <= INPUT_HIGH and not self._congested()
        if room is not self._reading and not self.closing:
            self._reading = room
            if room:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _congested(self) -> bool:
        for link in self._used:
            if link.congested:
                link.when_drained(self._read_on)
                return True
        return False

    def _handle(self, event: Message | Data) -> None:
        match event:
            case Data() | End() | Cancel():
                if (entry := self._bridges.get(event.ch)) and not (isinstance(event, Data) and not event.payload):
                    entry[0].send(event)
            case Credit():
                self.writer.wake(event.ch)
                if entry := self._bridges.get(event.ch):
                    entry[0].grant()
            case Call():
                try:
                    self._open(event)
                except HawseError as error:
                    self.connection.send_error(event.ch, error)
            case Hello():
                self.connection.send_welcome("hawse", identity=self.principal.id, role=self.role)

    def _open(self, call: Call) -> None:
        self._calls += 1
        link = self._links.get(call.sandbox)
        bridge = ChannelBridge(self, call)
        self._bridges[call.ch] = bridge, link
        self._used[link] += 1
        link.open(bridge)

    # ---- writing

    def _write(self) -> None:
        """Write while the transport has room."""
        try:
            while self._transport.has_room and not self.closing:
                if not self._unsent:
                    self._unsent.extend(self.writer.take(BATCH))
                    if not self._unsent:
                        return
                self._transport.write(self._unsent.popleft())
        except Exception:
            self._fail()
        if self.connection.pending > self.connection.limits.backlog:
            self.connection.data_to_send()
            self._unsent.clear()
            error = HawseError("backlog", f"more than {self.connection.limits.backlog} bytes were not read")
            self.close(ConnectionClose(4429, "backlog", error))

    def _fail(self) -> None:
        log.exception("! %s", self.name, extra={"peer": self.name, "role": self.role})
        self.close(ConnectionClose(1011, "internal", HawseError("internal")))

    async def say(self, closing: ConnectionClose) -> None:
        """The last words, if anybody is there to hear them."""
        if closing.code is None:
            return
        if closing.error is not None:
            self.connection.say(closing.error)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                # What was taken comes first: a result must not be heard without the bytes before it.
                for message in (*self._unsent, *self.connection.data_to_send()):
                    await self._transport.drain()
                    self._transport.write(message)
                await self._transport.drain()
                await self._transport.close(closing.code, closing.reason)
        except OSError:  # TimeoutError is one: the client does not read, or is gone
            pass
