import asyncio
from typing import Any

import msgspec
import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.overview.index import EVERYWHERE, SandboxIndex
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.table import SandboxTable
from hawse_gateway.store.base import StoreError
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore

RECORD = SandboxRecord(
    id="a", unit="a", provider="p", spec=SandboxSpec(), wanted="sleeping", generation="g", created=Clock().now()
)


class Broken(SqliteStore):
    """Cannot be read or written."""

    async def broken(self, *_: object, **__: object) -> Any:
        raise StoreError("the disk is gone")

    get = synced = write = broken


async def test_concurrent_changes_are_all_kept(tmp_path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    table = SandboxTable(store, SandboxIndex(store))
    await table.write(records.new(RECORD))

    def label(number: int):
        return lambda record: msgspec.structs.replace(record, labels={**record.labels, str(number): ""})

    await asyncio.gather(*(table.change("a", label(number)) for number in range(20)))
    rows = await table.existing("a")
    assert rows.sandbox is not None
    assert len(rows.sandbox.value.labels) == 20
    await store.close()


async def test_a_sandbox_that_is_being_deleted_is_not_changed(tmp_path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    table = SandboxTable(store, SandboxIndex(store))
    await table.write(records.new(msgspec.structs.replace(RECORD, wanted="deleted")))
    with pytest.raises(HawseError, match="not_found"):
        await table.change("a", lambda record: msgspec.structs.replace(record, wanted="running"))
    with pytest.raises(HawseError, match="not_found"):
        await table.existing("b")
    await store.close()


async def test_errors_of_the_store_are_errors_of_the_call(tmp_path) -> None:
    store = Broken(tmp_path / "store.db")
    table = SandboxTable(store, SandboxIndex(store))
    page = table.page(EVERYWHERE, {}, None, 1)
    for call in (table.read("a"), page, table.write(records.new(RECORD)), table.existing("a")):
        with pytest.raises(HawseError, match="unavailable: the disk is gone"):
            await call
    await store.close()
