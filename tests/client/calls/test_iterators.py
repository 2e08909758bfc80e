"""Iterators that say how long they are there."""

import pytest

from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import DiscardedRange, ReceiveBuffer


async def test_it_can_be_left_and_taken_up_again_by_another() -> None:
    inbox = ReceiveBuffer(100, lambda size: None)
    for number in range(4):
        inbox.put("a", number, 1)
    inbox.finish(None)
    first = []
    async for item in OutputIterator(inbox, inbox.get):
        first.append(item)
        break
    assert first == [("a", 0)]
    assert [item async for item in OutputIterator(inbox, inbox.get)] == [("a", 1), ("a", 2), ("a", 3)]


async def test_output_is_safe_while_it_exists_and_only_then() -> None:
    inbox = ReceiveBuffer(100, lambda size: None)
    reader = OutputIterator(inbox, inbox.get)
    with inbox.without_readers():
        inbox.put("a", 0, 90)
        assert await anext(reader) == ("a", 0)
        inbox.put("a", 1, 90)
        del reader
    inbox.finish(None)
    assert await inbox.get() == ("a", DiscardedRange(0, 0, 90))
    with pytest.raises(StopAsyncIteration):
        await inbox.get()
