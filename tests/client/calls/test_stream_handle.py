"""The base class of the handles of streams."""

import asyncio

import pytest

from hawse.api.ports import PortListResult, PortWatch
from hawse.client import ClientClosedError
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.wire import Cancel, HawseError
from tests.support.client import MemoryConnection


def count_ports(state: PortListResult) -> int:
    return len(state.ports)


def prepare() -> tuple[MemoryConnection, StateStream[int]]:
    calls = CallTable(Options(dice=lambda: 0.0))
    call = StateStreamCall(PortWatch(), sandbox="local", window=1000)
    return MemoryConnection(calls), StateStream(calls, call, count_ports)


async def test_entering_waits_until_the_server_has_accepted_the_call() -> None:
    connection, stream = prepare()
    async with asyncio.TaskGroup() as group:
        entering = group.create_task(stream.__aenter__())
        await connection.until_called()
        assert not entering.done()
        connection.event("ports", {"ports": []})
        assert await entering is stream
    assert await anext(aiter(stream)) == 0


async def test_entering_raises_the_error_of_the_call() -> None:
    connection, stream = prepare()

    async def refuse() -> None:
        await connection.until_called()
        connection.error(HawseError("limit_exceeded", "too many"))

    async with asyncio.TaskGroup() as group:
        group.create_task(refuse())
        with pytest.raises(HawseError, match="too many"):
            await stream.__aenter__()


async def test_leaving_cancels_the_call_and_ends_iterators() -> None:
    connection, stream = prepare()
    async with asyncio.TaskGroup() as group:
        entering = group.create_task(stream.__aenter__())
        await connection.until_called()
        connection.event("ports", {"ports": []})
        await entering
    states = aiter(stream)
    assert await anext(states) == 0
    await stream.__aexit__(None, None, None)
    assert len(connection.of(Cancel)) == 1
    with pytest.raises(ClientClosedError, match="the handle was closed"):
        await anext(states)
