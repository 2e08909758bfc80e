"""Messages on a byte stream: any split gives the same messages, and memory is bounded by one message."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from hawse.wire import Limits, RemoteProtocolError, StreamDecoder, encode_stream
from hawse.wire.frames import HEADER_SIZE
from hawse.wire.stream import LENGTH_SIZE

SMALL = Limits(text=64, payload=40)
LIMIT = 64  # the larger of SMALL's text and payload with its header

MESSAGES = st.lists(
    st.text(max_size=10).map(lambda text: "{" + text) | st.binary(max_size=40).map(lambda body: b"\x01" + body),
    max_size=12,
)


def sliced(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(places)]


def decode(decoder: StreamDecoder, chunks: list[bytes]) -> list[str | bytes]:
    found: list[str | bytes] = []
    for chunk in chunks:
        for is_control, message in decoder.feed(chunk):
            found.append(bytes(message).decode() if is_control else bytes(message))
            assert decoder.held == 0  # one that straddled is not kept beside the one it became
        assert decoder.held <= LENGTH_SIZE + LIMIT
    return found


@given(MESSAGES, st.lists(st.integers(0, 500), max_size=20))
def test_any_split_gives_the_same_messages(messages: list[str | bytes], cuts: list[int]) -> None:
    stream = b"".join(encode_stream(messages))
    assert decode(StreamDecoder(SMALL), sliced(stream, cuts)) == messages


@given(MESSAGES)
def test_byte_by_byte_gives_the_same_messages(messages: list[str | bytes]) -> None:
    stream = b"".join(encode_stream(messages))
    assert decode(StreamDecoder(SMALL), [bytes([byte]) for byte in stream]) == messages


def test_a_stream_cut_at_any_two_places_gives_the_same_messages() -> None:
    messages: list[str | bytes] = ["{}", b"\x01abc", "{é}"]
    stream = b"".join(encode_stream(messages))
    for first in range(len(stream) + 1):
        for second in range(first, len(stream) + 1):
            assert decode(StreamDecoder(SMALL), sliced(stream, [first, second])) == messages


def test_each_message_is_preceded_by_its_length_in_bytes() -> None:
    assert encode_stream(["{é}", b"\x01ab"]) == [b"\0\0\0\x04", "{é}".encode(), b"\0\0\0\x03", b"\x01ab"]


@pytest.mark.parametrize("size", [0, LIMIT + 1, 0xFFFFFFFF])
@pytest.mark.parametrize("before", [b"", b"\0\0\0\x02{}"])
@pytest.mark.parametrize("cut", range(5))
def test_an_invalid_length_is_refused_before_anything_is_buffered(size: int, before: bytes, cut: int) -> None:
    decoder = StreamDecoder(SMALL)
    stream = before + size.to_bytes(4, "big") + bytes(1000)
    first, second = stream[: len(before) + cut], stream[len(before) + cut :]
    with pytest.raises(RemoteProtocolError) as caught:
        decode(decoder, [first, second])
    assert (caught.value.code, caught.value.close_code) == ("protocol_error", 1009)
    assert decoder.held <= LENGTH_SIZE


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_random_bytes_are_messages_or_a_remote_error_and_memory_stays_bounded(chunks: list[bytes]) -> None:
    try:
        decode(StreamDecoder(SMALL), [chunk.replace(b"{", b"") for chunk in chunks])
    except RemoteProtocolError:
        pass


def test_the_largest_message_of_each_kind_passes() -> None:
    limits = Limits()
    messages: list[str | bytes] = ["{" + "x" * (limits.text - 1), bytes(HEADER_SIZE + limits.payload)]
    stream = b"".join(encode_stream(messages))
    assert decode_all(StreamDecoder(limits), stream) == [len(message) for message in messages]


def test_one_byte_more_than_the_larger_limit_is_refused() -> None:
    limits = Limits()
    with pytest.raises(RemoteProtocolError):
        decode_all(StreamDecoder(limits), (limits.text + 1).to_bytes(4, "big"))


def decode_all(decoder: StreamDecoder, stream: bytes) -> list[int]:
    return [len(message) for _, message in decoder.feed(stream)]


def test_a_message_within_one_chunk_is_not_copied() -> None:
    chunk = b"".join(encode_stream(["{}", b"\x01abc"]))
    views = [message for _, message in StreamDecoder(SMALL).feed(chunk)]
    assert all(isinstance(view, memoryview) and view.obj is chunk for view in views)
