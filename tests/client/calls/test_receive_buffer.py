"""The receive buffer: in order, bounded by credit; what is discarded on request is reported."""

import asyncio

import pytest
from hypothesis import given, strategies as st

from hawse.client.base.errors import BusyError, ClientClosedError
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange, ReceiveBuffer
from hawse.wire import HawseError

WINDOW = 100


def make() -> tuple[ReceiveBuffer, list[int]]:
    grants: list[int] = []
    return ReceiveBuffer(WINDOW, grants.append), grants


async def take(buffer: ReceiveBuffer, lane: str | None = None) -> object:
    _, item = await buffer.get(lane)
    return bytes(item.data) if isinstance(item, BufferedChunk) else item


async def test_bytes_that_follow_each_other_are_joined_and_items_stay_between_them() -> None:
    buffer, _ = make()
    buffer.put_bytes("a", 0, b"one ")
    buffer.put_bytes("a", 4, b"two")
    buffer.put("a", "resized", 5)
    buffer.put_bytes("a", 7, b"three")
    assert [await take(buffer) for _ in range(3)] == [b"one two", "resized", b"three"]


async def test_lanes_are_read_together_in_the_order_of_arrival() -> None:
    buffer, _ = make()
    for lane, data in [("out", b"1"), ("err", b"2"), ("out", b"3")]:
        buffer.put_bytes(lane, 0, data)
    assert [await take(buffer) for _ in range(3)] == [b"1", b"2", b"3"]


async def test_lanes_are_read_apart_by_two_tasks() -> None:
    buffer, _ = make()
    async with asyncio.TaskGroup() as group:
        out, err = group.create_task(take(buffer, "out")), group.create_task(take(buffer, "err"))
        loop = asyncio.get_running_loop()
        loop.call_soon(buffer.put_bytes, "err", 0, b"2")  # runs after the two tasks have started
        loop.call_soon(buffer.put_bytes, "out", 0, b"1")
    assert (out.result(), err.result()) == (b"1", b"2")


async def test_credit_is_granted_when_bytes_are_taken_and_in_quarters_of_the_window() -> None:
    buffer, grants = make()
    for number in range(10):
        buffer.put("a", number, 10)
    assert grants == []
    for _ in range(10):
        await take(buffer)
    assert grants == [30, 30, 30]


async def test_what_needs_no_reader_is_granted_in_quarters_as_well() -> None:
    buffer, grants = make()
    buffer.spend(24)
    assert grants == []
    buffer.spend(1)
    assert grants == [25]


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), max_size=60))
def test_lost_connections_never_buffer_more_than_the_window(steps: list[tuple[int, bool, bool]]) -> None:
    """A server that uses up each window at once, a reader who comes now and then, lines that come and go."""

    async def run() -> None:
        open_window = 0

        def grant(size: int) -> None:
            nonlocal open_window
            open_window += size

        buffer = ReceiveBuffer(WINDOW, grant)
        open_window, offset, lying = buffer.window(), 0, 0
        for size, reads, reconnects in steps:
            sent = min(size, open_window)
            open_window -= sent
            buffer.put_bytes("a", offset, b"x" * sent)
            offset += sent
            lying += sent
            if reads and lying:
                lying -= len(await take(buffer))  # type: ignore[arg-type]
            if reconnects:
                open_window = buffer.window()
            assert lying + open_window <= WINDOW + len(steps)  # at least 1 for each new channel

    asyncio.run(run())


async def test_the_end_comes_after_what_is_left() -> None:
    buffer, _ = make()
    buffer.put_bytes("a", 0, b"last")
    buffer.finish(None)
    assert await take(buffer) == b"last"
    for _ in range(2):
        with pytest.raises(StopAsyncIteration):
            await buffer.get()


async def test_an_error_comes_after_what_is_left_and_the_first_one_counts() -> None:
    buffer, _ = make()
    buffer.put_bytes("a", 0, b"last")
    buffer.finish(HawseError("stale_handle"))
    buffer.finish(ClientClosedError())
    assert await take(buffer) == b"last"
    for _ in range(2):
        with pytest.raises(HawseError, match="stale_handle"):
            await buffer.get()


async def test_a_waiting_reader_gets_the_end() -> None:
    buffer, _ = make()
    asyncio.get_running_loop().call_soon(buffer.put, "a", "item")  # runs when `take` waits
    assert await take(buffer) == "item"


async def test_two_readers_of_one_lane_are_one_too_many() -> None:
    buffer, _ = make()

    async def second_reader() -> None:
        with pytest.raises(BusyError):
            await buffer.get("a")
        buffer.put("a", 1)

    async with asyncio.TaskGroup() as group:  # tasks start in the order of their creation
        waiting = group.create_task(take(buffer, "a"))
        group.create_task(second_reader())
    assert waiting.result() == 1


async def test_a_cancelled_reader_makes_room_for_the_next() -> None:
    buffer, _ = make()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await take(buffer)
    buffer.put("a", 1)
    assert await take(buffer) == 1


async def test_waiting_for_the_end_discards_unread_output() -> None:
    buffer, grants = make()
    with buffer.without_readers():
        for number in range(50):
            buffer.put("a", number, 10)
    assert sum(grants) >= 500 - WINDOW
    assert await buffer.get() == ("a", DiscardedRange(0, 0, 450))
    assert [await take(buffer) for _ in range(5)] == [45, 46, 47, 48, 49]


async def test_nothing_is_discarded_while_a_reader_exists() -> None:
    buffer, _ = make()
    buffer.register()
    with buffer.without_readers():
        buffer.put("a", 1, 90)
        assert buffer.window() == WINDOW - 90
        buffer.unregister()
        assert buffer.window() == WINDOW  # now it was
    buffer.finish(None)
    assert await buffer.get() == ("a", DiscardedRange(0, 0, 90))  # although nothing follows


async def test_the_range_of_discarded_bytes_is_that_of_all_of_them() -> None:
    buffer, _ = make()
    with buffer.without_readers():
        for number in range(20):
            buffer.put_bytes("a", 1000 + number * 10, b"0123456789")
            buffer.put("b", "an item", 5)
    lane, discarded = await buffer.get("a")
    assert isinstance(discarded, DiscardedRange)
    assert (lane, discarded.start) == ("a", 1000)
    _, item = await buffer.get("a")
    assert isinstance(item, BufferedChunk)
    assert item.offset == discarded.end


async def test_what_is_superseded_goes_with_all_after_it_and_frees_its_credit() -> None:
    buffer, _ = make()
    buffer.put_bytes("a", 0, b"0123456789")
    buffer.put("a", "snapshot")
    buffer.put_bytes("a", 50, b"0123456789")
    buffer.supersede("a", lambda item: item == "snapshot")
    assert buffer.window() == WINDOW - 10
    buffer.put("a", "newer")
    assert [await take(buffer), await take(buffer)] == [b"0123456789", "newer"]


async def test_only_the_tail_is_dropped_as_long_as_it_is_obsolete() -> None:
    buffer, _ = make()
    for item in ("live", "x", "attached", "live"):
        buffer.put("a", item, 1)
    buffer.drop_tail("a", lambda item: item in ("attached", "live"))
    buffer.drop_tail("none", lambda item: True)
    buffer.finish(None)
    assert [await take(buffer), await take(buffer)] == ["live", "x"]
    assert buffer.window() == WINDOW
