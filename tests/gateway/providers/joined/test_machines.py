import asyncio

import pytest

from hawse.wire import HawseError
from hawse.wire.join import Leave, encode_join
from hawse_gateway.providers.joined import machines as module
from hawse_gateway.providers.joined.machines import Machines
from tests.support.joining import FakeSocket, machine


class Link(asyncio.Protocol):
    """A link that only waits."""

    def __init__(self) -> None:
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data


async def test_a_link_waits_for_a_machine_that_runs_and_each_machine_carries_one() -> None:
    machines, socket = Machines(), FakeSocket()
    first, second = (asyncio.ensure_future(machines.connect("unit", Link)) for _ in range(2))
    one = machine(socket, running=False)
    machines.add(one)
    await asyncio.sleep(0)
    assert not one.free
    one.running = True
    machines.notify()
    link = await first
    one.receive(b"bytes")
    assert link.received == b"bytes"
    assert not second.done()
    machines.add(machine())  # the machine has connected again
    assert await second is not link
    assert one.ended.is_set()


async def test_another_machine_is_refused_while_one_is_connected() -> None:
    machines, one = Machines(), machine()
    machines.add(one)
    with pytest.raises(HawseError, match="conflict"):
        machines.add(machine(runtime="f" * 16))
    assert machines.get("unit") is one
    assert machines.remove(one)
    assert not machines.remove(one)
    machines.add(machine(runtime="f" * 16))


async def test_connections_and_repeated_ones_are_counted() -> None:
    machines = Machines()
    for _ in range(3):
        one = machine()
        machines.add(one)
        assert machines.remove(one)
    assert (machines.connections, machines.reconnections) == (3, 2)
    machines.add(machine(runtime="f" * 16))  # another process of the same sandbox
    assert (machines.connections, machines.reconnections) == (4, 2)
    machines.forget("unit")
    machines.remove(machines.all()[0])
    machines.add(machine(runtime="f" * 16))
    assert (machines.connections, machines.reconnections) == (5, 2)


@pytest.mark.parametrize("message", [b"early", "nonsense", '{"type":"join","runtime":"0123456789abcdef"}'])
async def test_a_violation_of_the_protocol_ends_the_machine(message: str | bytes) -> None:
    one = machine()
    one.receive(message)
    assert one.ended.is_set()
    assert one.problem is not None
    one.receive(b"ignored")


async def test_a_machine_asked_to_quit_confirms_it() -> None:
    machines, socket = Machines(), FakeSocket()
    one = machine(socket)
    machines.add(one)
    quitting = asyncio.ensure_future(machines.quit("unit", "deleted"))
    await asyncio.sleep(0)
    assert socket.texts() == [{"type": "quit", "reason": "deleted"}]
    assert not quitting.done()
    one.receive(encode_join(Leave(reason="bye")))
    await quitting
    assert one.left == "bye"


async def test_a_machine_that_does_not_answer_counts_as_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIT_TIMEOUT", 0.01)
    machines, one = Machines(), machine()
    machines.add(one)
    await machines.quit("unit", "stopped")
    assert one.ended.is_set()
    await machines.quit("unknown", "stopped")
