"""Terminals for agents as types."""

from typing import Any

import msgspec
import pytest

from hawse.api.automation import TerminalScreen, TerminalSend, TerminalWait, TerminalWaitResult
from runtime.screen.screen import SCROLLBACK_LINES


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
def test_what_an_agent_asks_is_bounded(shape: Any, wrong: dict[str, Any]) -> None:
    msgspec.convert({"id": "t"}, shape)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t"} | wrong, shape)


def test_as_much_scrollback_may_be_asked_for_as_a_screen_remembers() -> None:
    assert msgspec.convert({"id": "t", "scrollback": SCROLLBACK_LINES}, TerminalScreen).scrollback == SCROLLBACK_LINES


def test_where_a_wait_began_is_spelled_from() -> None:
    waited = msgspec.convert({"event": "timeout", "from": 3, "offset": 5}, TerminalWaitResult)
    assert (waited.start, msgspec.to_builtins(waited)["from"]) == (3, 3)
