import asyncio

import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.base import MachineAddress, SandboxSpec
from hawse_gateway.providers.joined.provider import GRACE, JoinedProvider
from tests.support.joining import RUNTIME, FakeSocket, machine


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def silent(_: object) -> None:
    """Report nothing."""


async def test_a_unit_starts_when_its_machine_is_connected() -> None:
    provider = JoinedProvider()
    with pytest.raises(HawseError, match="unavailable: the machine is not connected"):
        await provider.start("unit", SandboxSpec(), "f" * 16, silent)
    provider.machines.add(machine())
    endpoint = await provider.start("unit", SandboxSpec(), "f" * 16, silent)
    assert (endpoint.address, endpoint.runtime) == (MachineAddress("unit"), RUNTIME)
    assert [one.runtime for one in await provider.discover()] == [RUNTIME]


async def test_a_machine_that_was_disconnected_counts_as_running_for_a_while() -> None:
    time = Time()
    provider = JoinedProvider(time)
    assert (await provider.observe("unit", RUNTIME)).state == "running"  # the gateway has just begun
    time.now += GRACE
    assert (await provider.observe("unit", RUNTIME)).state == "stopped"
    one = machine()
    provider.machines.add(one)
    assert (await provider.observe("unit", "f" * 16)).runtime == RUNTIME
    provider.machines.remove(one)
    provider.disconnected("unit")
    assert (await provider.observe("unit", RUNTIME)).state == "running"
    time.now += GRACE
    seen = await provider.observe("unit", RUNTIME)
    assert (seen.state, seen.reason) == ("stopped", "the machine is not connected")


async def test_a_stop_ends_the_processes_on_the_machine_and_gives_the_reason() -> None:
    provider, socket = JoinedProvider(), FakeSocket()
    one = machine(socket)
    provider.machines.add(one)
    stopping = asyncio.ensure_future(provider.stop("unit"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert socket.texts() == [{"type": "quit", "reason": "laptop was stopped"}]
    one.lost()
    await stopping


async def test_a_stop_of_an_earlier_start_leaves_the_machine_that_has_connected_since() -> None:
    provider = JoinedProvider()
    for one, runtime in ((machine(running=False), None), (machine(), "f" * 16)):
        provider.machines.add(one)
        await provider.stop("unit", runtime)
        assert not one.ended.is_set()
        provider.machines.remove(one)
    await provider.stop("unit")  # nothing is connected


async def test_a_delete_ends_every_machine() -> None:
    provider, one = JoinedProvider(), machine(running=False)
    provider.machines.add(one)
    deleting = asyncio.ensure_future(provider.delete("unit"))
    await asyncio.sleep(0)
    one.lost()
    await deleting


async def test_it_neither_suspends_nor_limits() -> None:
    provider = JoinedProvider()
    capabilities = await provider.capabilities()
    assert (capabilities.joined, capabilities.limits, capabilities.isolation) == (True, (), "none")
    for work in (provider.pause, provider.resume):
        with pytest.raises(HawseError, match="unavailable"):
            await work("unit")
