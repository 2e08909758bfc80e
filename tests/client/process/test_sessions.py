"""`box.sessions`, without a socket; sessions through a real gateway are in tests/integration/test_sessions.py."""

import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.sessions import Sessions
from tests.support.client import MemoryConnection

INFO = {"id": "s", "instance": "first", "pid": 5, "shell": "/bin/sh"}


def prepare() -> tuple[MemoryConnection, Sessions]:
    calls = CallTable(Options(dice=lambda: 0.0))
    return MemoryConnection(calls), Sessions(calls, "local", window=1000)


async def test_a_session_is_created_with_its_settings_when_it_is_awaited() -> None:
    connection, sessions = prepare()
    creation = sessions.create("s", cwd="/d", env={"A": None}, shell="/bin/sh", command_timeout=2.0)
    assert connection.calls == []
    async with asyncio.TaskGroup() as group:
        creating = group.create_task(_awaited(creation))
        await connection.until_called()
        connection.result(INFO)
    assert creating.result() is creation
    assert creation.instance == "first"
    sent = {"id": "s", "cwd": "/d", "env": {"A": None}, "shell": "/bin/sh", "command_timeout": 2.0}
    assert connection.params.items() >= sent.items()


async def test_an_existing_session_is_found_and_described() -> None:
    connection, sessions = prepare()
    async with asyncio.TaskGroup() as group:
        group.create_task(_awaited(sessions.attach("s")))
        await connection.until_called()
        connection.result(INFO)
        described = group.create_task(sessions.get("s"))
        await connection.until_called(2)
        connection.result(INFO)
        listed = group.create_task(sessions.list())
        await connection.until_called(3)
        connection.result({"sessions": [INFO]})
    assert [call.method for call in connection.calls] == ["session.get", "session.get", "session.list"]
    assert listed.result() == [described.result()]


async def _awaited(creation: object) -> object:
    return await creation  # type: ignore[misc]
