"""Behaviour specific to the SQLite store."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from hawse_gateway.store.base import ConflictError, Put, StoreError
from hawse_gateway.store.sqlite import SqliteStore, connect


async def test_the_next_gateway_finds_rows_and_continues_their_versions(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "store.db")
    assert first.created
    version = await first.write(Put("t", "a", b"1"))
    await first.close()
    second = SqliteStore(tmp_path / "store.db")
    assert not second.created
    assert await second.get("t", "a") == (b"1", version)
    assert await second.write(Put("t", "b", b"1")) > version
    await second.close()


async def test_the_leases_of_a_gateway_that_has_ended_are_free(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "store.db")
    lease = await first.acquire("work", "a", 3600)
    await first.close()
    second = SqliteStore(tmp_path / "store.db")
    after = await second.acquire("work", "b", 3600)
    assert lease is not None
    assert after is not None
    assert after.epoch > lease.epoch
    await second.close()


async def test_a_second_gateway_on_the_same_file_is_refused(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "store.db")
    with pytest.raises(StoreError, match="is in use by another gateway"):
        SqliteStore(tmp_path / "store.db")
    await first.close()
    await SqliteStore(tmp_path / "store.db").close()


async def test_only_the_user_of_the_gateway_can_read_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.write(Put("t", "a", b"1"))
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(tmp_path)} == {0o600}
    await store.close()


def test_a_file_that_is_not_a_database_is_refused_and_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("this is a text file" * 100)
    opened: list[sqlite3.Connection] = []

    def connect_and_note(path: Path) -> sqlite3.Connection:
        opened.append(connect(path))
        return opened[0]

    with pytest.raises(StoreError, match=r"store\.db: file is not a database"):
        SqliteStore(tmp_path / "store.db", connect=connect_and_note)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
    with pytest.raises(StoreError, match="No such file or directory"):
        SqliteStore(tmp_path / "missing" / "store.db")


async def test_a_write_without_space_fails_and_the_store_works_again_when_there_is_space(tmp_path: Path) -> None:
    connection = connect(tmp_path / "store.db")
    store = SqliteStore(tmp_path / "store.db", connect=lambda path: connection)
    version = await store.write(Put("t", "a", b"1"))
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="full") as caught:
        await store.write(Put("t", "b", bytes(1 << 20)))
    assert not isinstance(caught.value, ConflictError)
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    connection.execute("PRAGMA max_page_count = 1000000")
    assert await store.write(Put("t", "a", b"2", version)) > version
    assert await store.get("t", "b") is None
    await store.close()
