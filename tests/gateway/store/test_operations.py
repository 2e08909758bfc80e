from pathlib import Path

import pytest

from hawse_gateway.store.base import ConflictError, Put, StoreError
from hawse_gateway.store.operations import StoreOperations
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.stack import free_port


async def test_every_operation_is_measured(tmp_path: Path) -> None:
    operations = StoreOperations()
    store = SqliteStore(tmp_path / "store.db", operations=operations)
    await store.write(Put("a", "b", b"c"))
    await store.get("a", "b")
    with pytest.raises(ConflictError):
        await store.write(Put("a", "b", b"c"))
    assert (sum(operations.seconds.counts), operations.failed) == (3, 0), "a conflict is an answer"
    await store.close()


async def test_failed_operations_are_counted() -> None:
    operations = StoreOperations()
    store = RedisStore(f"redis://127.0.0.1:{free_port()}", operations=operations)
    with pytest.raises(StoreError):
        await store.get("a", "b")
    assert (sum(operations.seconds.counts), operations.failed) == (1, 1)
    await store.close()
