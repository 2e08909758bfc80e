"""What the gateway knows about each backup: rows of its store, which several gateways may share."""

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
LEASE: Final = 60.0  # s after which an unfinished backup of a gateway that was killed is deleted by another one


class BackupRecord(msgspec.Struct, kw_only=True):
    """A row.

    Attributes:
        info: What is known about it.
        begun: When its creation began.
        expires: When it is deleted; None: never.
        ready: Whether its archive is complete.
        reserved: Bytes that its archive may have while it is written.
    """

    info: BackupInfo
    begun: Moment
    expires: Moment | None = None
    ready: bool = False
    reserved: int = 0

    @property
    def used(self) -> int:
        """Bytes of the store that count for it."""
        return self.info.size if self.ready else self.reserved


class BackupRecords:
    """The rows. Methods raise `HawseError` `unavailable` if the store cannot be used.

    Args:
        store: The store.
        clock: Measures until when backups are kept. None: that of this machine.
        lease: Seconds for which a gateway that creates a backup says that it still does.
    """

    def __init__(self, store: Store, clock: Clock | None = None, *, lease: float = LEASE) -> None:
        self._store = store
        self._holder = secrets.token_hex(8)  # names this gateway in leases
        self._lease = lease
        self.clock = clock or Clock()

    async def add(self, record: BackupRecord) -> None:
        await self._put(record, ABSENT)

    @asynccontextmanager
    async def creating(self, record: BackupRecord) -> AsyncIterator[None]:
        """Add the row of a backup, which this gateway creates during the block: see `abandoned`."""
        with store_errors_unavailable():
            lease = await self._store.acquire(_lease_of(record), self._holder, self._lease)
        if lease is None:
            raise HawseError("unavailable", f"another gateway creates the backup {record.info.id!r}")
        failure: BaseException | None = None
        async with asyncio.TaskGroup() as tasks:
            renewing = tasks.create_task(self._renew(lease), name=lease.name)
            try:
                await self.add(record)
                yield
            except BaseException as error:  # it is raised outside of the group, which would wrap it
                failure = error
            renewing.cancel()
        with suppress(StoreError):  # it expires
            await self._store.release(lease)
        if failure is not None:
            raise failure

    async def abandoned(self, record: BackupRecord) -> bool:
        """Return whether the gateway that was creating a backup has ended before it was complete.

        The leases of a gateway that was the only one end when it is started again, those of others after a time.
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
        return latest is not None and not latest.ready  # it may have become complete meanwhile

    async def _renew(self, lease: Lease) -> None:
        held = True
        while held:
            await asyncio.sleep(self._lease / 3)
            try:
                held = await self._store.renew(lease, self._lease)
            except StoreError as error:
                log.warning("! %s: %s", lease.name, error)

    async def update(self, record: BackupRecord) -> None:
        """Write a record that was added before. Raises `cancelled` if it was deleted meanwhile."""
        with store_errors_unavailable():
            row = await self._store.get(TABLE, record.info.id)
        if row is None:
            raise HawseError("cancelled", "the backup was deleted meanwhile", admitted="yes")
        try:
            await self._put(record, row.version)
        except ConflictError:
            raise HawseError("cancelled", "the backup was deleted meanwhile", admitted="yes") from None

    async def get(self, id: str, caller: Principal) -> BackupRecord:
        """Return a backup that is complete. One that the caller may not use does not exist for it: `not_found`."""
        with store_errors_unavailable():
            row = await self._store.get(TABLE, id)
        record = None if row is None else _decoded(id, row)
        if record is None or not record.ready or self.expired(record) or not may_use(caller, record.info):
            raise HawseError("not_found", f"unknown backup {id!r}")
        return record

    async def all(self) -> Mapping[str, BackupRecord]:
        """Return all rows, by id. One that cannot be decoded, such as that of a later version, is passed over."""
        with store_errors_unavailable():
            rows = await self._store.rows(TABLE)
        found = {id: _decoded(id, row) for id, row in rows.items()}
        return {id: record for id, record in found.items() if record is not None}

    async def remove(self, id: str) -> None:
        """Delete a row. A missing one is not an error."""
        with store_errors_unavailable():
            while (row := await self._store.get(TABLE, id)) is not None:
                try:
                    await self._store.write(Delete(TABLE, id, row.version))
                except ConflictError:  # it was written meanwhile
                    continue
                return

    def expired(self, record: BackupRecord) -> bool:
        """Return whether its time is over."""
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

    It may if it has made it, or if it may operate the sandbox of the backup. That a sandbox with this id belongs to it
    is not enough: it may be a later one.
    """
    own = backup.owner == caller.id
    return own or allows(in_sandbox(caller.rights, backup.sandbox, own=False), OPERATE)
