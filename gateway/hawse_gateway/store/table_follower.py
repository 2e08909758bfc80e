"""The rows of a table in the memory of a gateway, also when another gateway changes them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from hawse_gateway.store.base import ANY_TABLE, Row, Store, StoreError

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # s until rows are read again after a failure


class TableFollower:
    """Reads the rows of a table at the beginning, and again when they may have changed.

    Args:
        store: The store.
        table: The name of the table.
        apply: Is called with the key and the row that was read, or None if there is none.
        known: Returns the keys of the rows that are known. They are checked after the store was not connected.
    """

    def __init__(
        self, store: Store, table: str, apply: Callable[[str, Row | None], None], known: Callable[[], Iterable[str]]
    ) -> None:
        self._store = store
        self._table = table
        self._apply = apply
        self._known = known
        self._changed: set[str] = set()  # keys of rows to read again
        self._all = False  # whether all rows have to be read again
        self._wake = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the rows and follow them. Raises `StoreError` if they cannot be read at the beginning."""
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
        """Read one row again. Raises `StoreError`."""
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
                    log.warning("! rows of %s cannot be read: %s", self._table, error)
                    await asyncio.sleep(RETRY)

    async def _read_next(self) -> None:
        """Read what may have changed. What cannot be read now stays noted."""
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
        # A row that this gateway has written meanwhile is not among them: it may exist.
        self._changed.update(key for key in self._known() if key not in rows)
        if self._changed:
            self._wake.set()
