"""Measures how long ago a sandbox's previous runtime ended. Any calls sent since then can only have run in the current
runtime.

Gateways can have different clocks, so the time comes from the store if several gateways share the store.
"""

from typing import Final

import msgspec

from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.records import Rows, SandboxRecord
from hawse_gateway.store.base import Store, store_errors_unavailable
from hawse_gateway.store.clock import Clock, Moment

STORE_TIME: Final = "store"  # boot id used for times from the store's clock


class Vacancy:
    """Records when a sandbox's runtime ends, and measures how long ago that was."""

    def __init__(self, store: Store, clock: Clock) -> None:
        """Use the store's clock, or `clock` if no other gateway uses the store."""
        self._store = store
        self._clock = clock

    async def now(self) -> Moment:
        """Return the current moment. Raises `StoreError`."""
        seconds = await self._store.time()
        return self._clock.now() if seconds is None else Moment(seconds, STORE_TIME, seconds)

    async def begin(self, record: SandboxRecord, *, never: bool = False) -> SandboxRecord:
        """Return the row for a new sandbox, whose id may have been used by a sandbox that was deleted.

        Args:
            record: The sandbox's row.
            never: Whether no runtime with this id has ever existed.

        Raises:
            StoreError: The store is unavailable.
        """
        now = await self.now()
        since = msgspec.structs.replace(now, wall=0.0, uptime=0.0) if never else now
        return msgspec.structs.replace(record, vacant_since=since)

    async def seconds(self, sandbox: str) -> float:
        """Return the number of seconds since the sandbox's previous runtime ended. 0 if unknown.

        Raises:
            HawseError: `unavailable` if the store is unavailable.
        """
        with store_errors_unavailable():
            return await self._seconds(await records.read(self._store, sandbox))

    async def _seconds(self, rows: Rows) -> float:
        since = None if rows.sandbox is None else rows.sandbox.value.vacant_since
        if since is None:
            return 0.0
        now = await self.now()
        if since.boot == now.boot:
            return max(now.uptime - since.uptime, 0.0)
        # The machine was rebooted, or the row comes from another machine, so uptimes can't be compared. Wall clocks can
        # differ as well.
        return max(min(now.wall - since.wall, now.uptime), 0.0)


def vacated(record: SandboxRecord, now: Moment) -> SandboxRecord:
    """Return the row for a sandbox whose runtime is confirmed to have ended."""
    return msgspec.structs.replace(record, vacant_since=now)
