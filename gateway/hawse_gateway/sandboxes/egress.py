"""The egress policies of sandboxes, as the methods see them: the policy in the row, and the proxy that applies it."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from hawse.api.egress import EgressLost, EgressRequest
from hawse_gateway.egress.control import Status
from hawse_gateway.providers.base import Egress, Provider
from hawse_gateway.sandboxes.grants import Grants
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.table import SandboxTable


class SandboxEgress:
    """The egress policies of sandboxes. All methods may raise `HawseError` `not_found` and `unavailable`.

    Args:
        table: The rows.
        providers: By name.
        grants: Decides which secrets sandboxes get.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], grants: Grants) -> None:
        self.grants = grants
        self._table = table
        self._providers = providers

    async def record(self, sandbox: str) -> SandboxRecord:
        """Return the row of a sandbox."""
        found = (await self._table.existing(sandbox)).sandbox
        assert found is not None
        return found.value

    async def change(self, sandbox: str, change: Callable[[SandboxRecord], SandboxRecord]) -> SandboxRecord:
        """Change the policy in a sandbox's row, and apply it to the running proxy. Return the row.

        Args:
            sandbox: The id of the sandbox.
            change: Returns the row with the new policy. It can be called several times, and can raise `HawseError`.

        Raises:
            HawseError: `unavailable` if the row was changed but the proxy was not. The supervisor tries again.
        """
        rows = await self._table.change(sandbox, change)
        while True:
            assert rows.sandbox is not None
            record = rows.sandbox.value
            egress = self._of(record)
            if egress is None or rows.live is None:
                return record
            await egress.apply(record.unit, self.grants.effective(record))
            rows = await self._table.existing(sandbox)
            assert rows.sandbox is not None
            if rows.sandbox.value.spec.egress == record.spec.egress:
                return rows.sandbox.value  # otherwise another call changed the policy: apply it again

    async def status(self, record: SandboxRecord) -> Status | None:
        """Return the status of a sandbox's proxy. None: the sandbox has no proxy."""
        egress = self._of(record)
        return None if egress is None else await egress.status(record.unit)

    async def watch(
        self, record: SandboxRecord, *, allowed: bool
    ) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions of a sandbox's proxy until it ends. Without a proxy, yield nothing.

        Args:
            record: The row of the sandbox.
            allowed: Whether to report allowed requests too.
        """
        if (egress := self._of(record)) is not None:
            async with aclosing(egress.watch(record.unit, allowed=allowed)) as batches:
                async for batch in batches:
                    yield batch

    def _of(self, record: SandboxRecord) -> Egress | None:
        provider = self._providers.get(record.provider)
        return None if provider is None else provider.egress
