"""The `terminal.*` methods."""

from typing import Any

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.terminals import TerminalCreate, TerminalOpened, TerminalResize
from tests.support.examples import OPENED, PERSON


def test_the_event_opened_has_the_terminal_and_the_output_that_follows() -> None:
    fields = OPENED | {"from": 7, "presence": [PERSON]}
    opened = msgspec.convert(fields, TerminalOpened)
    assert (opened.from_, opened.start, opened.presence[0].name) == (7, 0, "guest-1")
    assert msgspec.to_builtins(opened) == fields


def test_fields_that_an_older_server_does_not_send_have_defaults() -> None:
    later = {"screen", "input_offset", "answers", "read_only", "viewer", "presence", "lease"}
    opened = msgspec.convert({name: value for name, value in OPENED.items() if name not in later}, TerminalOpened)
    assert (opened.viewer, opened.presence, opened.lease, opened.answers) == (None, [], None, False)


@pytest.mark.parametrize(
    "wrong", [{"id": "a/b"}, {"cols": 0}, {"rows": 1001}, {"argv": []}, {"env": {"A": 1}}, {"record": "yes"}]
)
def test_parameters_out_of_bounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, TerminalCreate)


def test_required_parameters_are_required() -> None:
    with pytest.raises(msgspec.ValidationError, match="rows"):
        msgspec.convert({"id": "t", "cols": 1}, TerminalResize)


def test_attach_sends_output_and_screens_by_their_kinds() -> None:
    assert METHODS["terminal.attach"].output == ("output", "", "screen")
