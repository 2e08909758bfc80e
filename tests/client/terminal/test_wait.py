"""`terminal.wait`, and its repeat after a lost connection."""

import time
from typing import Any

import pytest

from hawse.api.terminals import TerminalWait
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.wait import TerminalWaitCall
from hawse.wire import HawseError
from tests.support.client import MemoryConnection

MATCH = {"start": 3, "end": 5, "text": "ab", "groups": [None], "named": {}, "truncated": False}


def waiting(**params: Any) -> tuple[CallTable, TerminalWaitCall, MemoryConnection]:
    calls = CallTable(Options(dice=lambda: 0.0))
    call = TerminalWaitCall(TerminalWait(id="t", **params), sandbox="local", timeout=60)
    connection = MemoryConnection(calls)
    calls.submit(call)
    connection.pump()
    return calls, call, connection


async def test_the_result_names_the_condition_that_ended_the_wait() -> None:
    begun = time.monotonic()
    _, call, connection = waiting(pattern="ab", silence=None)
    assert 60 - (time.monotonic() - begun) <= connection.params.pop("timeout") <= 60
    assert connection.params | {"timeout": 0} == {"id": "t", "pattern": "ab", "timeout": 0}
    connection.result({"event": "pattern", "from": 0, "offset": 5, "match": MATCH})
    waited = call.done.result()
    assert (waited.event, waited.offset, waited.match.groups, waited.exit) == ("pattern", 5, [None], None)


async def test_a_repeat_continues_from_the_first_offset_for_the_remaining_time() -> None:
    calls, call, connection = waiting(pattern="ab")
    first = connection.params
    connection.event("opened", {"from": 17})
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.params["since"] == 17
    assert again.params["timeout"] < first["timeout"]
    assert "since" not in first
    again.event("opened", {"from": 20})  # what was between is no longer kept
    again.result({"event": "timeout", "from": 20, "offset": 25})
    assert call.done.result().start == 20


async def test_on_the_screen_it_has_no_beginning() -> None:
    calls, _, connection = waiting(pattern="ab", on="screen")
    connection.event("opened", {"from": 17})
    calls.disconnected()
    assert "since" not in MemoryConnection(calls).params


async def test_an_invalid_result_is_an_error() -> None:
    _, call, connection = waiting(exit=True)
    with pytest.raises(HawseError, match="an invalid TerminalWaitResult"):
        connection.result({"event": "dinner", "from": 0, "offset": 0})
    with pytest.raises(HawseError, match="an invalid TerminalWaitResult"):
        call.done.result()
