"""The messages between the runtime and the kernel host."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from hawse_runtime.code.host_protocol import (
    BUNDLES,
    CONTROL,
    LENGTH,
    MESSAGE_LIMIT,
    STDOUT,
    Decoder,
    Exited,
    Interrupt,
    ProtocolError,
    encode,
    encode_output,
    from_host,
    from_runtime,
    without_lone_surrogates,
)


@given(st.lists(st.tuples(st.integers(STDOUT, BUNDLES), st.integers(0, 2**32 - 1), st.binary(max_size=99))), st.data())
def test_messages_arrive_however_the_bytes_are_split(
    outputs: list[tuple[int, int, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(encode_output(*output) for output in outputs)
    decoder = Decoder()
    found: list[tuple[int, int, bytes]] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:size])
        stream = stream[size:]
    assert found == outputs


def test_messages_that_were_not_asked_for_are_kept() -> None:
    outputs = [(STDOUT, run, b"x") for run in range(3)]
    decoder = Decoder()
    first = decoder.feed(b"".join(encode_output(*output) for output in outputs) + LENGTH.pack(9))
    assert next(first) == outputs[0]
    first.close()
    assert decoder.complete
    assert list(decoder.feed(b"")) == outputs[1:]
    assert not decoder.complete


def test_a_control_message_is_json_with_a_type() -> None:
    ((kind, run, body),) = Decoder().feed(encode(Interrupt(executor=3, run=4)))
    assert (kind, run) == (CONTROL, 0)
    assert from_runtime.decode(body) == Interrupt(executor=3, run=4)
    with pytest.raises(ValueError, match="type"):
        from_host.decode(body)
    assert from_host.decode(b'{"type":"exited","executor":1,"signal":9}') == Exited(executor=1, signal=9)


@pytest.mark.parametrize(
    "data",
    [LENGTH.pack(0), LENGTH.pack(MESSAGE_LIMIT + 1), LENGTH.pack(5) + b"\4\0\0\0\1", LENGTH.pack(3) + b"\1\0\0"],
)
def test_bytes_that_are_not_a_message_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        list(Decoder().feed(data))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"a\ud83d b"', "a\ufffd b"),
        (r'"a\uDE00"', "a\ufffd"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\\\\ud83d"', r"\\ud83d"),  # an escaped backslash, and letters
        (r'"\\\\\ud83d \n\u00e9"', "\\\\\ufffd \n\u00e9"),
        (r'"plain"', "plain"),
    ],
)
def test_half_a_surrogate_pair_is_replaced(text: str, expected: str) -> None:
    assert msgspec.json.decode(without_lone_surrogates(text.encode())) == expected
