"""An in-memory store, a store that counts the rows that are read, and credentials with known secrets."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.credential_rows import Credential
from hawse_gateway.auth.credentials import TABLE, Credentials
from hawse_gateway.store.base import (
    ABSENT,
    Change,
    ConflictError,
    Delete,
    Lease,
    LimitStore,
    Put,
    Row,
    StoreBase,
    StoreError,
)
from hawse_gateway.store.sqlite import SqliteStore


class MemoryStore(StoreBase):
    """Several gateways can share a store. If `error` is set, every call raises it."""

    limits: LimitStore | None = None

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, dict[str, Row]] = {}
        self.leases: dict[str, tuple[Lease, float]] = {}  # each with its expiry, by the event loop's clock
        self.error: StoreError | None = None
        self._version = 0

    def put(self, table: str, key: str, value: bytes) -> None:
        """Write a row, replacing any existing one."""
        self._version += 1
        self.tables.setdefault(table, {})[key] = Row(value, self._version)

    async def get(self, table: str, key: str) -> Row | None:
        self._check()
        return self.tables.get(table, {}).get(key)

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        self._check()
        rows = self.tables.get(table, {})
        return {key: rows[key] for key in keys if key in rows}

    async def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        self._check()
        yield dict(self.tables.get(table, {}))

    async def count(self, table: str) -> int:
        self._check()
        return len(self.tables.get(table, {}))

    async def synced(self) -> None:
        """Do nothing, since each change is reported when its write returns."""

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        self._check()
        for change in changes:
            row = self.tables.get(change.table, {}).get(change.key)
            if (ABSENT if row is None else row.version) != change.version:
                raise ConflictError("another version")
        for change in changes:
            match change:
                case Put(table, key, value):
                    self.put(table, key, value)
                case Delete(table, key):
                    del self.tables[table][key]
        for change in changes:
            self.notify(change.table, change.key)
        return self._version

    async def time(self) -> float | None:
        return None

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        self._check()
        now = asyncio.get_running_loop().time()
        if name in self.leases and self.leases[name][1] > now:
            return None
        self._version += 1
        lease = Lease(name, holder, self._version)
        self.leases[name] = (lease, now + seconds)
        return lease

    async def renew(self, lease: Lease, seconds: float) -> bool:
        self._check()
        now = asyncio.get_running_loop().time()
        held, expires = self.leases.get(lease.name, (None, 0.0))
        if held != lease or expires <= now:
            return False
        self.leases[lease.name] = (lease, now + seconds)
        return True

    async def release(self, lease: Lease) -> None:
        self._check()
        if self.leases.get(lease.name, (None, 0.0))[0] == lease:
            del self.leases[lease.name]

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def close(self) -> None: ...

    def _check(self) -> None:
        if self.error is not None:
            raise self.error


class CountingStore(SqliteStore):
    """Counts the rows that are read, and how often a table is read as a whole (`scans`)."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read = 0
        self.scans = 0

    async def get(self, table: str, key: str) -> Row | None:
        self.read += 1
        return await super().get(table, key)

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        self.read += len(keys)
        return await super().get_many(table, keys)

    async def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        self.scans += 1
        async for page in super().pages(table):
            self.read += len(page)
            yield page


def add_token(store: MemoryStore, secret: str, principal: Principal) -> None:
    """Store a token with a known secret. Its id is the principal's."""
    row = Credential(
        id=principal.id,
        kind="token",
        digest=hashlib.sha256(secret.encode()).hexdigest(),
        principal=principal,
        created=0.0,
    )
    store.put(TABLE, row.id, msgspec.json.encode(row))


def credentials(token: str, store: MemoryStore | None = None) -> Credentials:
    """Return credentials that know only the owner's token until they run."""
    return Credentials(token, store or MemoryStore())
