"""Data frames: 13 bytes and a payload."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from hawse.wire import Data, Kind, Limits, RemoteProtocolError
from hawse.wire.frames import (
    HEADER_SIZE,
    OFFSET_MAX,
    SHARED,
    SHARED_HEADER,
    SHARED_MAX,
    decode_frame,
    decode_shared,
    encode_frame,
    encode_shared,
)
from hawse.wire.messages import CHANNEL_MAX
from tests.support import wire as kit

PAYLOAD = Limits().payload


@pytest.mark.parametrize("entry", kit.vectors("frames.json", "valid"), ids=kit.called)
def test_a_frame_is_encoded_and_decoded_exactly_as_in_the_vectors(entry: kit.Entry) -> None:
    frame, payload = bytes.fromhex(entry["hex"]), bytes.fromhex(entry["payload"])
    kind, ch, offset = Kind(entry["kind"]), entry["ch"], int(entry["offset"])
    assert kind.name.lower() == entry["kind_name"]
    assert encode_frame(kind, ch, offset, payload) == frame
    assert decode_frame(frame, payload_limit=PAYLOAD) == Data(kind, ch, offset, payload)


@pytest.mark.parametrize("form", [bytes, memoryview])
@pytest.mark.parametrize("entry", kit.vectors("frames.json", "invalid"), ids=kit.called)
def test_an_invalid_frame_is_refused_with_its_codes(entry: kit.Entry, form: Any) -> None:
    frame = bytes.fromhex(entry["hex"]) + bytes(entry.get("payload_length", 0))
    with pytest.raises(RemoteProtocolError) as caught:
        decode_frame(form(frame), payload_limit=PAYLOAD)
    assert (caught.value.code, caught.value.close_code) == (entry["code"], entry["close_code"])


@given(
    st.sampled_from(Kind),
    st.integers(0, CHANNEL_MAX),
    st.integers(0, OFFSET_MAX),
    st.binary(max_size=100),
    st.sampled_from([bytes, memoryview]),
)
def test_a_frame_decodes_to_what_was_encoded(kind: Kind, ch: int, offset: int, payload: bytes, form: Any) -> None:
    frame = encode_frame(kind, ch, offset, form(payload))
    assert len(frame) == HEADER_SIZE + len(payload)
    if offset + len(payload) > OFFSET_MAX:
        with pytest.raises(RemoteProtocolError, match=f"at most {OFFSET_MAX}"):
            decode_frame(form(frame), payload_limit=PAYLOAD)
    else:
        data = decode_frame(form(frame), payload_limit=PAYLOAD)
        assert type(data.kind) is Kind
        assert (data.kind, data.ch, data.offset, data.payload) == (kind, ch, offset, payload)


@given(st.binary(max_size=40))
def test_random_bytes_are_a_frame_or_a_remote_error(frame: bytes) -> None:
    try:
        data = decode_frame(frame, payload_limit=PAYLOAD)
    except RemoteProtocolError:
        return
    assert encode_frame(data.kind, data.ch, data.offset, data.payload) == frame


def test_a_payload_is_not_copied() -> None:
    frame = bytearray(encode_frame(Kind.OUTPUT, 1, 0, b"abc"))
    data = decode_frame(memoryview(frame), payload_limit=PAYLOAD)
    frame[-1:] = b"d"
    assert bytes(data.payload) == b"abd"


def test_a_payload_of_exactly_the_limit_passes() -> None:
    assert len(decode_frame(encode_frame(1, 1, 0, bytes(PAYLOAD)), payload_limit=PAYLOAD).payload) == PAYLOAD


@given(
    st.sampled_from(Kind),
    st.lists(st.integers(0, CHANNEL_MAX), max_size=20),
    st.integers(0, OFFSET_MAX - 100),
    st.binary(max_size=100),
    st.sampled_from([bytes, memoryview]),
)
def test_a_frame_for_many_channels_decodes_to_one_frame_for_each(
    kind: Kind, chs: list[int], offset: int, payload: bytes, form: Any
) -> None:
    frame = encode_shared(kind, chs, offset, form(payload))
    assert frame[0] == SHARED
    assert list(decode_shared(form(frame), payload_limit=PAYLOAD)) == [Data(kind, ch, offset, payload) for ch in chs]


@pytest.mark.parametrize(
    "frame",
    [
        SHARED_HEADER.pack(SHARED, 1, 2, 0) + bytes(7),  # half of the second channel
        SHARED_HEADER.pack(SHARED, 1, SHARED_MAX + 1, 0) + bytes(4 * (SHARED_MAX + 1)),
        SHARED_HEADER.pack(SHARED, 4, 1, 0) + bytes(4),
        SHARED_HEADER.pack(SHARED, 1, 1, OFFSET_MAX) + bytes(5),
        SHARED_HEADER.pack(SHARED, 1, 1, 0) + bytes(5 + PAYLOAD),
        bytes([SHARED]),
    ],
)
def test_a_frame_for_many_channels_is_checked_as_other_frames(frame: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        list(decode_shared(frame, payload_limit=PAYLOAD))


def test_frames_are_values() -> None:
    one = Data(Kind.OUTPUT, 7, 5, b"abc")
    assert one == Data(Kind.OUTPUT, 7, 5, memoryview(b"abc"))
    assert len({one, Data(Kind.OUTPUT, 7, 5, b"abc"), Data(Kind.OUTPUT, 8, 5, b"abc")}) == 2
    assert one != "abc"
    assert repr(one) == "Data(OUTPUT, ch=7, offset=5, 3 bytes)"  # without its payload: logs contain no output
