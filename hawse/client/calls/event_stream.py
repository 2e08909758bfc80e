"""A call that is read to its end: its events and bytes, one after another. It is not resumed: see `Call.repeats`."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from hawse.client.calls.call import Call, event_cost
from hawse.client.calls.call_table import Calls
from hawse.client.calls.decode import parse
from hawse.client.calls.iterators import Reader
from hawse.client.calls.receive_buffer import Chunk, Inbox
from hawse.wire import Data, Event

LANE = "items"


class ItemsCall(Call):
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
        self.inbox: Inbox = Inbox(window, self.grant)
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


async def iterate(calls: Calls, call: ItemsCall) -> AsyncIterator[Any]:
    """Make the call; yield its events as their shapes, its bytes as bytes. Left early, the server is told to stop."""

    async def step() -> Any:
        _, item = await call.inbox.get(LANE)
        return bytes(item.data) if isinstance(item, Chunk) else item

    calls.submit(call)
    try:
        async for item in Reader(call.inbox, step):
            yield item
    finally:
        calls.abandon(call)
