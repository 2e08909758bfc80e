"""The complete output between two offsets, over lost connections and within its limit."""

import asyncio

import pytest

from hawse.api.people import ViewerProfile
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.output_range import OutputRange
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryConnection
from tests.support.examples import OPENED


class RangeReader:
    def __init__(self, *, since: int = 100, limit: int = 1000) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        self.printed = OutputRange("local", "t", "i", since=since, viewer=ViewerProfile(key="k"), limit=limit)
        self.connection = MemoryConnection(self.calls)
        self.calls.submit(self.printed)
        self.connection.pump()

    def opened(self, start: int, start_at: str = "resume") -> None:
        value = OPENED | {"start_at": start_at, "from": start}
        self.connection.event("opened", value)

    def output(self, offset: int, data: bytes) -> None:
        self.connection.data(Kind.OUTPUT, offset, data)


async def test_it_waits_for_the_last_byte() -> None:
    reader = RangeReader()
    assert reader.connection.params == {
        "id": "t",
        "instance": "i",
        "lossless": True,
        "read_only": True,
        "viewer": {"key": "k"},
        "since": 100,
    }
    reader.opened(100)
    reader.output(100, b"abc")
    asyncio.get_running_loop().call_soon(reader.output, 103, b"def")  # runs when `read` waits
    assert await reader.printed.read(101, 105) == (b"bcde", 0)
    assert await reader.printed.read(100, 101) == (b"a", 0)


async def test_a_repeat_continues_at_the_next_byte() -> None:
    reader = RangeReader()
    reader.opened(100)
    reader.output(100, b"abc")
    reader.calls.disconnected()
    reader.connection = MemoryConnection(reader.calls)
    assert reader.connection.params["since"] == 103
    reader.opened(103)
    reader.output(103, b"def")
    assert await reader.printed.read(100, 106) == (b"abcdef", 0)


async def test_of_too_much_the_last_is_kept_and_the_rest_is_counted() -> None:
    reader = RangeReader(limit=10)
    reader.opened(100)
    for n in range(100):
        reader.output(100 + n * 5, b"%05d" % n)
    assert await reader.printed.read(100, 600) == (b"0009800099", 490)
    assert reader.printed.kept <= 20


async def test_output_that_is_no_longer_kept_counts_as_missing() -> None:
    reader = RangeReader()
    reader.opened(5000, "snapshot")
    reader.connection.data(Kind.SCREEN, 0, b"the screen")
    reader.output(5000, b"rest")
    assert await reader.printed.read(100, 5004) == (b"rest", 4900)
    assert await reader.printed.read(100, 200) == (b"", 100)
    reader.connection.event("reseed", {"from": 6000, "screen": 3, "cols": 80, "rows": 24})
    reader.connection.data(Kind.SCREEN, 0, b"new")
    reader.output(6000, b"more")
    assert await reader.printed.read(5000, 6004) == (b"more", 1000)


async def test_the_channels_error_is_raised() -> None:
    reader = RangeReader()
    reader.opened(100)
    reader.connection.error(HawseError("not_found", "gone"))
    with pytest.raises(HawseError, match="not_found"):
        await reader.printed.read(100, 200)


async def test_the_end_of_the_terminal_ends_it() -> None:
    reader = RangeReader()
    reader.opened(100)
    reader.output(100, b"abc")
    reader.connection.result({"exit": {"code": 0}, "offset": 103})
    assert await reader.printed.read(100, 103) == (b"abc", 0)
