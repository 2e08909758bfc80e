"""Keeps an in-memory copy of a table up to date with other gateways' changes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final

from hawse_gateway.store.base import ANY_TABLE, PAGE, Row, Store, StoreError

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # seconds to wait before retrying to read rows


class _Round:
    """A read of all rows whose changes were reported before the read started. `error` is None once the read has
    succeeded."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.error: StoreError | None = StoreError("the gateway no longer follows the store")


class TableFollower:
    """Reads a table's rows at startup and after changes.

    Args:
        store: The store.
        table: The table's name.
        apply: Called with a key and its row, or with None if the row does not exist.
        known: Returns the keys in memory. After the connection to the store is lost, the rows of these keys are
            checked.
    """

    def __init__(
        self, store: Store, table: str, apply: Callable[[str, Row | None], None], known: Callable[[], Iterable[str]]
    ) -> None:
        self._store = store
        self._table = table
        self._apply = apply
        self._known = known
        self._changed: dict[str, None] = {}  # keys of the rows to reload, in the order of their changes
        self._all = False  # whether to reload all rows
        self._wake = asyncio.Event()
        self._reading: _Round | None = None
        self._next = _Round()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the rows, and then follow their changes. Raises `StoreError` if the first read fails."""
        stop = self._store.listen(self._note)
        try:
            self._changed |= await self._read_all()
            if self._changed:
                self._wake.set()
            async with asyncio.TaskGroup() as tasks:
                following = tasks.create_task(self._follow(), name=f"follow {self._table}")
                yield
                following.cancel()
        finally:
            stop()
            self._next.ended.set()

    async def read(self, key: str) -> None:
        """Reload a row. Raises `StoreError`."""
        self._apply(key, await self._store.get(self._table, key))

    async def current(self) -> None:
        """Return once all changes made before this call, by any gateway, have been applied. Raises `StoreError`."""
        await self._store.synced()
        awaited = self._next if self._all or self._changed else self._reading
        if awaited is not None:
            await awaited.ended.wait()
            if awaited.error is not None:
                raise StoreError(str(awaited.error))

    def reload(self) -> None:
        """Reload all rows, because changes may not have been reported."""
        self._all = True
        self._wake.set()

    def _note(self, table: str, key: str) -> None:
        if table == self._table:
            self._changed[key] = None
            self._wake.set()
        elif table == ANY_TABLE:
            self.reload()

    async def _follow(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._all or self._changed:
                try:
                    await self._read_round()
                except StoreError as error:
                    log.warning("! rows of %s are unreadable: %s", self._table, error)
                    await asyncio.sleep(RETRY)

    async def _read_round(self) -> None:
        """Reload rows that may have changed. If reloading fails, the next round retries it. Raises `StoreError`."""
        self._reading = round = self._next
        self._next = _Round()
        everything, self._all = self._all, False
        changed, self._changed = self._changed, {}
        try:
            if everything:
                changed |= await self._read_all()
                everything = False
            await self._read_changed(changed)
            round.error = None
        except StoreError as error:
            round.error = error
            self._all |= everything
            self._changed = changed | self._changed
            raise
        finally:
            self._reading = None
            round.ended.set()

    async def _read_changed(self, changed: dict[str, None]) -> None:
        """Reload rows, and remove them from `changed`. Raises `StoreError`."""
        while keys := list(islice(changed, PAGE)):
            rows = await self._store.get_many(self._table, keys)
            for key in keys:
                del changed[key]
                self._apply(key, rows.get(key))

    async def _read_all(self) -> dict[str, None]:
        """Reload all rows. Return the keys of rows that were missing, or written after they were read."""
        found: set[str] = set()
        async for page in self._store.pages(self._table):
            found |= page.keys()
            for key, row in page.items():
                self._apply(key, row)
        return {key: None for key in self._known() if key not in found}
