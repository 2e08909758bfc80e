"""Forward one channel of a client to a channel of a link and back, rewriting `ch`.

A message that cannot be sent at once waits in the channel's queue, which is limited by the client's credit in one
direction and the input window in the other. Payloads are not read.
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

SECONDS_MIN: Final = 0.001  # the minimum timeout passed on when little time is left
SECONDS_MAX: Final = 1e9  # the maximum age in the wire format


class BridgeHost(Protocol):
    """The parts of a client's connection that a bridge needs."""

    connection: Connection
    writer: FairWriter
    budget: CreditBudget
    principal: Principal  # of the client
    name: str  # its address

    @property
    def paced(self) -> bool:
        """Whether no credit is granted now, in either direction."""

    def flush(self) -> None:
        """Write pending output."""

    def count_input(self, change: int) -> None:
        """Record that `change` more (or fewer) bytes wait to be sent to a runtime."""

    def release(self, ch: int) -> None:
        """Drop the state of the closed channel `ch`."""


class BridgeLink(Protocol):
    """The parts of a `RuntimeLink` that a bridge needs."""

    @property
    def connection(self) -> Connection: ...

    @property
    def alone(self) -> float:
        """The seconds since another runtime was in the sandbox; below 0 if unknown."""

    @property
    def writer(self) -> FairWriter: ...

    def attach(self, ch: int, source: FrameSource) -> None: ...

    def wake(self, ch: int) -> None: ...

    def flush(self) -> None: ...


class ChannelBridge:
    """A bridge that `start` connects to a link; until then, the client's input waits."""

    def __init__(self, host: BridgeHost, call: Call) -> None:
        self.ch = call.ch
        self.call = call
        self.principal = host.principal
        self.context = CallContext(host.name, call.trace)
        self.link: BridgeLink | None = None  # from `start` until the final message of the runtime
        self.link_ch = 0
        self.done = False  # the final message has arrived, or the client has disconnected
        self._host = host
        self._connection = host.connection  # used for each frame; attribute access through a protocol is slow
        self._writer = host.writer
        self._budget = host.budget
        self._input_queue = InputQueue(host.count_input)
        self._output_queue = OutputQueue()
        self._input_credit = 0  # bytes granted by the runtime and not yet granted to the client

    # ---- the link

    def start(self, link: BridgeLink, waited: float = 0.0) -> int:
        """Send the call on `link` and return its channel there.

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
            principal=self.principal,  # never the client's value
            window=0 if self._host.paced else self._budget.more(self.ch, self._connection.window(self.ch)),
        )
        self.link = link
        if self._input_queue:
            link.writer.attach(self.link_ch, self._input_queue)
        link.flush()
        return self.link_ch

    def receive_data(self, data: Data) -> None:
        if not data.payload:
            return  # an empty frame costs no credit, so it must not use memory
        if not self._output_queue and self._writer.idle:
            self._connection.send_data(self.ch, data.kind, data.offset, data.payload)
            self._sent(len(data.payload))
        else:
            self._output_queue.put_data(data, self._connection.limits.payload)
            self._wake()
        self._host.flush()

    def receive_message(self, message: Event | Result | Error) -> None:
        """Forward an event, or the final message of the channel."""
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
        """Send an event of the gateway itself, unless the client has granted too little credit for it."""
        if self._connection.window(self.ch) > len(event.value) + EVENT_OVERHEAD:
            self.receive_message(event)

    def receive_credit(self, credit: Credit) -> None:
        if self.link is not None:
            self._input_credit += credit.bytes
            self.grant_input()
            self.link.wake(self.link_ch)

    def fail(self, error: HawseError) -> None:
        """End the channel with `error`, after everything received so far."""
        self.receive_message(Error.from_exception(error, self.ch))

    # ---- the client

    def send(self, item: Data | End | Cancel) -> None:
        """Forward input, `end` or `cancel` from the client, in order."""
        link = self.link
        if self.done:
            return
        if link is None and isinstance(item, Cancel):
            self.fail(HawseError("cancelled", "cancelled before the call was sent to the sandbox"))
        elif link is None:
            self._input_queue.put(item)
        elif not self._input_queue and link.writer.idle and self._fits(item, link):
            send(item, link.connection, self.link_ch)
            link.flush()
        else:
            self._input_queue.put(item)
            link.attach(self.link_ch, self._input_queue)

    def grant(self) -> None:
        """Pass on the client's credit, as far as the budget allows."""
        if self.link is not None and not self._host.paced:
            size = self._budget.more(self.ch, self._connection.window(self.ch))
            if size > 0:
                self.link.connection.grant(self.link_ch, size)
                self.link.flush()

    def grant_input(self) -> None:
        """Pass on the runtime's credit, unless the client has to wait for it."""
        if self._input_credit and self.link is not None and not self._host.paced:
            size, self._input_credit = self._input_credit, 0
            self._connection.grant(self.ch, size)
            self._host.flush()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        """Send data waiting for the client. Called by the client's writer when it is this channel's turn."""
        self._sent(self._output_queue.send(connection, ch, size))
        return bool(self._output_queue)

    def abandon(self) -> None:
        """The client has disconnected: cancel the call and drop its remaining output."""
        link = self.link
        self._finish()
        self._output_queue.clear()
        if link is not None:
            link.connection.cancel(self.link_ch)
            link.flush()

    # ---- both

    def _age(self, link: BridgeLink, waited: float) -> float | None:
        """Return the age of a retry, or None if no other runtime can have run the call."""
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
        """Record that `size` bytes were sent to the client, so more may be granted upstream."""
        self._budget.sent(self.ch, size)
        if self.ch not in self._connection.channels:
            self._writer.detach(self.ch)
            self._host.release(self.ch)
        else:
            self.grant()  # credit that the budget withheld
