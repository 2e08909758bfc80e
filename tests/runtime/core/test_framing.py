"""Length-prefixed messages on a byte stream."""

import pytest
from hypothesis import given, strategies as st

from hawse_runtime.core.framing import LENGTH, FrameDecoder, ProtocolError, frame

LIMIT = 99


@given(st.lists(st.binary(min_size=1, max_size=LIMIT)), st.data())
def test_messages_arrive_however_the_bytes_are_split(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(frame, bodies))
    decoder = FrameDecoder(LIMIT)
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:size])
        stream = stream[size:]
    assert found == bodies
    assert not decoder.pending


def test_a_frame_joins_the_parts_of_its_body() -> None:
    assert frame(b"ab", memoryview(b"c")) == b"\0\0\0\3abc"


def test_messages_that_were_not_consumed_are_kept() -> None:
    decoder = FrameDecoder(LIMIT)
    first = decoder.feed(frame(b"1") + frame(b"2") + frame(b"3") + LENGTH.pack(9))
    assert next(first) == b"1"
    first.close()
    assert decoder.pending
    assert list(decoder.feed(b"")) == [b"2", b"3"]
    assert not decoder.pending


@pytest.mark.parametrize("size", [0, LIMIT + 1])
def test_a_message_of_an_invalid_size_is_refused(size: int) -> None:
    decoder = FrameDecoder(LIMIT)
    with pytest.raises(ProtocolError, match=f"message of {size} bytes"):
        list(decoder.feed(LENGTH.pack(size) + b"x"))
