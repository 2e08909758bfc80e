"""`session.exec`, without a socket; sessions through a real gateway are in tests/integration/test_sessions.py."""

import pytest

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.session import SessionCall, SessionResult
from hawse.wire import Call as CallMessage
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryLine


def make() -> tuple[CallTable, MemoryLine, SessionCall]:
    calls = CallTable(Options())
    line = MemoryLine(calls)
    call = SessionCall("local", {"id": "s", "command": "x"}, key=None, stdin=False, window=1000, limit=1000)
    calls.submit(call)
    line.pump()
    return calls, line, call


def opened(instance: str, stdout: int = 0) -> dict[str, object]:
    return {"id": "s", "session": "i", "instance": instance, "from": {"stdout": stdout, "stderr": 0}, "input_offset": 0}


async def test_the_result_says_whether_the_shell_has_gone_with_the_command() -> None:
    _, line, call = make()
    (asked,) = (message for message in line.heard if isinstance(message, CallMessage))
    assert (asked.method, asked.key) == ("session.exec", call.key)
    line.server.send_event(1, "waiting", {"ahead": 2})
    line.server.send_event(1, "opened", opened("run 1"))
    line.server.send_data(1, Kind.OUTPUT, 0, b"out")
    line.server.send_result(1, {"code": 5, "timed_out": False, "stdout": 3, "stderr": 0, "ended": True})
    line.pump()
    assert await call.done == SessionResult(code=5, stdout=b"out", ended=True)


async def test_a_repeat_resumes_what_had_begun_and_asks_anew_for_what_had_not() -> None:
    calls, line, call = make()
    line.server.send_event(1, "waiting", {"ahead": 2})
    line.pump()
    calls.line_down()
    assert "since" not in call.params(), "nothing was begun, so any run is ours"
    again = MemoryLine(calls)
    again.pump()
    again.server.send_event(1, "opened", opened("run 2"))
    again.server.send_data(1, Kind.OUTPUT, 0, b"out")
    again.pump()
    calls.line_down()
    assert call.params()["since"] == {"stdout": 3, "stderr": 0}
    last = MemoryLine(calls)
    last.pump()
    last.server.send_event(1, "opened", opened("run 3", 3))
    last.pump()
    with pytest.raises(HawseError, match="outcome_unknown"):
        await call.done
