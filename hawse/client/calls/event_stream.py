"""A call whose events and bytes are read in order. The call is not resumed if the connection is lost."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from hawse.api import Params
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.wire import Data, Event

LANE = "items"


class EventStreamCall(ClientCall):
    """A call to a stream method. `done` resolves to its result."""

    def __init__(self, params: Params[Any], *, sandbox: str, ignored: Iterable[type[Any]] = (), window: int) -> None:
        """Prepare a call.

        Args:
            params: The method's parameters.
            sandbox: The sandbox that the call is for.
            ignored: The types of events to ignore.
            window: Number of bytes the server can send before the client reads them.
        """
        super().__init__(params, sandbox=sandbox, repeats=False)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._ignored = tuple(ignored)

    def receive_event(self, event: Event) -> None:
        value = self.decode(event)
        if value is None or isinstance(value, self._ignored):
            self.spend(event_cost(event))
        else:
            self.receive_buffer.put(LANE, value, event_cost(event))

    def receive_data(self, data: Data) -> None:
        self.receive_buffer.put_bytes(LANE, data.offset, data.payload)


async def iterate(calls: CallTable, call: EventStreamCall) -> AsyncIterator[Any]:
    """Open the call and yield its events' values, and its bytes as `bytes`. Leaving the loop early cancels the call."""

    async def step() -> Any:
        _, item = await call.receive_buffer.get(LANE)
        return bytes(item.data) if isinstance(item, BufferedChunk) else item

    calls.submit(call)
    try:
        async for item in OutputIterator(call.receive_buffer, step):
            yield item
    finally:
        calls.abandon(call)
