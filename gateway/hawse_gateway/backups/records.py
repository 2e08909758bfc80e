"""Database rows for backups, in a store that several gateways can share."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec

from hawse.api.backups import BackupInfo
from hawse.api.rights import OPERATE, allows, in_sandbox
from hawse.wire import HawseError, Principal
from hawse_gateway.store.base import (
    ABSENT,
    ConflictError,
    Delete,
    Lease,
    Put,
    Row,
    Store,
    StoreError,
    store_errors_unavailable,
)
from hawse_gateway.store.clock import Clock, Moment

log = logging.getLogger(__name__)

TABLE: Final = "backups"
LEASE: Final = 60.0  # seconds until other gateways delete a killed gateway's unfinished backups


class BackupRecord(msgspec.Struct, kw_only=True):
    """A backup's row.

    Attributes:
        info: The backup's description.
        begun: When its creation started.
        expires: When it expires. None means never.
        ready: Whether its archive is complete.
        reserved: Bytes reserved for its archive while it is being written.
    """

    info: BackupInfo
    begun: Moment
    expires: Moment | None = None
    ready: bool = False
    reserved: int = 0

    @property
    def used(self) -> int:
        """The number of bytes that count toward the limits."""
        return self.info.size if self.ready else self.reserved


class BackupRecords:
    """Reads and writes backup rows. Methods raise `HawseError` (`unavailable`).

    Args:
        store: The store.
        clock: The clock used to decide whether backups have expired. Default: this machine's clock.
        lease: The duration, in seconds, of a gateway's lease on a backup that it is creating. The gateway renews the
            lease until the backup is complete.
    """

    def __init__(self, store: Store, clock: Clock | None = None, *, lease: float = LEASE) -> None:
        self._store = store
        self._holder = secrets.token_hex(8)  # this gateway's name in leases
        self._lease = lease
        self.clock = clock or Clock()

    async def add(self, record: BackupRecord) -> None:
        await self._put(record, ABSENT)

    @asynccontextmanager
    async def creating(self, record: BackupRecord) -> AsyncIterator[None]:
        """Add a backup's row, and hold a lease on the backup while the `async with` block creates it."""
        with store_errors_unavailable():
            lease = await self._store.acquire(_lease_of(record), self._holder, self._lease)
        if lease is None:
            raise HawseError("unavailable", f"another gateway is creating the backup {record.info.id!r}")
        failure: BaseException | None = None
        async with asyncio.TaskGroup() as tasks:
            renewing = tasks.create_task(self._renew(lease), name=lease.name)
            try:
                await self.add(record)
                yield
            except BaseException as error:  # raised later, because the task group would wrap the error in a group
                failure = error
            renewing.cancel()
        with suppress(StoreError):  # a lease that can't be released expires on its own
            await self._store.release(lease)
        if failure is not None:
            raise failure

    async def abandoned(self, record: BackupRecord) -> bool:
        """Return whether the gateway that was creating a backup died before completing it.

        No gateway holds such a backup's lease. In a shared store, a dead gateway's lease expires. Without a shared
        store, the gateway drops all leases when it restarts.
        """
        if record.ready:
            return False
        with store_errors_unavailable():
            lease = await self._store.acquire(_lease_of(record), self._holder, self._lease)
            if lease is None:
                return False
            row = await self._store.get(TABLE, record.info.id)
            await self._store.release(lease)
        latest = None if row is None else _decoded(record.info.id, row)
        return latest is not None and not latest.ready  # the row may have changed before the lease was acquired

    async def _renew(self, lease: Lease) -> None:
        held = True
        while held:
            await asyncio.sleep(self._lease / 3)
            try:
                held = await self._store.renew(lease, self._lease)
            except StoreError as error:
                log.warning("! %s: %s", lease.name, error)

    async def update(self, record: BackupRecord) -> None:
        """Update a backup's row. Raises `HawseError` (`cancelled`) if the backup was deleted."""
        with store_errors_unavailable():
            row = await self._store.get(TABLE, record.info.id)
        if row is None:
            raise HawseError("cancelled", "the backup was deleted in the meantime", admitted="yes")
        try:
            await self._put(record, row.version)
        except ConflictError:
            raise HawseError("cancelled", "the backup was deleted in the meantime", admitted="yes") from None

    async def get(self, id: str, caller: Principal) -> BackupRecord:
        """Return a complete backup. Raises `HawseError` (`not_found`) if it doesn't exist or the caller may not use
        it."""
        with store_errors_unavailable():
            row = await self._store.get(TABLE, id)
        record = None if row is None else _decoded(id, row)
        if record is None or not record.ready or self.expired(record) or not may_use(caller, record.info):
            raise HawseError("not_found", f"unknown backup {id!r}")
        return record

    async def all(self) -> Mapping[str, BackupRecord]:
        """Return all rows, keyed by id. Rows that cannot be decoded, for example from a newer version, are skipped."""
        with store_errors_unavailable():
            rows = await self._store.rows(TABLE)
        found = {id: _decoded(id, row) for id, row in rows.items()}
        return {id: record for id, record in found.items() if record is not None}

    async def remove(self, id: str) -> None:
        """Delete a row. It is not an error if it does not exist."""
        with store_errors_unavailable():
            while (row := await self._store.get(TABLE, id)) is not None:
                try:
                    await self._store.write(Delete(TABLE, id, row.version))
                except ConflictError:  # the row has changed in the meantime, so retry
                    continue
                return

    def expired(self, record: BackupRecord) -> bool:
        """Return whether a backup has expired."""
        return record.expires is not None and self.clock.until(record.expires) <= 0

    async def _put(self, record: BackupRecord, version: int) -> None:
        with store_errors_unavailable():
            await self._store.write(Put(TABLE, record.info.id, msgspec.json.encode(record), version))


def _lease_of(record: BackupRecord) -> str:
    return f"backup/{record.info.id}"


def _decoded(id: str, row: Row) -> BackupRecord | None:
    try:
        return msgspec.json.decode(row.value, type=BackupRecord)
    except msgspec.MsgspecError as error:
        log.warning("! the row of backup %s cannot be decoded: %s", id, error)
        return None


def may_use(caller: Principal, backup: BackupInfo) -> bool:
    """Return whether a caller may read, restore and delete a backup.

    The backup's creator and callers with the right to operate its sandbox may use it. Owning a sandbox with this id
    isn't enough, because ids can be reused.
    """
    own = backup.owner == caller.id
    return own or allows(in_sandbox(caller.rights, backup.sandbox, own=False), OPERATE)
