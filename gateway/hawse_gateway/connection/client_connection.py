"""One client's connection: handles its messages, writes its output, and records why it ended.

There is no task between a socket and a link: each message is handled as soon as it is received. Output is written in
small batches as long as the socket accepts more, so that control messages go first and no channel starves. The module
is independent of HTTP and WebSocket libraries: a `MessageTransport` sends and receives the messages.
"""

import asyncio
import logging
from collections import Counter, deque
from typing import Final, NamedTuple, Protocol

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
from hawse_gateway.auth.principals import role_of
from hawse_gateway.connection.backlog import Backlog, BacklogBudget
from hawse_gateway.connection.channel_bridge import ChannelBridge
from hawse_gateway.connection.credit_budget import TOTAL, CreditBudget
from hawse_gateway.limits.byte_rates import Pace, Pacer
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

log = logging.getLogger(__name__)

BATCH: Final = 64 << 10  # size of an output batch in bytes; a control message waits for at most one batch
INPUT_HIGH: Final = 1 << 20  # while more bytes than this are waiting for runtimes, the client's messages aren't read
CLOSE_TIMEOUT = 2.0  # seconds to spend sending the final messages to a client


class ConnectionClose(NamedTuple):
    """Why a connection ends. `code` is None if the client closed the connection."""

    code: int | None
    reason: str
    error: HawseError | None = None  # sent before closing; None if `Connection` has already sent the error


class ConnectionStats(NamedTuple):
    """One client's counters, or the totals for several clients."""

    calls: int = 0
    bytes_in: int = 0  # total size of the messages received in bytes, without framing
    bytes_out: int = 0


class MessageTransport(Protocol):
    """An open WebSocket."""

    bytes_in: int  # total payload size of the messages received, in bytes
    bytes_out: int

    @property
    def has_room(self) -> bool:
        """Whether a message can be sent now. If not, `ClientConnection.resume_writing` is called as soon as this
        changes."""
        ...

    def attach(self, receiver: "ClientConnection | None") -> None:
        """Pass each message to `receiver.receive`. Call `receiver.lost` after the last message."""
        ...

    def write(self, message: str | bytes) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def drain(self) -> None:
        """Wait until a message can be sent. Raises `OSError` if the client disconnects."""
        ...

    async def close(self, code: int, reason: str) -> None: ...


