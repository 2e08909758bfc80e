"""Limits the number and size of backups, per user and in total.

While a backup is being written, its row contains a reservation. The gateway writes the reservation first and then reads
all rows. If two gateways reserve space at the same time, at least one of them sees both reservations. Gateways that
share a store therefore never exceed a limit together.
"""

from collections.abc import Iterable
from typing import Final

from hawse.api.backups import BackupUsageResult
from hawse.api.rights import ALL
from hawse.wire import Principal
from hawse_gateway.backups.records import BackupRecord, BackupRecords
from hawse_gateway.backups.settings import OF_ALL
from hawse_gateway.limits.quotas import limit_exceeded

STEP_MIN: Final = 16 << 20  # minimum and maximum size of a reservation in bytes; each reservation costs a write
STEP_MAX: Final = 256 << 20
STEP_LAST: Final = 1 << 20  # minimum size of a reservation in bytes if little space is left
OF_EACH_USER: Final = 10 << 30  # default maximum size of a user's backups, in bytes
BACKUPS_OF_EACH_USER: Final = 1000  # default maximum number of backups per user


class BackupSpace:
    """The limits on backups. Users with all rights are subject only to the total.

    Args:
        records: The rows.
        total: The maximum size of all backups, in bytes.
        each: The maximum total size of each user's backups, in bytes.
        count: The maximum number of backups per user.
    """

    def __init__(
        self,
        records: BackupRecords,
        *,
        total: int = OF_ALL,
        each: int = OF_EACH_USER,
        count: int = BACKUPS_OF_EACH_USER,
    ) -> None:
        self._records = records
        self._total = total
        self._each = each
        self._count = count

    async def usage(self, caller: Principal) -> BackupUsageResult:
        """Return a user's usage and limits."""
        own = [record for record in (await self._records.all()).values() if record.info.owner == caller.id]
        unlimited = ALL in caller.rights
        return BackupUsageResult(
            backups=sum(record.ready for record in own),
            bytes=sum(record.used for record in own),
            max_backups=None if unlimited else self._count,
            max_bytes=self._total if unlimited else min(self._each, self._total),
        )

    async def check_count(self, caller: Principal, creating: int) -> None:
        """Raise `HawseError` (`limit_exceeded`) if a user has too many backups. `creating` is the number of backups in
        progress."""
        if ALL in caller.rights:
            return
        records = (await self._records.all()).values()
        count = sum(record.info.owner == caller.id and record.ready for record in records)
        if count + creating > self._count:
            raise limit_exceeded(f"the user {caller.id!r} has reached the limit of {self._count} backups: delete one")

    async def reserve(self, record: BackupRecord, caller: Principal, size: int) -> None:
        """Reserve space for the `size` bytes written to an archive so far, and for more bytes if available.

        Args:
            record: The backup's row, which is updated.
            caller: The user who is creating the backup.
            size: The number of bytes written so far.

        Raises:
            HawseError: `limit_exceeded`.
        """
        if size <= record.reserved:
            return
        room, full = await self._room(record, caller)
        if room >= size:
            spare = min(max(size, STEP_MIN), STEP_MAX, max((room - size) // 8, STEP_LAST))
            for wanted in (min(size + spare, room), size):
                record.reserved = wanted
                await self._records.update(record)
                room, full = await self._room(record, caller)
                if room >= wanted:  # concurrent reservations by other backups still leave enough
                    return
        raise limit_exceeded(f"{full}: delete some backups")

    async def _room(self, record: BackupRecord, caller: Principal) -> tuple[int, str]:
        """Return the number of bytes available for a backup, and the error message to use if it needs more."""
        others = [other for id, other in (await self._records.all()).items() if id != record.info.id]
        room = self._total - _sum(others), f"this gateway's backups would exceed {self._total} bytes"
        if ALL in caller.rights:
            return room
        own = self._each - _sum(other for other in others if other.info.owner == caller.id)
        return min(room, (own, f"the backups of {caller.id!r} would exceed {self._each} bytes"))


def _sum(records: Iterable[BackupRecord]) -> int:
    return sum(record.used for record in records)
