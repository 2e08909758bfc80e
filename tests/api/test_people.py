"""Participants, presence, the writer lease and questions as types."""

import msgspec
import pytest
from msgspec import UNSET

from hawse.api.people import (
    ParticipantEvent,
    Question,
    TerminalAnswer,
    TerminalAsk,
    TerminalPresence,
    ViewerProfile,
    WriterLeaseEvent,
)
from tests.support.examples import LEASE, PERSON


def test_a_pointer_that_is_left_out_differs_from_one_that_is_hidden() -> None:
    assert msgspec.json.decode(b'{"id": "t", "viewer": "k"}', type=TerminalPresence).at is UNSET
    assert msgspec.json.decode(b'{"id": "t", "viewer": "k", "at": null}', type=TerminalPresence).at is None


@pytest.mark.parametrize("wrong", [{"key": ""}, {"key": "k" * 65}, {"name": "n" * 257}, {"kind": "robot"}])
def test_viewer_profiles_out_of_bounds_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, ViewerProfile)


@pytest.mark.parametrize("wrong", [{"view": "x" * 201}, {"view": 'a"'}, {"view": "\u00e9"}, {"scroll": -1}])
def test_a_view_out_of_bounds_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t", "viewer": "k"} | wrong, TerminalPresence)


def test_events_are_decoded_completely() -> None:
    event = msgspec.convert({"viewer": PERSON | {"at": {"x": 3, "y": 4}}}, ParticipantEvent)
    assert msgspec.to_builtins(event) == {"viewer": PERSON | {"at": {"x": 3, "y": 4}}}
    assert msgspec.convert(LEASE | {"applied": 5}, WriterLeaseEvent).applied == 5


@pytest.mark.parametrize(
    "bad",
    [
        '{"id": "t"}',
        '{"id": "t", "reason": ""}',
        '{"id": "t", "reason": "a\\u001b[2J"}',
        '{"id": "t", "reason": "a", "choices": []}',
        '{"id": "t", "reason": "a", "choices": [""]}',
        '{"id": "t", "reason": "a", "choices": ["a\\n"]}',
        '{"id": "t", "reason": "a", "kind": "yes"}',
        '{"id": "t", "reason": "a", "expires": 0}',
    ],
)
def test_questions_out_of_bounds_are_refused(bad: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(bad, type=TerminalAsk)


@pytest.mark.parametrize("text", ["a\n", "a\r", "\u0003", "\u007f", "a" * 1001])
def test_an_answer_is_one_line(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t", "question": "q-1", "text": text}, TerminalAnswer)
    msgspec.convert({"id": "t", "question": "q-1", "text": "Größe"}, TerminalAnswer)


def test_only_an_open_or_claimed_question_is_unsettled() -> None:
    question = Question(id="q", terminal="t", instance="i", kind="line", source="caller", asked=1.0)
    states = ("open", "claimed", "answered", "refused", "expired", "withdrawn")
    unsettled = [state for state in states if msgspec.structs.replace(question, state=state).unsettled]
    assert unsettled == ["open", "claimed"]
