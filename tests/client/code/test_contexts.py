"""`box.code`, without a socket; code through a real gateway is run in tests/client/code/test_context.py."""

import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.code.contexts import Code
from tests.support.client import MemoryConnection

INFO = {"id": "c", "instance": "first", "language": "python", "kernel": "python3", "pid": 5}


async def test_a_context_is_created_when_it_is_awaited_and_found_again() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection, code = MemoryConnection(calls), Code(calls, "local", window=1000)
    creation, existing = code.create("python", id="c", cwd="/d", env={"A": "b"}, timeout=2.0), code.attach("c")
    assert connection.calls == []

    async def both() -> None:
        assert await creation is creation
        assert await existing is existing

    async with asyncio.TaskGroup() as group:
        group.create_task(both())
        await connection.until_called()
        connection.result(INFO)
        await connection.until_called(2)
        connection.result(INFO)
    assert [call.method for call in connection.calls] == ["code.create", "code.get"]
    assert creation.instance == existing.instance == "first"
