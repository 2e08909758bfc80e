"""The `terminal.*` methods."""

from typing import Any

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.terminals import (
    TerminalCreate,
    TerminalOpened,
    TerminalResize,
    TerminalScreen,
    TerminalSend,
    TerminalWait,
    TerminalWaitResult,
)
from hawse_runtime.screen.requests import SCROLLBACK_LINES
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


@pytest.mark.parametrize(
    ("shape", "wrong"),
    [
        (TerminalScreen, {"format": "pdf"}),
        (TerminalScreen, {"scrollback": SCROLLBACK_LINES + 1}),
        (TerminalSend, {"keys": ["x"] * 1025}),
        (TerminalSend, {"keys": ["x" * 65]}),
        (TerminalWait, {"pattern": ""}),
        (TerminalWait, {"pattern": "x" * 1001}),
        (TerminalWait, {"timeout": 0}),
        (TerminalWait, {"on": "title"}),
    ],
)
def test_parameters_of_automation_out_of_bounds_are_refused(shape: Any, wrong: dict[str, Any]) -> None:
    msgspec.convert({"id": "t"}, shape)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t"} | wrong, shape)


def test_the_limit_of_scrollback_is_what_the_emulator_keeps() -> None:
    assert msgspec.convert({"id": "t", "scrollback": SCROLLBACK_LINES}, TerminalScreen).scrollback == SCROLLBACK_LINES


def test_the_beginning_of_a_wait_is_encoded_as_from() -> None:
    waited = msgspec.convert({"event": "timeout", "from": 3, "offset": 5}, TerminalWaitResult)
    assert (waited.start, msgspec.to_builtins(waited)["from"]) == (3, 3)
