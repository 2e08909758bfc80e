"""Reads and replaces sandboxes' rows for operations, and converts store errors to `HawseError`."""

from collections.abc import Callable, Mapping

from hawse.wire import HawseError
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.records import AllRows, Rows, SandboxRecord, Stored
from hawse_gateway.store.base import ConflictError, Put, Store, store_errors_unavailable


class SandboxTable:
    """Reads and replaces rows. Methods raise `HawseError` (`unavailable`) if the store is unavailable."""

    def __init__(self, store: Store, rows: AllRows) -> None:
        self._store = store
        self._rows = rows

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

    async def read_all(self) -> Mapping[str, Rows]:
        """Return all sandboxes' rows, keyed by id, including pool members."""
        with store_errors_unavailable():
            return await self._rows.read()

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


async def read_previews(store: Store, sandbox: str) -> list[str] | None:
    """Return the digests of the preview tokens for a sandbox that is not running, or None if unknown.

    Raises:
        HawseError: `unavailable` if the store is unavailable.
    """
    with store_errors_unavailable():
        rows = await records.read(store, sandbox)
    return None if rows.sandbox is None else rows.sandbox.value.previews
