"""`process.wait`, and its repeat after a lost connection."""

from typing import Any

import pytest

from hawse.api.processes import LogCondition, ProcessWait
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.wait import ProcessWaitCall
from hawse.wire import HawseError
from tests.support.client import MemoryConnection

MATCH = {"stream": "stderr", "start": 3, "end": 5, "text": "ab"}


def waiting(**params: Any) -> tuple[CallTable, ProcessWaitCall, MemoryConnection]:
    calls = CallTable(Options(dice=lambda: 0.0))
    call = ProcessWaitCall(ProcessWait(id="p", **params), sandbox="local", timeout=60)
    connection = MemoryConnection(calls)
    calls.submit(call)
    connection.pump()
    return calls, call, connection


async def test_the_result_names_the_condition_that_ended_the_wait() -> None:
    _, call, connection = waiting(log=LogCondition(text="ab"))
    assert 59 < connection.params["timeout"] <= 60
    connection.result({"event": "log", "match": MATCH})
    match = call.done.result().match
    assert (match.stream, match.end, match.groups) == ("stderr", 5, [])


async def test_a_repeat_searches_from_the_first_offsets_for_the_remaining_time() -> None:
    calls, call, connection = waiting(log=LogCondition(text="ab"))
    first = connection.params
    connection.event("opened", {"from": {"stdout": 7, "stderr": 0}})
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.params["log"] == {"text": "ab", "since": {"stdout": 7, "stderr": 0}}
    assert again.params["timeout"] < first["timeout"]
    again.result({"event": "exit", "exit": {"code": 3}})
    assert call.done.result().exit.code == 3


async def test_a_timeout_is_deadline_exceeded() -> None:
    _, call, connection = waiting(exit=True)
    connection.event("opened", {"from": {"stdout": 0, "stderr": 0}})
    connection.result({"event": "timeout"})
    with pytest.raises(HawseError, match="deadline_exceeded: the condition was not met within 60 s"):
        await call.done
