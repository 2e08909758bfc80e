"""A call that is read to its end: events, bytes and errors in order."""

import asyncio

import pytest

from hawse.api.processes import ProcessAttach, ProcessAttachResult, ProcessOpened, StreamTruncated
from hawse.api.types import Exit
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryConnection

OPENED = {"id": "p", "instance": "i", "pid": 7}
FIRST, SECOND = {"stream": "stdout", "from": 1}, {"stream": "stdout", "from": 2}


def made() -> tuple[CallTable, EventStreamCall]:
    calls = CallTable(Options())
    call = EventStreamCall(ProcessAttach(id="p"), sandbox="local", ignored=[ProcessOpened], window=1000)
    return calls, call


def truncated(start: int) -> StreamTruncated:
    return StreamTruncated(stream="stdout", start=start)


async def next_of(items):
    return await anext(items)


async def test_events_and_bytes_come_in_order() -> None:
    calls, call = made()
    seen = []

    async def read() -> None:
        async for item in iterate(calls, call):
            seen.append(item)

    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        connection = MemoryConnection(calls)
        await connection.until_called()
        connection.event("opened", OPENED)
        connection.event("unknown", {})
        connection.event("truncated", FIRST)
        connection.data(Kind.OUTPUT, 0, b"abc")
        connection.event("truncated", SECOND)
        connection.result({"exit": {"code": 0}, "stdout": 3, "stderr": 0})
    assert seen == [truncated(1), b"abc", truncated(2)]
    assert call.done.result() == ProcessAttachResult(exit=Exit(0), stdout=3, stderr=0)


async def test_an_error_comes_after_what_was_sent_before_it() -> None:
    calls, call = made()
    items = iterate(calls, call)
    first = asyncio.get_running_loop().create_task(next_of(items))
    connection = MemoryConnection(calls)
    await connection.until_called()
    connection.event("truncated", FIRST)
    connection.error(HawseError("not_found"))
    assert await first == truncated(1)
    with pytest.raises(HawseError, match="not_found"):
        await anext(items)
    assert len(calls) == 0


async def test_a_lost_connection_is_interrupted_and_not_repeated() -> None:
    calls, call = made()
    items = iterate(calls, call)
    first = asyncio.get_running_loop().create_task(next_of(items))
    await MemoryConnection(calls).until_called()
    calls.disconnected()
    with pytest.raises(HawseError, match="interrupted"):
        await first
    assert len(calls) == 0
