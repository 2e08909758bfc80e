"""Recordings: the call that reads one without a socket; the handle against a server is in tests/integration."""

import asyncio
from typing import Any

from hawse.api.recordings import RecordingRead
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import BufferedChunk
from hawse.client.files.transfer_streams import ReadCall
from hawse.client.terminal.recording import Recording
from hawse.wire import Kind
from tests.support.client import MemoryConnection
from tests.support.examples import RECORDING

OPENED = {"size": 20, "version": "v1", "mode": 0o600, "mtime": 1.5}
INFO = RECORDING | {"id": "r-1", "duration": 2.5, "size": 99, "new": 1}


def connection_of(calls: CallTable) -> MemoryConnection:
    return MemoryConnection(calls)


async def test_a_repeated_read_continues_at_its_offset_although_the_recording_has_grown() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = connection_of(calls)
    call = ReadCall(RecordingRead(id="r-1", offset=5), sandbox="local", window=1000)
    calls.submit(call)
    connection.pump()
    assert (connection.call.method, connection.params) == ("recording.read", {"id": "r-1", "offset": 5})
    connection.event("opened", OPENED)
    connection.data(Kind.OUTPUT, 5, b"abc")
    calls.disconnected()
    again = connection_of(calls)
    assert again.params == {"id": "r-1", "offset": 8}
    again.event("opened", OPENED | {"size": 30, "version": "v2"})
    again.data(Kind.OUTPUT, 8, b"de")
    again.result({"bytes": 2, "version": "v2"})
    _, item = await call.receive_buffer.get()
    assert isinstance(item, BufferedChunk)
    assert bytes(item.data) == b"abcde"


async def test_only_methods_that_change_something_have_a_key() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = connection_of(calls)
    recording = Recording(calls, "local", "r-1")
    for work, method, keyed, more in [
        (recording.info, "recording.get", False, {}),
        (recording.stop, "recording.stop", True, {}),
        (lambda: recording.mark("x"), "recording.mark", True, {"label": "x"}),
    ]:
        await perform(connection, work, method, keyed, more)


async def perform(connection: MemoryConnection, work: Any, method: str, keyed: bool, more: dict[str, Any]) -> None:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work())
        await connection.until(lambda: connection.calls and connection.call.method == method)
        assert (connection.call.method, connection.params, connection.call.key is not None) == (
            method,
            {"id": "r-1"} | more,
            keyed,
        )
        connection.result(INFO)
        value = await task
        assert value is None or value.size == 99
