"""Keeps the sandboxes' owners in memory, so that calls can be checked without waiting for the store.

The duration of a lookup does not reveal whether a sandbox exists.
"""

import hashlib
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from hawse.wire import Principal
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import Row, Store
from hawse_gateway.store.table_follower import TableFollower

log = logging.getLogger(__name__)

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,23}")


def namespace(user: str) -> str:
    """Return the sandbox id prefix for a user whose permissions are limited to their own sandboxes.

    The prefix prevents these users from discovering other users' sandbox ids by trying to create sandboxes.
    """
    if _PLAIN.fullmatch(user):
        return f"{user}."
    return f"0-{hashlib.sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}."


class _Owned(msgspec.Struct):
    """The fields of a sandbox's row that this module reads."""

    owner: str = "owner"
    pool: bool = False


class Owners:
    """The owners of all sandboxes. Use it inside `async with owners.running():`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owners: dict[str, str] = {}  # the owners' ids, keyed by sandbox id
        self._follower = TableFollower(store, SANDBOXES, self._put, lambda: list(self._owners))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Owners"]:
        """Load the rows, and follow their changes. Raises `StoreError`."""
        async with self._follower.running():
            yield self

    def owns(self, principal: Principal, sandbox: str) -> bool:
        """Return whether a sandbox exists and the user owns it."""
        return self._owners.get(sandbox) == principal.id

    def count(self, user: str) -> int:
        """Return the number of sandboxes that a user owns."""
        return sum(owner == user for owner in self._owners.values())

    def note(self, sandbox: str, owner: str) -> None:
        """Record the owner of a sandbox that was just created."""
        self._owners[sandbox] = owner

    def _put(self, id: str, row: Row | None) -> None:
        found = None if row is None else msgspec.json.decode(row.value, type=_Owned)
        if found is None or found.pool:
            self._owners.pop(id, None)
        else:
            self._owners[id] = found.owner
