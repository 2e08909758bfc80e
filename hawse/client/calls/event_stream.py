"""A call whose events and bytes are read in order to its end. It is not resumed: see `ClientCall.repeats`."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.decode import parse
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.wire import Data, Event

LANE = "items"


class EventStreamCall(ClientCall):
    """What is not read stops the server from sending more than `window` bytes."""

    def __init__(
        self,
        method: str,
        params: dict[str, Any],
        sandbox: str,
        shapes: Mapping[str, type[Any]],
        result: type[Any],
        *,
        window: int,
    ) -> None:
        """`shapes`: the events that are of interest, by name; `result` is what `done` becomes."""
        super().__init__(method, params, sandbox=sandbox, repeats=False)
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._shapes = shapes
        self._result = result

    def receive_event(self, event: Event) -> None:
        shape = self._shapes.get(event.name)
        if shape is None:
            self.spend(event_cost(event))
        else:
            self.inbox.put(LANE, parse(event.value, shape), event_cost(event))

    def receive_data(self, data: Data) -> None:
        self.inbox.put_bytes(LANE, data.offset, data.payload)

    def finished(self, value: msgspec.Raw) -> Any:
        return parse(value, self._result)


async def iterate(calls: CallTable, call: EventStreamCall) -> AsyncIterator[Any]:
    """Make the call; yield its events as their shapes, its bytes as bytes. Left early, the server is told to stop."""

    async def step() -> Any:
        _, item = await call.inbox.get(LANE)
        return bytes(item.data) if isinstance(item, BufferedChunk) else item

    calls.submit(call)
    try:
        async for item in OutputIterator(call.inbox, step):
            yield item
    finally:
        calls.abandon(call)
