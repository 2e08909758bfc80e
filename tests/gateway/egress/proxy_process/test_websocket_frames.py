"""Secrets in the frames of a WebSocket."""

import itertools
import re

import pytest
from hypothesis import given, strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, Protocol

from hawse_gateway.egress.proxy_process.websocket_frames import MaskedFrames

SECRET = b"s3cret-value"
HIDDEN = b"*" * len(SECRET)


def frame(payload: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=False)


def read(data: bytes) -> list[Frame]:
    program = Protocol(CLIENT)
    program.receive_data(data)
    assert program.parser_exc is None
    return [event for event in program.events_received() if isinstance(event, Frame)]


def messages(frames: list[Frame]) -> list[bytes]:
    found: list[bytes] = []
    for each in frames:
        if each.opcode in (Opcode.TEXT, Opcode.BINARY):
            found.append(b"")
        if each.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            found[-1] += bytes(each.data)
    return found


PIECES = st.one_of(st.just(SECRET), st.sampled_from([SECRET[:5], SECRET[5:]]), st.binary(max_size=300))


@given(st.lists(st.lists(PIECES, min_size=1, max_size=5), max_size=5), st.lists(st.integers(0, 4000), max_size=20))
def test_messages_stay_the_same_but_for_the_secret_wherever_they_are_cut(
    sent: list[list[bytes]], cuts: list[int]
) -> None:
    data = b""
    for pieces in sent:
        for number, piece in enumerate(pieces):
            data += frame(piece, Opcode.CONT if number else Opcode.BINARY, fin=number == len(pieces) - 1)
            data += frame(b"are you there", Opcode.PING)
    edges = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    masked = MaskedFrames([SECRET])
    received = read(b"".join(masked.feed(data[start:end]) for start, end in itertools.pairwise(edges)))
    assert messages(received) == [b"".join(pieces).replace(SECRET, HIDDEN) for pieces in sent]
    assert sum(each.opcode is Opcode.PING for each in received) == sum(len(pieces) for pieces in sent)


def test_a_complete_message_is_passed_on_at_once_in_one_frame() -> None:
    masked = MaskedFrames([SECRET])
    for payload in (b"", b"s3cr", b"x" * 70_000):
        [passed] = read(masked.feed(frame(payload)))
        assert (passed.fin, len(passed.data)) == (True, len(payload))


def test_the_start_of_a_secret_waits_for_the_rest_of_the_message() -> None:
    masked = MaskedFrames([SECRET])
    data = frame(b"the s3cret-", fin=False) + frame(b"value.", Opcode.CONT)
    assert messages(read(masked.feed(data[:9]))) == [b"the "]
    assert re.sub(rb"[^*.]", b"", masked.feed(data[9:])) == HIDDEN + b"."


def test_control_frames_are_searched_as_well() -> None:
    masked = MaskedFrames([SECRET])
    [ping] = read(masked.feed(frame(SECRET, Opcode.PING)))
    assert ping.data == HIDDEN


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1\x01x",  # RSV1: compressed
        b"\x81\x81\0\0\0\0x",  # masked
        frame(b"x", Opcode.CONT),
        frame(b"x", fin=False) + frame(b"y"),
        b"\x09\x01x",  # a control frame in pieces
        b"\x89\x7e\x00\x7ex",  # a control frame that is too long
    ],
)
def test_frames_that_a_server_may_not_send_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="frame"):
        MaskedFrames([SECRET]).feed(data)
