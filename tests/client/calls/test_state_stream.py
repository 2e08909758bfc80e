"""A stream of states: only the latest unread one is kept."""

from hawse.api.ports import PortListResult, PortWatch
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from tests.support.client import MemoryConnection


class Watched:
    def __init__(self) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        self.connection = MemoryConnection(self.calls)
        call = StateStreamCall(PortWatch(), sandbox="local", window=1000)
        self.stream: StateStream[list[int]] = StateStream(self.calls, call, numbers)
        self.calls.submit(call)
        self.connection.pump()

    def state(self, *ports: int) -> None:
        values = [{"port": port, "addresses": [], "pid": 1, "process": "x"} for port in ports]
        self.connection.event("ports", {"ports": values})


def numbers(state: PortListResult) -> list[int]:
    return [port.port for port in state.ports]


async def test_an_unread_state_is_replaced_by_the_next() -> None:
    watched = Watched()
    watched.state(1)
    watched.state(1, 2)
    states = aiter(watched.stream)
    assert await anext(states) == [1, 2]
    watched.state(2)
    assert await anext(states) == [2]


async def test_the_same_state_after_a_reconnect_is_left_out() -> None:
    watched = Watched()
    watched.state(1)
    states = aiter(watched.stream)
    assert await anext(states) == [1]
    watched.calls.disconnected()
    watched.connection = MemoryConnection(watched.calls)
    watched.state(1)
    watched.connection.event("unknown", {})
    watched.state(3)
    assert await anext(states) == [3]
