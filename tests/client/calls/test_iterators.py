"""Iterators register with their buffer as long as they exist."""

import pytest

from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import DiscardedRange, ReceiveBuffer


async def test_it_can_be_left_and_taken_up_again_by_another() -> None:
    buffer = ReceiveBuffer(100, lambda size: None)
    for number in range(4):
        buffer.put("a", number, 1)
    buffer.finish(None)
    first = []
    async for item in OutputIterator(buffer, buffer.get):
        first.append(item)
        break
    assert first == [("a", 0)]
    assert [item async for item in OutputIterator(buffer, buffer.get)] == [("a", 1), ("a", 2), ("a", 3)]


async def test_output_is_safe_while_it_exists_and_only_then() -> None:
    buffer = ReceiveBuffer(100, lambda size: None)
    reader = OutputIterator(buffer, buffer.get)
    with buffer.without_readers():
        buffer.put("a", 0, 90)
        assert await anext(reader) == ("a", 0)
        buffer.put("a", 1, 90)
        del reader
    buffer.finish(None)
    assert await buffer.get() == ("a", DiscardedRange(0, 0, 90))
    with pytest.raises(StopAsyncIteration):
        await buffer.get()
