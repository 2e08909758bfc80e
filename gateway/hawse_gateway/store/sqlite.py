"""The store for a single gateway: a SQLite file in the state directory, accessed from a single thread.

An exclusive lock on a separate file prevents a second gateway from opening the store, even while the first gateway is
suspended by a signal. Any leases found when the file is opened must therefore belong to a gateway that has exited, and
are dropped.
"""

import asyncio
import fcntl
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeVar

from hawse_gateway.store.base import (
    ABSENT,
    PAGE,
    Change,
    ConflictError,
    Delete,
    Lease,
    LeaseLostError,
    LimitStore,
    Put,
    Row,
    StoreBase,
    StoreError,
)
from hawse_gateway.store.operations import StoreOperations

T = TypeVar("T")

LEASES: Final = "leases"  # the table name passed to listeners when a lease is released
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS rows (name TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (name, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch INTEGER NOT NULL,
    expires REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (last INTEGER NOT NULL);
INSERT INTO counter SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM counter);
UPDATE leases SET expires = 0;
"""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file without implicit transactions. Only one thread may use the connection at a time."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


class SqliteStore(StoreBase):
    """A store in a single file, which the constructor opens or creates. `created` is true if the file was created.

    Args:
        path: The path to the file.
        clock: A monotonic clock, in seconds, that determines when leases expire.
        connect: Opens the database file.
        operations: Measures the operations.

    Raises:
        StoreError: The file cannot be opened, is not a database, or is in use by another gateway.
    """

    limits: LimitStore | None = None  # a single gateway has no counts to exchange

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        connect: Callable[[Path], sqlite3.Connection] = connect,
        operations: StoreOperations | None = None,
    ) -> None:
        super().__init__()
        self._operations = operations or StoreOperations()
        self._clock = clock
        self.created = not path.exists()
        self._lock = _exclusive(path.with_name(f"{path.name}.lock"))
        with ExitStack() as opened:
            opened.callback(os.close, self._lock)
            try:
                path.touch(mode=0o600)
                self._connection = opened.enter_context(closing(connect(path)))
                # Completed writes must survive a power failure.
                self._connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + SCHEMA)
            except (OSError, sqlite3.Error) as error:
                raise StoreError(f"{path}: {error}") from error
            opened.pop_all()
        self._thread = ThreadPoolExecutor(1, "store")

    async def get(self, table: str, key: str) -> Row | None:
        def read() -> Row | None:
            found = self._connection.execute(
                "SELECT value, version FROM rows WHERE name = ? AND key = ?", (table, key)
            ).fetchone()
            return None if found is None else Row(*found)

        return await self._run(read)

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        def read() -> Mapping[str, Row]:
            query = "SELECT value, version FROM rows WHERE name = ? AND key = ?"
            found = ((key, self._connection.execute(query, (table, key)).fetchone()) for key in keys)
            return {key: Row(*row) for key, row in found if row is not None}

        return await self._run(read)

    async def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        last = ""

        def read() -> Mapping[str, Row]:
            query = "SELECT key, value, version FROM rows WHERE name = ? AND key > ? ORDER BY key LIMIT ?"
            found = self._connection.execute(query, (table, last, PAGE))
            return {key: Row(value, version) for key, value, version in found}

        while page := await self._run(read):
            yield page
            last = max(page)

    async def count(self, table: str) -> int:
        def read() -> int:
            (found,) = self._connection.execute("SELECT COUNT(*) FROM rows WHERE name = ?", (table,)).fetchone()
            return int(found)

        return await self._run(read)

    async def synced(self) -> None:
        """Do nothing, since each change is reported when its write returns."""

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        def apply() -> int:
            with _Transaction(self._connection):
                if lease is not None and not self._held(lease):
                    raise LeaseLostError(f"the lease {lease.name} is no longer held")
                version = self._count()
                for change in changes:
                    self._apply(change, version)
                return version

        version = await self._run(apply)
        for change in changes:
            self.notify(change.table, change.key)
        return version

    async def time(self) -> None:
        """Return None, since there is only one gateway."""

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        def take() -> Lease | None:
            now = self._clock()
            with _Transaction(self._connection):
                found = self._connection.execute("SELECT expires FROM leases WHERE name = ?", (name,)).fetchone()
                if found is not None and found[0] > now:
                    return None
                epoch = self._count()
                self._connection.execute(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, holder, epoch, now + seconds)
                )
                return Lease(name, holder, epoch)

        return await self._run(take)

    async def renew(self, lease: Lease, seconds: float) -> bool:
        def extend() -> bool:
            with _Transaction(self._connection):
                if not self._held(lease):
                    return False
                self._connection.execute(
                    "UPDATE leases SET expires = ? WHERE name = ?", (self._clock() + seconds, lease.name)
                )
                return True

        return await self._run(extend)

    async def release(self, lease: Lease) -> None:
        def end() -> None:
            self._connection.execute("DELETE FROM leases WHERE name = ? AND epoch = ?", (lease.name, lease.epoch))

        await self._run(end)
        self.notify(LEASES, lease.name)

    async def run(self) -> None:
        """Do nothing, since only this gateway changes the file."""

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._thread.shutdown()
        os.close(self._lock)

    # ---- called in the thread

    def _count(self) -> int:
        (last,) = self._connection.execute("UPDATE counter SET last = last + 1 RETURNING last").fetchone()
        return int(last)

    def _held(self, lease: Lease) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM leases WHERE name = ? AND epoch = ? AND expires > ?",
            (lease.name, lease.epoch, self._clock()),
        ).fetchone()
        return found is not None

    def _apply(self, change: Change, version: int) -> None:
        found = self._connection.execute(
            "SELECT version FROM rows WHERE name = ? AND key = ?", (change.table, change.key)
        ).fetchone()
        present = ABSENT if found is None else found[0]
        if present != change.version:
            raise ConflictError(f"row {change.key} of {change.table} has version {present}, expected {change.version}")
        match change:
            case Put(table, key, value):
                self._connection.execute(
                    "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", (table, key, value, version)
                )
            case Delete(table, key):
                self._connection.execute("DELETE FROM rows WHERE name = ? AND key = ?", (table, key))

    # ---- called in the event loop

    async def _run(self, work: Callable[[], T]) -> T:
        with self._operations.measured():
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, work)
            except sqlite3.Error as error:
                raise StoreError(f"the store failed: {error}") from error


class _Transaction:
    """A context manager that commits on success and rolls back on an exception."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            try:
                self._connection.execute("COMMIT")
            except sqlite3.Error:
                self._rollback()
                raise
        else:
            self._rollback()

    def _rollback(self) -> None:
        if self._connection.in_transaction:  # false if SQLite itself has rolled back, as when the disk is full
            self._connection.execute("ROLLBACK")


def _exclusive(path: Path) -> int:
    """Lock a file until the returned descriptor is closed. Raises `StoreError`."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        holder = os.pread(fd, 32, 0).decode(errors="replace").strip()
        os.close(fd)
        raise StoreError(f"{path.parent} is in use by another gateway (pid {holder or 'unknown'})") from None
    except OSError as error:
        os.close(fd)
        raise StoreError(f"{path}: {error.strerror}") from error
    return fd
