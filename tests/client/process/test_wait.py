"""Waiting for a process, and going on waiting after a cut."""

from typing import Any

import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.wait import ProcessWaitCall
from hawse.wire import HawseError
from tests.support.client import MemoryLine

MATCH = {"stream": "stderr", "start": 3, "end": 5, "text": "ab"}


def waiting(**params: Any) -> tuple[CallTable, ProcessWaitCall, MemoryLine]:
    calls = CallTable(Options(dice=lambda: 0.0))
    call = ProcessWaitCall("local", {"id": "p", **params}, timeout=60)
    line = MemoryLine(calls)
    calls.submit(call)
    line.pump()
    return calls, call, line


async def test_what_ended_it_is_told() -> None:
    _, call, line = waiting(log={"text": "ab"})
    assert 59 < line.params["timeout"] <= 60
    line.result({"event": "log", "match": MATCH})
    match = call.done.result().match
    assert (match.stream, match.end, match.groups) == ("stderr", 5, [])


async def test_after_a_cut_it_searches_from_where_it_began_for_the_time_that_is_left() -> None:
    calls, call, line = waiting(log={"text": "ab"})
    first = line.params
    line.event("opened", {"from": {"stdout": 7, "stderr": 0}})
    calls.line_down()
    again = MemoryLine(calls)
    assert again.params["log"] == {"text": "ab", "since": {"stdout": 7, "stderr": 0}}
    assert again.params["timeout"] < first["timeout"]
    again.result({"event": "exit", "exit": {"code": 3}})
    assert call.done.result().exit.code == 3


async def test_time_that_is_up_is_an_error_of_its_own() -> None:
    _, call, line = waiting(exit=True)
    line.event("opened", {"from": {"stdout": 0, "stderr": 0}})
    line.result({"event": "timeout"})
    with pytest.raises(HawseError, match="deadline_exceeded: nothing of that within 60 s"):
        await call.done
