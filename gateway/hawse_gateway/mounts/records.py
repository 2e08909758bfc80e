"""Database rows for mounts in the store, including callers' credentials."""

import logging
from collections.abc import Mapping
from typing import Final

import msgspec

from hawse.api.mounts import MountCredentials, MountInfo
from hawse_gateway.store.base import ABSENT, ConflictError, Delete, Put, Row, Store, store_errors_unavailable

log = logging.getLogger(__name__)

TABLE: Final = "mounts"


class MountRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mount's row.

    Attributes:
        info: The mount's description, without its state.
        generation: The sandbox's generation. It prevents a later sandbox with the same id from inheriting the mount.
        credentials: Credentials passed by the caller. None if the bucket is named in the settings, or if the mount is
            an overlay.
        deleting: Whether the mount is being deleted.
        force: Whether to unmount it even if programs are using it.
        discard: Whether to delete it even if some files have not been uploaded.
    """

    info: MountInfo
    generation: str
    credentials: MountCredentials | None = None
    deleting: bool = False
    force: bool = False
    discard: bool = False


class MountRecords:
    """Reads and writes mount rows. Methods raise `HawseError` (`unavailable`).

    Args:
        store: The store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, record: MountRecord) -> None:
        with store_errors_unavailable():
            await self._store.write(Put(TABLE, record.info.id, msgspec.json.encode(record), ABSENT))

    async def note_deleting(self, id: str, *, force: bool, discard: bool) -> bool:
        """Mark a mount for deletion. Return False if it no longer exists."""
        while True:
            with store_errors_unavailable():
                row = await self._store.get(TABLE, id)
                record = None if row is None else _decoded(id, row)
                if row is None or record is None:
                    return False
                new = msgspec.structs.replace(
                    record, deleting=True, force=force or record.force, discard=discard or record.discard
                )
                try:
                    await self._store.write(Put(TABLE, id, msgspec.json.encode(new), row.version))
                    return True
                except ConflictError:
                    continue  # the row has changed, so retry

    async def get(self, id: str) -> MountRecord | None:
        with store_errors_unavailable():
            row = await self._store.get(TABLE, id)
        return None if row is None else _decoded(id, row)

    async def all(self) -> Mapping[str, MountRecord]:
        """Return all rows, keyed by id. Rows that cannot be decoded, for example from a newer version, are skipped."""
        with store_errors_unavailable():
            rows = await self._store.rows(TABLE)
        found = {id: _decoded(id, row) for id, row in rows.items()}
        return {id: record for id, record in found.items() if record is not None}

    async def backups(self) -> set[str]:
        """Return the ids of all backups used by overlays."""
        return {record.info.backup for record in (await self.all()).values() if record.info.backup is not None}

    async def of(self, sandbox: str) -> list[MountRecord]:
        """Return a sandbox's mounts, sorted by path."""
        found = [record for record in (await self.all()).values() if record.info.sandbox == sandbox]
        return sorted(found, key=lambda record: record.info.path)

    async def remove(self, id: str) -> None:
        """Remove a row. Has no effect if it does not exist."""
        while True:
            with store_errors_unavailable():
                row = await self._store.get(TABLE, id)
                if row is None:
                    return
                try:
                    await self._store.write(Delete(TABLE, id, row.version))
                    return
                except ConflictError:
                    continue  # the row has changed, so retry


def _decoded(id: str, row: Row) -> MountRecord | None:
    try:
        return msgspec.json.decode(row.value, type=MountRecord)
    except msgspec.MsgspecError as error:
        log.warning("! the row of mount %s cannot be decoded: %s", id, error)
        return None
