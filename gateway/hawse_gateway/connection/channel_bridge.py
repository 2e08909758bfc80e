"""Forwards messages between a client's channel and a link's channel, and rewrites `ch`.

A message that can't be sent immediately waits in a queue. The output queue is limited by the client's credit, and the
input queue by the input window. Payloads are never inspected.
"""

from typing import Final, Protocol

from msgspec.structs import replace

from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    Error,
    Event,
    FairWriter,
    FrameSource,
    HawseError,
    Principal,
    Result,
)
from hawse.wire.limits import EVENT_OVERHEAD
from hawse_gateway.connection.credit_budget import CreditBudget
from hawse_gateway.connection.output_queue import OutputQueue, send_message
from hawse_gateway.core.context import CallContext
from hawse_gateway.upstream.input_queue import InputQueue, send

SECONDS_MIN: Final = 0.001  # minimum timeout passed on to the runtime, in seconds
SECONDS_MAX: Final = 1e9  # maximum age allowed by the wire format, in seconds


class BridgeHost(Protocol):
    """The subset of `ClientConnection`'s interface that a bridge needs."""

    connection: Connection
    writer: FairWriter
    budget: CreditBudget
    principal: Principal  # the client
    name: str  # the client's address

    @property
    def paced(self) -> bool:
        """Whether to withhold credit in both directions."""

    def flush(self) -> None:
        """Write pending output."""

    def count_input(self, change: int) -> None:
        """Add `change`, which can be negative, to the number of bytes waiting for a runtime."""

    def release(self, ch: int) -> None:
        """Drop the state of the closed channel `ch`."""


class BridgeLink(Protocol):
    """The subset of `RuntimeLink`'s interface that a bridge needs."""

    @property
    def connection(self) -> Connection: ...

    @property
    def alone(self) -> float:
        """Seconds since a different runtime last served the sandbox. Negative if unknown."""

    @property
    def writer(self) -> FairWriter: ...

    def attach(self, ch: int, source: FrameSource) -> None: ...

    def wake(self, ch: int) -> None: ...

    def flush(self) -> None: ...


