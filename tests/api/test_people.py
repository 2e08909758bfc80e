"""Participants, presence and the writer lease as types."""

import msgspec
import pytest
from msgspec import UNSET

from hawse.api.people import ParticipantEvent, TerminalPresence, ViewerProfile, WriterLeaseEvent
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
