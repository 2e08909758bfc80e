"""The messages between the runtime and the kernel host."""

import msgspec
import pytest

from hawse_runtime.code.host_protocol import (
    BUNDLES,
    CONTROL,
    STDOUT,
    Exited,
    Interrupt,
    encode,
    encode_output,
    from_host,
    from_runtime,
    split,
    without_lone_surrogates,
)
from hawse_runtime.core.framing import LENGTH, ProtocolError


def test_a_control_message_is_json_with_a_type() -> None:
    kind, run, body = split(encode(Interrupt(executor=3, run=4))[LENGTH.size :])
    assert (kind, run) == (CONTROL, 0)
    assert from_runtime.decode(body) == Interrupt(executor=3, run=4)
    with pytest.raises(ValueError, match="type"):
        from_host.decode(body)
    assert from_host.decode(b'{"type":"exited","executor":1,"signal":9}') == Exited(executor=1, signal=9)


@pytest.mark.parametrize("kind", [STDOUT, BUNDLES])
def test_output_carries_its_kind_and_run(kind: int) -> None:
    assert split(encode_output(kind, 2**32 - 1, b"data")[LENGTH.size :]) == (kind, 2**32 - 1, b"data")


@pytest.mark.parametrize("body", [b"\4\0\0\0\1", b"\1\0\0"], ids=["unknown kind", "no run"])
def test_an_invalid_message_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        split(body)


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