class ChannelBridge:
    """The bridge for one channel. The client's input is held back until `start` connects the bridge to a link."""

    def __init__(self, host: BridgeHost, call: Call) -> None:
        self.ch = call.ch
        self.call = call
        self.principal = host.principal
        self.context = CallContext(host.name, call.trace)
        self.link: BridgeLink | None = None  # set from `start` until the runtime's final message arrives
        self.link_ch = 0
        self.done = False  # whether the final message was received or the client has disconnected
        self._host = host
        self._connection = host.connection  # looked up once, because each frame needs the connection
        self._writer = host.writer
        self._budget = host.budget
        self._input_queue = InputQueue(host.count_input)
        self._output_queue = OutputQueue()
        self._input_credit = 0  # bytes granted by the runtime but not yet passed on to the client

    # ---- the link

    def start(self, link: BridgeLink, waited: float = 0.0) -> int:
        """Send the call on `link`, and return the call's channel there.

        Args:
            link: A link that accepts calls.
            waited: Seconds since the client sent the call.

        Raises:
            HawseError: The link has no free channel, or the call is too large for it.
        """
        call = self.call
        self.link_ch = link.connection.call(
            call.method,
            call.params,
            key=call.key,
            timeout=None if call.timeout is None else max(call.timeout - waited, SECONDS_MIN),
            age=self._age(link, waited),
            trace=str(self.context.trace),
            principal=self.principal,  # the gateway sets the principal, never the client
            window=0 if self._host.paced else self._budget.more(self.ch, self._connection.window(self.ch)),
        )
        self.link = link
        if self._input_queue:
            link.writer.attach(self.link_ch, self._input_queue)
        link.flush()
        return self.link_ch

    def receive_data(self, data: Data) -> None:
        if not data.payload:
            return  # dropped, because empty frames use no credit, so nothing would limit their number
        if not self._output_queue and self._writer.idle:
            self._connection.send_data(self.ch, data.kind, data.offset, data.payload)
            self._sent(len(data.payload))
        else:
            self._output_queue.put_data(data, self._connection.limits.payload)
            self._wake()
        self._host.flush()

    def receive_message(self, message: Event | Result | Error) -> None:
        """Forward an event or the channel's final message to the client."""
        if not isinstance(message, Event):
            self._finish()
        if isinstance(message, Error):
            message = replace(message, request=self.context.request)
        if self._output_queue:
            self._output_queue.put(message)
            self._wake()
        else:
            self._sent(send_message(message, self._connection, self.ch))
        self._host.flush()

    def receive_progress(self, event: Event) -> None:
        """Send an event from the gateway itself, or drop it if the client has too little credit."""
        if self._connection.window(self.ch) > len(event.value) + EVENT_OVERHEAD:
            self.receive_message(event)

    def receive_credit(self, credit: Credit) -> None:
        if self.link is not None:
            self._input_credit += credit.bytes
            self.grant_input()
            self.link.wake(self.link_ch)

    def fail(self, error: HawseError) -> None:
        """End the channel with `error`, after sending the output received so far."""
        self.receive_message(Error.from_exception(error, self.ch))

    # ---- the client

    def send(self, item: Data | End | Cancel) -> None:
        """Forward input, `end` or `cancel` from the client, in order."""
        link = self.link
        if self.done:
            return
        if link is None and isinstance(item, Cancel):
            self.fail(HawseError("cancelled", "the call was cancelled before it was sent to the sandbox"))
        elif link is None:
            self._input_queue.put(item)
        elif not self._input_queue and link.writer.idle and self._fits(item, link):
            send(item, link.connection, self.link_ch)
            link.flush()
        else:
            self._input_queue.put(item)
            link.attach(self.link_ch, self._input_queue)

    def grant(self) -> None:
        """Pass the client's credit on to the runtime, as far as the budget allows."""
        if self.link is not None and not self._host.paced:
            size = self._budget.more(self.ch, self._connection.window(self.ch))
            if size > 0:
                self.link.connection.grant(self.link_ch, size)
                self.link.flush()

    def grant_input(self) -> None:
        """Pass the runtime's credit on to the client, unless the client is being slowed down."""
        if self._input_credit and self.link is not None and not self._host.paced:
            size, self._input_credit = self._input_credit, 0
            self._connection.grant(self.ch, size)
            self._host.flush()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send waiting output to the client. The client's writer calls this for each channel in turn."""
        self._sent(self._output_queue.send(connection, ch, size))
        return bool(self._output_queue)

    def abandon(self) -> None:
        """Cancel the call and drop its remaining output after the client has disconnected."""
        link = self.link
        self._finish()
        self._output_queue.clear()
        if link is not None:
            link.connection.cancel(self.link_ch)
            link.flush()

    # ---- both

    def _age(self, link: BridgeLink, waited: float) -> float | None:
        """Return the age of a retried call, or None if the call can't have reached an earlier runtime."""
        if self.call.age is None:
            return None
        age = self.call.age + waited
        return None if age < link.alone else min(age, SECONDS_MAX)

    def _fits(self, item: Data | End | Cancel, link: BridgeLink) -> bool:
        return not isinstance(item, Data) or len(item.payload) <= link.connection.window(self.link_ch)

    def _finish(self) -> None:
        self.done = True
        self._input_queue.clear()
        if self.link is not None:
            self.link.writer.detach(self.link_ch)
            self.link = None

    def _wake(self) -> None:
        self._writer.attach(self.ch, self)

    def _sent(self, size: int) -> None:
        """Record that `size` bytes were sent to the client, and grant more credit to the runtime."""
        self._budget.sent(self.ch, size)
        if self.ch not in self._connection.channels:
            self._writer.detach(self.ch)
            self._host.release(self.ch)
        else:
            self.grant()  # grants credit that the budget did not allow before
