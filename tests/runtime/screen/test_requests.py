"""The messages to a screen process, and the answers of one that may be hostile."""

import pytest

from hawse_runtime.screen.requests import (
    ANSWER_LIMIT,
    LENGTH,
    Answer,
    AnswerReader,
    AnyRequest,
    Close,
    Feed,
    Keys,
    Open,
    Paint,
    ProtocolError,
    Refusal,
    Resize,
    Show,
    Text,
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


def test_answers_are_read_in_pieces_of_any_size() -> None:
    answers = [Answer(b"x" * 1000), Answer(replies=b"y", whole=False, calm=False), Answer(refusal=Refusal("a", "b"))]
    data = b"".join(map(framed, answers))
    for size in (1, 3, 100, len(data)):
        reader = AnswerReader()
        found = [answer for at in range(0, len(data), size) for answer in reader.feed(data[at : at + size])]
        assert found == answers


@pytest.mark.parametrize(
    "data",
    [
        LENGTH.pack(ANSWER_LIMIT + 1),
        LENGTH.pack(1) + b"\xc1",
        LENGTH.pack(2) + b"\x91\x01",
        LENGTH.pack(200_000) + b"\x91" * 200_000,
        LENGTH.pack(0),
    ],
    ids=["too long", "no MessagePack", "a wrong type", "too deep", "empty"],
)
def test_what_is_not_an_answer_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        AnswerReader().feed(data)
