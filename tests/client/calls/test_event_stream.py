"""A call that is read to its end: events and bytes in order, errors where they belong, nothing left behind."""

import asyncio

import msgspec
import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryLine


class Numbers(msgspec.Struct):
    numbers: list[int]


class Done(msgspec.Struct):
    count: int


def made() -> tuple[CallTable, EventStreamCall]:
    calls = CallTable(Options())
    return calls, EventStreamCall("m", {"a": 1}, "local", {"numbers": Numbers}, Done, window=1000)


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
        await asyncio.sleep(0)
        line = MemoryLine(calls)
        line.event("opened", {})
        line.event("numbers", {"numbers": [1]})
        line.data(Kind.OUTPUT, 0, b"abc")
        line.event("numbers", {"numbers": [2]})
        line.result({"count": 2})
    assert seen == [Numbers([1]), b"abc", Numbers([2])]
    assert call.done.result() == Done(2)


async def test_an_error_comes_after_what_was_sent_before_it() -> None:
    calls, call = made()
    items = iterate(calls, call)
    first = asyncio.get_running_loop().create_task(next_of(items))
    await asyncio.sleep(0)
    line = MemoryLine(calls)
    line.event("numbers", {"numbers": [1]})
    line.error(HawseError("not_found"))
    assert await first == Numbers([1])
    with pytest.raises(HawseError, match="not_found"):
        await anext(items)
    assert len(calls) == 0


async def test_a_lost_line_is_interrupted_and_not_begun_again() -> None:
    calls, call = made()
    items = iterate(calls, call)
    first = asyncio.get_running_loop().create_task(next_of(items))
    await asyncio.sleep(0)
    MemoryLine(calls)
    calls.line_down()
    with pytest.raises(HawseError, match="interrupted"):
        await first
    assert len(calls) == 0
