"""`session.exec`, without a socket; sessions through a real gateway are in tests/integration/test_sessions.py."""

import asyncio

import pytest

from hawse.api.sessions import SessionCreate, SessionExec
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.exec import ExecCall
from hawse.client.process.process import Process
from hawse.client.process.session import Session, SessionResult
from hawse.wire import Call as CallMessage, HawseError, Kind
from tests.support.client import MemoryConnection


def make() -> tuple[CallTable, MemoryConnection, ExecCall]:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = ExecCall(SessionExec(id="s", command="x"), {}, sandbox="local", window=1000, result=SessionResult)
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


def session(calls: CallTable) -> Session:
    async def attach(id: str, **_: object) -> Process:
        raise AssertionError

    return Session(calls, "local", SessionCreate(id="s"), create=False, window=1000, attach=attach)


async def cancelled_exec(*, key: str | None) -> list[str]:
    """Cancel the task of an `exec` that runs; return the methods and types of the messages that were sent."""
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    async with asyncio.TaskGroup() as tasks:
        finding = tasks.create_task(session(calls).__aenter__())
        await asyncio.sleep(0)
        connection.pump()
        connection.server.send_result(1, {"id": "s", "instance": "i", "pid": 1, "shell": "/bin/bash"})
        connection.pump()
        task = tasks.create_task((await finding).exec("sleep 60", key=key))
        await asyncio.sleep(0)
        connection.pump()
        connection.server.send_event(2, "opened", opened("run 1"))
        connection.pump()
        task.cancel()
    connection.pump()
    return [getattr(message, "method", type(message).__name__) for message in connection.received]


async def test_a_cancelled_exec_ends_its_command() -> None:
    assert {"session.exec", "session.cancel"} <= set(await cancelled_exec(key=None))


async def test_a_cancelled_exec_with_a_key_leaves_its_command_running() -> None:
    assert "session.cancel" not in await cancelled_exec(key="k")


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
