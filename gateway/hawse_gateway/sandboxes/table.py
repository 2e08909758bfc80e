"""Reads and replaces sandboxes' rows for operations, and converts store errors to `HawseError`."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.overview.index import SandboxIndex, Scope
from hawse_gateway.sandboxes.records import Rows, SandboxRecord, Stored, has_labels
from hawse_gateway.store.base import ConflictError, Put, Store, store_errors_unavailable

PAGE_ROWS: Final = 32  # maximum number of sandboxes to read and describe before letting other tasks run


class SandboxTable:
    """Reads and replaces rows. Methods raise `HawseError` (`unavailable`) if the store is unavailable."""

    def __init__(self, store: Store, index: SandboxIndex) -> None:
        self._store = store
        self._index = index

    async def existing(self, sandbox: str) -> Rows:
        """Return a sandbox's rows. Raises `HawseError` (`not_found`)."""
        rows = await self.read(sandbox)
        if rows.sandbox is None or rows.sandbox.value.pool:
            raise HawseError("not_found", f"unknown sandbox {sandbox[:64]!r}")
        return rows

    async def read(self, sandbox: str) -> Rows:
        """Return the rows for a sandbox, which doesn't have to exist."""
        with store_errors_unavailable():
            return await records.read(self._store, sandbox)

    async def page(
        self, scope: Scope, labels: Mapping[str, str], after: str | None, limit: int
    ) -> tuple[list[Rows], str | None]:
        """Return the rows for one page of sandboxes, and the value of `after` for the next page.

        A sandbox that exists while all pages are read is on exactly one page. A sandbox that is created, deleted or
        changed in the meantime is on at most one page. See `SandboxIndex.page` for the arguments.
        """
        with store_errors_unavailable():
            await self._index.current()
            ids, after = self._index.page(scope, labels, after, limit)
            found = (await records.read_many(self._store, ids)).values()
        return [rows for rows in found if rows.visible and _matches(rows, scope, labels)], after

    async def all(self, scope: Scope) -> AsyncIterator[Rows]:
        """Yield the rows of all sandboxes in a scope."""
        after, complete = None, False
        while not complete:
            page, after = await self.page(scope, {}, after, PAGE_ROWS)
            for rows in page:
                yield rows
            complete = after is None

    async def write(self, change: Put) -> int:
        """Write a row, and return its version. Raises `ConflictError` if the row has changed since it was read."""
        with store_errors_unavailable():
            return await self._store.write(change)

    async def change(self, sandbox: str, change: Callable[[SandboxRecord], SandboxRecord]) -> Rows:
        """Replace a sandbox's row unless the sandbox is being deleted. Return the new rows.

        Args:
            sandbox: The sandbox's id.
            change: Returns the new row. It can be called several times, because the stored row can change in the
                meantime.

        Raises:
            HawseError: `not_found` if the sandbox does not exist or is being deleted. Errors raised by `change` are
                passed on.
        """
        while True:
            rows = await self.existing(sandbox)
            assert rows.sandbox is not None
            old = rows.sandbox.value
            new = change(old)
            if old == new:
                return rows
            if old.wanted == "deleted":
                raise HawseError("not_found", f"sandbox {sandbox!r} is being deleted")
            try:
                version = await self.write(rows.sandbox.put(new))
            except ConflictError:
                continue
            return Rows(Stored(new, version), rows.run)


def _matches(rows: Rows, scope: Scope, labels: Mapping[str, str]) -> bool:
    """Return whether a sandbox still belongs to a page. Its row can have changed after the page was found."""
    assert rows.sandbox is not None
    record = rows.sandbox.value
    return scope.includes(record.id, record.owner) and has_labels(record, labels)


async def read_previews(store: Store, sandbox: str) -> list[str] | None:
    """Return the digests of the preview tokens for a sandbox that is not running, or None if unknown.

    Raises:
        HawseError: `unavailable` if the store is unavailable.
    """
    with store_errors_unavailable():
        rows = await records.read(store, sandbox)
    return None if rows.sandbox is None else rows.sandbox.value.previews
