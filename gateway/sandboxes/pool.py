"""Sandboxes that are started in advance, so that a creation need not wait for a start.

A member is a sandbox without a client: it has rows like every other, and is driven and supervised like every other, but
no client sees it. A creation takes one by a single write: the row of the member is deleted, the row of the new sandbox
gets its unit, and the run gets the new id. Of two creations that want the same member, one write fails.
"""

import logging
import secrets
from collections.abc import Mapping

import msgspec

from gateway.sandboxes import records
from gateway.sandboxes.driver import Driver
from gateway.sandboxes.records import Rows, SandboxRecord
from gateway.sandboxes.requests import new_record
from gateway.store.base import ConflictError, Store
from gateway.store.clock import Clock
from hawse.api.sandboxes import SandboxCreate

log = logging.getLogger(__name__)


class Pool:
    """Keeps `size` members of one provider, with its default image, network and limits."""

    def __init__(self, store: Store, driver: Driver, *, provider: str, size: int, clock: Clock) -> None:
        """Create a pool, which is filled by `refill`.

        Args:
            store: The rows.
            driver: Starts the members.
            provider: The name of the provider.
            size: How many members wait. 0: none, and those of an earlier gateway are deleted.
            clock: Gives the time of their creation.
        """
        self._store = store
        self._driver = driver
        self._provider = provider
        self._size = size
        self._clock = clock

    async def take(self, record: SandboxRecord, rows: Mapping[str, Rows]) -> bool:
        """Let a new sandbox have a member that runs, instead of a unit of its own.

        Args:
            record: The row of the new sandbox, which is not written yet.
            rows: All rows.

        Returns:
            Whether it was written. If not, no member fits, or a sandbox with that id exists.

        Raises:
            StoreError: The store cannot be used.
        """
        for found in rows.values():
            if found.sandbox is None or found.live is None or not self._fits(found, record):
                continue
            member = found.sandbox.value
            adopted = msgspec.structs.replace(record, unit=member.unit, generation=member.generation, made=True)
            run = msgspec.structs.replace(found.live.value, sandbox=record.id)
            try:
                await self._store.write(found.sandbox.delete(), records.new(adopted), found.live.put(run))
            except ConflictError:
                continue  # another creation has taken it, or the id exists: then every attempt fails
            return True
        return False

    async def refill(self, rows: Mapping[str, Rows]) -> None:
        """Start missing members, and delete those that failed or are too many. Raises `StoreError`."""
        members = [found for found in rows.values() if found.sandbox is not None and found.sandbox.value.pool]
        kept = 0
        for found in members:
            assert found.sandbox is not None
            usable = found.sandbox.value.wanted == "running" and kept < self._size
            kept += usable
            if not usable and found.sandbox.value.wanted != "deleted":
                await self._delete(found)
        if any(found.sandbox is not None and found.sandbox.value.failure is not None for found in members):
            return  # not again before the next sweep
        for _ in range(self._size - kept):
            id = f"p-{secrets.token_hex(8)}"
            record = new_record(SandboxCreate(id=id, keep_alive=True), id, self._provider, self._clock.now(), id, 0.0)
            await self._store.write(records.new(msgspec.structs.replace(record, pool=True)))
            self._driver.settle(id)

    async def give_up(self, rows: Mapping[str, Rows]) -> list[str]:
        """Begin to delete all members, since a sandbox of a client needs their room.

        Returns:
            The ids of those of which something may run.
        """
        members = [found for found in rows.values() if found.sandbox is not None and found.sandbox.value.pool]
        for found in members:
            await self._delete(found)
        return [found.id for found in members if found.run is not None]

    def _fits(self, found: Rows, record: SandboxRecord) -> bool:
        assert found.sandbox is not None
        assert found.live is not None
        member = found.sandbox.value
        same = msgspec.structs.replace(record.spec, env={}) == member.spec
        running = member.wanted == "running" and found.live.value.state == "running"
        return member.pool and running and same and member.provider == record.provider

    async def _delete(self, found: Rows) -> None:
        assert found.sandbox is not None
        member = msgspec.structs.replace(found.sandbox.value, wanted="deleted")
        try:
            await self._store.write(found.sandbox.put(member))
        except ConflictError:
            return  # it was taken
        self._driver.settle(member.id)
