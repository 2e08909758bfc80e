"""Output that is read again: one stream, from one offset to another."""

import asyncio

import pytest

from hawse.api.processes import ProcessAttach
from hawse.client.base.errors import BusyError, TruncatedError
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import DiscardedRange
from hawse.client.process.reread import Reread
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryConnection


class Reading:
    def __init__(self) -> None:
        self.calls = CallTable(Options())
        self.connection = MemoryConnection(self.calls)
        process = ProcessAttach(id="p", instance="i")
        part = DiscardedRange(10, 16, 6)
        self.reread = Reread(self.calls, process, sandbox="local", stream="stderr", part=part, window=100)

    def opened(self, stderr: int) -> None:
        start = {"stdout": 0, "stderr": stderr}
        self.connection.event("opened", {"id": "p", "instance": "i", "pid": 7, "from": start})


async def test_only_the_part_of_the_stream_is_read() -> None:
    at = Reading()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(at.reread.read())
        await at.connection.until_called()
        assert at.connection.params["since"] == {"stdout": 0, "stderr": 10}
        with pytest.raises(BusyError):
            await at.reread.read()
        at.opened(10)
        at.connection.data(Kind.OUTPUT, 0, b"not asked for")
        at.connection.data(Kind.STDERR, 10, b"0123456789")
    assert reading.result() == b"012345"
    assert await at.reread.read() == b""
    at.reread.close()
    assert len(at.calls) == 0


async def test_bytes_that_are_no_longer_kept_are_an_error_once() -> None:
    at = Reading()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(error_of(at.reread))
        await at.connection.until_called()
        at.opened(14)
        at.connection.data(Kind.STDERR, 14, b"ab")
    assert reading.result() == 4
    assert await at.reread.read() == b"ab"


async def test_a_process_that_is_no_longer_kept_is_an_error_once() -> None:
    at = Reading()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(error_of(at.reread))
        await at.connection.until_called()
        at.connection.error(HawseError("not_found"))
    assert reading.result() == 6
    assert await at.reread.read() == b""


async def error_of(reread: Reread) -> int:
    with pytest.raises(TruncatedError) as caught:
        await reread.read()
    return caught.value.missing
