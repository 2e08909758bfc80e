"""Keeps an in-memory copy of a table up to date with other gateways' changes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from hawse_gateway.store.base import ANY_TABLE, Row, Store, StoreError

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # seconds to wait before retrying to read rows


class TableFollower:
    """Reads a table's rows at startup and after changes.

    Args:
        store: The store.
        table: The table's name.
        apply: Called with a key and its row, or with None if the row does not exist.
        known: Returns the keys in memory, which are checked after the connection to the store was lost.
    """

    def __init__(
        self, store: Store, table: str, apply: Callable[[str, Row | None], None], known: Callable[[], Iterable[str]]
    ) -> None:
        self._store = store
        self._table = table
        self._apply = apply
        self._known = known
        self._changed: set[str] = set()  # keys of the rows to reload
        self._all = False  # whether to reload all rows
        self._wake = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the rows, and then follow their changes. Raises `StoreError` if the first read fails."""
        stop = self._store.listen(self._note)
        try:
            await self._read_all()
            async with asyncio.TaskGroup() as tasks:
                following = tasks.create_task(self._follow(), name=f"follow {self._table}")
                yield
                following.cancel()
        finally:
            stop()

    async def read(self, key: str) -> None:
        """Reload a row. Raises `StoreError`."""
        self._apply(key, await self._store.get(self._table, key))

    def _note(self, table: str, key: str) -> None:
        if table == self._table:
            self._changed.add(key)
        elif table == ANY_TABLE:
            self._all = True
        else:
            return
        self._wake.set()

    async def _follow(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._all or self._changed:
                try:
                    await self._read_next()
                except StoreError as error:
                    log.warning("! rows of %s are unreadable: %s", self._table, error)
                    await asyncio.sleep(RETRY)

    async def _read_next(self) -> None:
        """Reload rows that may have changed. If this fails, retry later."""
        if self._all:
            self._all = False
            try:
                await self._read_all()
            except StoreError:
                self._all = True
                raise
        elif self._changed:
            key = self._changed.pop()
            try:
                await self.read(key)
            except StoreError:
                self._changed.add(key)
                raise

    async def _read_all(self) -> None:
        rows = await self._store.rows(self._table)
        for key, row in rows.items():
            self._apply(key, row)
        # This gateway may have written a row after reading `rows`, so look up each missing row.
        self._changed.update(key for key in self._known() if key not in rows)
        if self._changed:
            self._wake.set()
