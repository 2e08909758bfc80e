"""The messages to a screen process, and the answers of one that may be hostile."""

import pytest

from hawse_runtime.core.framing import LENGTH, ProtocolError
from hawse_runtime.screen.requests import (
    Answer,
    AnyRequest,
    Close,
    Feed,
    Keys,
    Open,
    Paint,
    Refusal,
    Resize,
    Show,
    Text,
    decode_answer,
    decode_request,
    framed,
)

REQUESTS: list[AnyRequest] = [
    *(Open(1, 80, 24, b"\x1b[m"), Feed(1, b"\xff\x00", True), Resize(1, 100, 30), Paint(1, 6000), Close(1), Text(2)),
    *(Show(2, "html", 10), Keys(3, "text", ["ctrl+c"])),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: type(request).__name__)
def test_a_request_is_decoded_as_it_was_encoded(request_: AnyRequest) -> None:
    data = framed(request_)
    (size,) = LENGTH.unpack_from(data)
    assert size == len(data) - LENGTH.size
    assert decode_request(data[LENGTH.size :]) == request_


NOT_UTF_8 = framed(Answer(refusal=Refusal("a", "b")))[LENGTH.size :].replace(b"\xa1b", b"\xa1\xff")


@pytest.mark.parametrize(
    "data",
    [b"\xc1", b"\x91\x01", b"\x91" * 200_000, NOT_UTF_8],
    ids=["not MessagePack", "a wrong type", "too deep", "not UTF-8"],
)
def test_an_invalid_answer_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_answer(data)


def test_an_answer_is_decoded_as_it_was_encoded() -> None:
    for answer in (Answer(replies=b"y", whole=False, calm=False), Answer(refusal=Refusal("a", "b"))):
        assert decode_answer(framed(answer)[LENGTH.size :]) == answer
