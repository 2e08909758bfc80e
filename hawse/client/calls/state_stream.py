"""A call that receives complete states. A new state replaces one that hasn't been read yet."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from hawse.api import Params
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.calls.stream_handle import StreamHandle
from hawse.wire import Event

LANE = "state"

T = TypeVar("T")


class StateStreamCall(ClientCall):
    """A call whose method sends a state at once and after every change. A repeated call gets the current state."""

    def __init__(self, params: Params[Any], *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._last: Any = None

    def receive_event(self, event: Event) -> None:
        state = self.decode(event)
        if state is None or state == self._last:  # the state is unchanged, for example after a reconnect
            self.spend(event_cost(event))
            return
        self._last = state
        self.receive_buffer.supersede(LANE, lambda item: True)
        self.receive_buffer.put(LANE, state, event_cost(event))
        self.mark_opened()


class StateStream(StreamHandle[StateStreamCall, T]):
    """`async with … as states: async for state in states: …`

    Yields the current state, and the new state after each change. A slow reader skips intermediate states.
    """

    def __init__(self, calls: CallTable, call: StateStreamCall, value: Callable[[Any], T]) -> None:
        """Create a handle; `value` converts an event's value to the item to yield."""
        super().__init__(calls, call)
        self._value = value

    async def _next(self) -> T:
        _, state = await self._call.receive_buffer.get(LANE)
        return self._value(cast(Any, state))
