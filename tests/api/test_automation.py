"""The parameters and results of `terminal.screen`, `send`, `wait` and `history`."""

from typing import Any

import msgspec
import pytest

from hawse.api.automation import TerminalScreen, TerminalSend, TerminalWait, TerminalWaitResult
from hawse_runtime.screen.requests import SCROLLBACK_LINES


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
def test_parameters_out_of_bounds_are_refused(shape: Any, wrong: dict[str, Any]) -> None:
    msgspec.convert({"id": "t"}, shape)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": "t"} | wrong, shape)


def test_the_limit_of_scrollback_is_what_the_emulator_keeps() -> None:
    assert msgspec.convert({"id": "t", "scrollback": SCROLLBACK_LINES}, TerminalScreen).scrollback == SCROLLBACK_LINES


def test_the_beginning_of_a_wait_is_encoded_as_from() -> None:
    waited = msgspec.convert({"event": "timeout", "from": 3, "offset": 5}, TerminalWaitResult)
    assert (waited.start, msgspec.to_builtins(waited)["from"]) == (3, 3)
