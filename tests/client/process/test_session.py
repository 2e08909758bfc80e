"""`session.exec`, without a socket; sessions through a real gateway are in tests/integration/test_sessions.py."""

import pytest

from hawse.api.sessions import SessionExec
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.exec import ExecCall
from hawse.client.process.session import SessionResult
from hawse.wire import Call as CallMessage, HawseError, Kind
from tests.support.client import MemoryConnection


def make() -> tuple[CallTable, MemoryConnection, ExecCall]:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = ExecCall(
        SessionExec(id="s", command="x"),
        sandbox="local",
        key=None,
        stdin=False,
        window=1000,
        limit=1000,
        result=SessionResult,
    )
    calls.submit(call)
    connection.pump()
    return calls, connection, call


def opened(instance: str, stdout: int = 0) -> dict[str, object]:
    return {"id": "s", "session": "i", "instance": instance, "from": {"stdout": stdout, "stderr": 0}, "input_offset": 0}


async def test_the_result_says_whether_the_shell_ended_with_the_command() -> None:
    _, connection, call = make()
    (asked,) = (message for message in connection.received if isinstance(message, CallMessage))
    assert (asked.method, asked.key) == ("session.exec", call.key)
    connection.server.send_event(1, "waiting", {"ahead": 2})
    connection.server.send_event(1, "opened", opened("run 1"))
    connection.server.send_data(1, Kind.OUTPUT, 0, b"out")
    connection.server.send_result(1, {"code": 5, "timed_out": False, "stdout": 3, "stderr": 0, "ended": True})
    connection.pump()
    assert await call.done == SessionResult(code=5, stdout=b"out", ended=True)


async def test_a_repeat_resumes_a_run_that_had_begun_and_accepts_any_other() -> None:
    calls, connection, call = make()
    connection.server.send_event(1, "waiting", {"ahead": 2})
    connection.pump()
    calls.disconnected()
    again = MemoryConnection(calls)
    assert "since" not in again.params, "no run had begun, so any run is accepted"
    again.pump()
    again.server.send_event(1, "opened", opened("run 2"))
    again.server.send_data(1, Kind.OUTPUT, 0, b"out")
    again.pump()
    calls.disconnected()
    last = MemoryConnection(calls)
    assert last.params["since"] == {"stdout": 3, "stderr": 0}
    last.pump()
    last.server.send_event(1, "opened", opened("run 3", 3))
    last.pump()
    with pytest.raises(HawseError, match="outcome_unknown"):
        await call.done
