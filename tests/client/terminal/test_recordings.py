"""`box.recordings`, without a socket; with a real gateway: tests/integration/test_python_client.py."""

import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.recordings import Recordings
from tests.support.client import MemoryConnection


async def test_a_handle_is_made_without_a_call_and_recordings_are_listed() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection, recordings = MemoryConnection(calls), Recordings(calls, "local", window=1000)
    assert recordings.attach("r").id == "r"
    assert connection.calls == []
    async with asyncio.TaskGroup() as group:
        listed = group.create_task(recordings.list(terminal="t"))
        await connection.until_called()
        connection.result({"recordings": []})
    assert listed.result() == []
    assert (connection.calls[0].method, connection.params["terminal"]) == ("recording.list", "t")
