"""Terminals as types."""

from typing import Any

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.terminals import TerminalCreate, TerminalOpened, TerminalResize
from tests.support.examples import OPENED, PERSON


def test_opened_is_a_terminal_and_what_comes_next() -> None:
    said = OPENED | {"from": 7, "presence": [PERSON]}
    opened = msgspec.convert(said, TerminalOpened)
    assert (opened.from_, opened.start, opened.presence[0].name) == (7, 0, "guest-1")
    assert msgspec.to_builtins(opened) == said


def test_an_older_server_says_less() -> None:
    later = {"screen", "input_offset", "answers", "read_only", "viewer", "presence", "lease"}
    opened = msgspec.convert({name: value for name, value in OPENED.items() if name not in later}, TerminalOpened)
    assert (opened.viewer, opened.presence, opened.lease, opened.answers) == (None, [], None, False)


@pytest.mark.parametrize(
    "wrong", [{"id": "a/b"}, {"cols": 0}, {"rows": 1001}, {"argv": []}, {"env": {"A": 1}}, {"record": "yes"}]
)
def test_what_is_to_be_started_is_bounded(wrong: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, TerminalCreate)


def test_what_is_needed_is_needed() -> None:
    with pytest.raises(msgspec.ValidationError, match="rows"):
        msgspec.convert({"id": "t", "cols": 1}, TerminalResize)


def test_attach_sends_output_and_screens_by_their_kinds() -> None:
    assert METHODS["terminal.attach"].output == ("output", "", "screen")
