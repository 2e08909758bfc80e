"""What the gateway knows about each backup: rows of its store, which several gateways may share."""

import logging
from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.store.base import ABSENT, ConflictError, Delete, Put, Row, Store, store_errors_unavailable
from gateway.store.clock import Clock, Moment
from hawse.api.backups import BackupInfo
from hawse.api.rights import OPERATE, allows, in_sandbox
from hawse.wire import HawseError, Principal

log = logging.getLogger(__name__)

TABLE: Final = "backups"
UNFINISHED_LIFETIME: Final = 86_400.0  # s after which an unfinished backup is that of a gateway that was killed


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
    """

    def __init__(self, store: Store, clock: Clock | None = None) -> None:
        self._store = store
        self.clock = clock or Clock()

    async def add(self, record: BackupRecord) -> None:
        await self._put(record, ABSENT)

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
        """Return whether its time is over, or its creation cannot end any more."""
        if not record.ready:
            return self.clock.until(record.begun) < -UNFINISHED_LIFETIME
        return record.expires is not None and self.clock.until(record.expires) <= 0

    async def _put(self, record: BackupRecord, version: int) -> None:
        with store_errors_unavailable():
            await self._store.write(Put(TABLE, record.info.id, msgspec.json.encode(record), version))


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
