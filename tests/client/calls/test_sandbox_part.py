"""The base class of the parts of a sandbox, as its terminals and its files."""

import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.files.files import Files
from hawse.client.terminal.terminals import Terminals
from tests.support.client import MemoryConnection


async def test_its_calls_are_for_its_sandbox() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    async with asyncio.TaskGroup() as group:
        listing = group.create_task(Terminals(calls, "first", window=1000).list())
        await connection.until_called()
        assert (connection.call.method, connection.call.sandbox) == ("terminal.list", "first")
        connection.result({"terminals": []})
        assert await listing == []
        found = group.create_task(Files(calls, "second", window=1000).exists("x"))
        await connection.until_called(2)
        assert (connection.call.method, connection.call.sandbox) == ("file.exists", "second")
        connection.result({"exists": True})
        assert await found
