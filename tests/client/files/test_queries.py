import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.files.files import Files
from tests.support.client import MemoryConnection

ENTRY = {"path": "a", "type": "file", "size": 1, "mode": 0o600, "mtime": 1.5, "mtime_ns": 1_500_000_000, "allocated": 8}


async def test_a_listing_is_awaited_or_iterated_over() -> None:
    async def whole(files: Files) -> list[str]:
        return [entry.path for entry in await files.list("d")]

    async def one_by_one(files: Files) -> list[str]:
        return [entry.path async for entry in files.list("d")]

    for work in (whole, one_by_one):
        calls = CallTable(Options())
        connection = MemoryConnection(calls)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(work(Files(calls, "local", window=1000)))
            await connection.until_called()
            connection.event("entries", {"entries": [ENTRY, ENTRY | {"path": "b"}]})
            connection.result({"entries": 2, "failed": 0})
        assert task.result() == ["a", "b"]
