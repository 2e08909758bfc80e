"""Which user owns which sandbox: kept in memory, so that each call is checked without waiting for the store.

The look-up takes the same time for a sandbox of another user as for one that does not exist.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from gateway.sandboxes.records import SANDBOXES
from gateway.store.base import Row, Store, StoreError
from hawse.wire import Principal

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # s until a row is read again after a failure
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")


def namespace(user: str) -> str:
    """Return what the ids of the sandboxes of a user begin with who has rights in the own sandboxes only.

    So no such user can learn, by creating a sandbox, that another user has one with the same id.
    """
    if _PLAIN.fullmatch(user):
        return f"{user}."
    return f"0-{hashlib.sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}."


class _Owned(msgspec.Struct):
    """What is read of the row of a sandbox."""

    owner: str = "owner"
    pool: bool = False


class Owners:
    """The owners of all sandboxes. Use it in `async with owners.running():`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owners: dict[str, str] = {}  # by the id of the sandbox
        self._changed: dict[str, None] = {}  # ids of rows to read again
        self._wake = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Owners"]:
        """Load the rows and follow them. Raises `StoreError`."""
        stop = self._store.listen(self._heard)
        try:
            for id, row in (await self._store.rows(SANDBOXES)).items():
                self._put(id, row)
            async with asyncio.TaskGroup() as tasks:
                following = tasks.create_task(self._follow(), name="follow owners")
                yield self
                following.cancel()
        finally:
            stop()

    def owns(self, principal: Principal, sandbox: str) -> bool:
        """Return whether a sandbox exists and belongs to the user."""
        return self._owners.get(sandbox) == principal.id

    def count(self, user: str) -> int:
        """Return the number of sandboxes that belong to a user."""
        return sum(owner == user for owner in self._owners.values())

    def note(self, sandbox: str, owner: str) -> None:
        """Note a sandbox that was created just now."""
        self._owners[sandbox] = owner

    def _put(self, id: str, row: Row | None) -> None:
        found = None if row is None else msgspec.json.decode(row.value, type=_Owned)
        if found is None or found.pool:
            self._owners.pop(id, None)
        else:
            self._owners[id] = found.owner

    def _heard(self, table: str, key: str) -> None:
        if table == SANDBOXES:
            self._changed[key] = None
            self._wake.set()

    async def _follow(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._changed:
                id = next(iter(self._changed))
                del self._changed[id]
                try:
                    self._put(id, await self._store.get(SANDBOXES, id))
                except StoreError as error:
                    log.warning("! the owner of sandbox %s cannot be read: %s", id, error)
                    self._changed[id] = None
                    await asyncio.sleep(RETRY)
