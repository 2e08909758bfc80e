"""The offset of a stream: repeated bytes are dropped, gaps are errors."""

import pytest
from hypothesis import given, strategies as st

from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.wire import RemoteProtocolError


def test_bytes_that_follow_are_new() -> None:
    cursor = OffsetCursor(10)
    assert bytes(cursor.accept(10, b"abc")) == b"abc"
    assert cursor.offset == 13


def test_a_repeat_is_dropped_wholly_or_in_part() -> None:
    cursor = OffsetCursor(10)
    assert bytes(cursor.accept(5, b"12345")) == b""
    assert bytes(cursor.accept(8, b"12abc")) == b"abc"
    assert cursor.offset == 13


def test_a_gap_is_the_servers_error() -> None:
    cursor = OffsetCursor(10)
    with pytest.raises(RemoteProtocolError):
        cursor.accept(11, b"x")
    assert cursor.offset == 10


@given(st.binary(max_size=200), st.data())
def test_any_resends_without_gaps_give_exactly_the_stream(stream: bytes, data: st.DataObject) -> None:
    cursor, got = OffsetCursor(), b""
    while cursor.offset < len(stream):
        start = data.draw(st.integers(0, cursor.offset))
        stop = data.draw(st.integers(start, len(stream)))
        got += cursor.accept(start, stream[start:stop])
    assert got == stream
