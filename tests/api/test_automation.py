"""Terminals for agents as types."""

from typing import Any

import msgspec
import pytest

from hawse.api.automation import LookAtScreen, SendToTerminal, Waited, WaitForTerminal
from runtime.screen.screen import SCROLLBACK_LINES


@pytest.mark.parametrize(
    ("shape", "wrong"),
    [
        (LookAtScreen, {"format": "pdf"}),
        (LookAtScreen, {"scrollback": SCROLLBACK_LINES + 1}),
        (SendToTerminal, {"keys": ["x"] * 1025}),
        (SendToTerminal, {"keys": ["x" * 65]}),
        (WaitForTerminal, {"pattern": ""}),
        (WaitForTerminal, {"pattern": "x" * 1001}),
        (WaitForTerminal, {"timeout": 0}),
        (WaitForTerminal, {"on": "title"}),
    ],
)
def test_what_an_agent_asks_is_bounded(shape: Any, wrong: dict[str, Any]) -> None:
    msgspec.convert({"id": "t"}, shape)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t"} | wrong, shape)


def test_as_much_scrollback_may_be_asked_for_as_a_screen_remembers() -> None:
    assert msgspec.convert({"id": "t", "scrollback": SCROLLBACK_LINES}, LookAtScreen).scrollback == SCROLLBACK_LINES


def test_where_a_wait_began_is_spelled_from() -> None:
    waited = msgspec.convert({"event": "timeout", "from": 3, "offset": 5}, Waited)
    assert (waited.start, msgspec.to_builtins(waited)["from"]) == (3, 3)