class ClientConnection:
    """One client's connection. Call `run` once. Implements `BridgeHost` for its bridges."""

    def __init__(
        self,
        transport: MessageTransport,
        links: Links,
        limits: Limits,
        name: str,
        principal: Principal,
        backlogs: BacklogBudget,
        pace: Pace | None = None,
    ) -> None:
        """Create the connection.

        Args:
            transport: The WebSocket.
            links: The links to the sandboxes.
            limits: The limits announced in `welcome`.
            name: The client's address.
            principal: The client.
            backlogs: The budget for messages waiting to be sent, shared by all clients.
            pace: Limits the client's byte rate. None disables the limit.
        """
        self.connection = Connection(Role.SERVER, limits)
        self.writer = FairWriter(self.connection)
        self.budget = CreditBudget(TOTAL if pace is None else pace.window(TOTAL))
        self._pacer = None if pace is None else Pacer(pace, self._resume_pace)
        self.name = name
        self.principal = principal
        self.role = role_of(principal)
        self._transport = transport
        self._links = links
        self._keystrokes = links.keystrokes
        self._bridges: dict[int, tuple[ChannelBridge, SandboxLink]] = {}
        self._closing: asyncio.Future[ConnectionClose] = asyncio.get_running_loop().create_future()
        self._backlog = Backlog(backlogs, limits.backlog, self._too_much_unread)
        self.closing = False
        self._unsent: deque[str | bytes] = deque()  # rest of an output batch that the transport has not accepted yet
        # Set while a receive or write is in progress. Output produced in the meantime is written afterwards.
        self._busy = False
        self._used: Counter[SandboxLink] = Counter()  # number of this client's open calls, keyed by link
        self.input_waiting = 0  # number of input bytes waiting for runtimes
        self._calls = 0  # number of calls since the connection was opened
        self._reading = True
        self._going_away = False

    async def run(self) -> ConnectionClose:
        """Run until either side closes the connection. Return the reason."""
        loop = asyncio.get_running_loop()
        deadline = loop.call_later(self.connection.limits.hello_timeout, self._no_hello)
        try:
            self._transport.attach(self)
            closing = await self._closing
        finally:
            self._transport.attach(None)
            deadline.cancel()
            self._backlog.close()
            if self._pacer is not None:
                self._pacer.close()
            for bridge, link in list(self._bridges.values()):
                link.close(bridge, cancel=not self._going_away)
            self._bridges.clear()
        await self.send_final_messages(closing)
        return closing

    @property
    def counts(self) -> ConnectionStats:
        return ConnectionStats(self._calls, self._transport.bytes_in, self._transport.bytes_out)

    def close(self, closing: ConnectionClose) -> None:
        """Close the connection. Only the first call has an effect."""
        if not self.closing:
            self.closing = True
            self._closing.set_result(closing)

    def go_away(self, reason: str, retry_after: float) -> None:
        """Close the connection because the gateway is shutting down. Ask the client to reconnect after `retry_after`
        seconds.
        """
        self._going_away = True
        self.connection.goaway(reason, retry_after)
        self.close(ConnectionClose(1012, reason))

    # ---- for bridges

    @property
    def paced(self) -> bool:
        """Whether credit is currently withheld because the client exceeds its byte rate."""
        return self._pacer is not None and self._pacer.blocked

    def flush(self) -> None:
        """Write pending output. While a message is being handled, writing is deferred until the handling is
        complete."""
        if not self._busy:
            self._busy = True
            self._write()
            self._busy = False
            if not self._reading:
                self._update_reading()

    def count_input(self, change: int) -> None:
        self.input_waiting += change
        if change < 0 and not self._reading:
            self._update_reading()

    def release(self, ch: int) -> None:
        self.budget.close(ch)
        if entry := self._bridges.pop(ch, None):
            bridge, link = entry
            self._used[link] -= 1
            if not self._used[link]:
                del self._used[link]
            link.close(bridge)

    # ---- called by the transport

    def receive(self, message: str | bytes) -> None:
        """Handle one message. Never raises; errors close the connection instead."""
        if self.closing:
            return
        self._busy = True
        if self._pacer is not None:
            self._pacer.pace.spend(len(message))
        try:
            if isinstance(message, str):
                self.connection.receive_text(message)
            else:
                self._keystrokes.note(len(message))
                self.connection.receive_data(message)
            for event in self.connection.events():
                self._handle(event)
        except RemoteProtocolError as error:
            self.close(ConnectionClose(error.close_code, error.code))
        except Exception:
            self._fail()
        else:
            self._write()
            self._update_reading()
        finally:
            self._busy = False

    def lost(self) -> None:
        """Handle a lost connection."""
        self.close(ConnectionClose(None, "disconnected"))

    def resume_writing(self) -> None:
        self.flush()

    # ---- reading

    def _no_hello(self) -> None:
        if not self.connection.ready:
            self.close(
                ConnectionClose(
                    4408, "hello_timeout", HawseError("hello_timeout", "the client sent no `hello` in time")
                )
            )

    def _update_reading(self) -> None:
        """Pause reading while too much input or output is waiting, and resume reading afterwards."""
        room = self.input_waiting <= INPUT_HIGH and not self._backlog.exceeded and not self._congested()
        if self._pacer is not None and self._pacer.overdrawn:
            room = False
        if room is not self._reading and not self.closing:
            self._reading = room
            if room:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _congested(self) -> bool:
        for link in self._used:
            if link.congested:
                link.when_drained(self._update_reading)
                return True
        return False

    def _resume_pace(self) -> None:
        """Grant the credit that was withheld to slow the client down."""
        for bridge, _ in list(self._bridges.values()):
            bridge.grant()
            bridge.grant_input()
        self.flush()
        if not self._reading:
            self._update_reading()

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
        with bridge.context.entered():
            link.open(bridge)

    # ---- writing

    def _write(self) -> None:
        """Write output as long as the transport accepts more. Close the connection if the client reads too slowly."""
        progress = False
        try:
            while (self._unsent or not self.writer.idle) and self._transport.has_room and not self.closing:
                if not self._unsent:
                    self._unsent.extend(self.writer.take(self._keystrokes.portion(BATCH)))
                    if not self._unsent:
                        break
                message = self._unsent.popleft()
                self._transport.write(message)
                if self._pacer is not None:
                    self._pacer.pace.spend(len(message))
                progress = True
        except Exception:
            self._fail()
        if not self.closing and not self._backlog.update(self.connection.pending, progress=progress):
            self._too_much_unread()

    def _too_much_unread(self) -> None:
        self.connection.data_to_send()
        self._unsent.clear()
        limit = self.connection.limits.backlog
        error = HawseError("backlog", f"more than {limit} bytes wait because the client does not read")
        self.close(ConnectionClose(4429, "backlog", error))

    def _fail(self) -> None:
        log.exception("! %s", self.name, extra={"peer": self.name, "role": self.role})
        self.close(ConnectionClose(1011, "internal", HawseError("internal")))

    async def send_final_messages(self, closing: ConnectionClose) -> None:
        """Send the final messages, unless the client has disconnected."""
        if closing.code is None:
            return
        if closing.error is not None:
            self.connection.send_connection_error(closing.error)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                # Data already taken from the queues goes first, because a result must not overtake the output of its
                # call.
                for message in (*self._unsent, *self.connection.data_to_send()):
                    await self._transport.drain()
                    self._transport.write(message)
                await self._transport.drain()
                await self._transport.close(closing.code, closing.reason)
        except OSError:  # includes TimeoutError: the client isn't reading or has disconnected
            pass
