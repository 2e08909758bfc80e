"""Waiting, and going on waiting after a cut."""

from typing import Any

import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.wait import TerminalWaitCall
from hawse.wire import HawseError
from tests.support.client import MemoryLine

MATCH = {"start": 3, "end": 5, "text": "ab", "groups": [None], "named": {}, "truncated": False}


def waiting(**params: Any) -> tuple[CallTable, TerminalWaitCall, MemoryLine]:
    calls = CallTable(Options(dice=lambda: 0.0))
    call = TerminalWaitCall("local", {"id": "t", **params}, timeout=60)
    line = MemoryLine(calls)
    calls.submit(call)
    line.pump()
    return calls, call, line


async def test_what_ended_it_is_told() -> None:
    _, call, line = waiting(pattern="ab", silence=None)
    assert 59 < line.params.pop("timeout") <= 60
    assert line.params | {"timeout": 0} == {"id": "t", "pattern": "ab", "timeout": 0}
    line.result({"event": "pattern", "from": 0, "offset": 5, "match": MATCH})
    waited = call.done.result()
    assert (waited.event, waited.offset, waited.match.groups, waited.exit) == ("pattern", 5, [None], None)


async def test_after_a_cut_it_goes_on_where_it_began_for_the_time_that_is_left() -> None:
    calls, call, line = waiting(pattern="ab")
    first = line.params
    line.event("opened", {"from": 17})
    calls.line_down()
    again = MemoryLine(calls)
    assert again.params["since"] == 17
    assert again.params["timeout"] < first["timeout"]
    assert "since" not in first
    again.event("opened", {"from": 20})  # what was between is no longer kept
    again.result({"event": "timeout", "from": 20, "offset": 25})
    assert call.done.result().start == 20


async def test_on_the_screen_it_has_no_beginning() -> None:
    calls, _, line = waiting(pattern="ab", on="screen")
    line.event("opened", {"from": 17})
    calls.line_down()
    assert "since" not in MemoryLine(calls).params


async def test_what_makes_no_sense_is_an_error() -> None:
    _, call, line = waiting(exit=True)
    with pytest.raises(HawseError, match="not a TerminalWaitResult"):
        line.result({"event": "dinner", "from": 0, "offset": 0})
    with pytest.raises(HawseError, match="not a TerminalWaitResult"):
        call.done.result()
