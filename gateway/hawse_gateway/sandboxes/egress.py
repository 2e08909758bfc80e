"""Reads and changes egress policies: the policy in a sandbox's row, and the proxy that applies the policy."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from hawse.api.egress import EgressLost, EgressRequest
from hawse_gateway.egress.control import Status
from hawse_gateway.providers.base import Egress, Provider
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.secret_grants import SecretGrants
from hawse_gateway.sandboxes.table import SandboxTable


class SandboxEgress:
    """The egress policies of sandboxes. All methods can raise `HawseError` (`not_found`, `unavailable`).

    Args:
        table: The rows.
        providers: The providers, by name.
        grants: Decides which secrets sandboxes get.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], grants: SecretGrants) -> None:
        self.grants = grants
        self._table = table
        self._providers = providers

    async def record(self, sandbox: str) -> SandboxRecord:
        """Return the row of a sandbox."""
        found = (await self._table.existing(sandbox)).sandbox
        assert found is not None
        return found.value

    async def change(self, sandbox: str, change: Callable[[SandboxRecord], SandboxRecord]) -> SandboxRecord:
        """Change the policy in a sandbox's row, and apply the policy to the running proxy. Return the row.

        Args:
            sandbox: The id of the sandbox.
            change: Returns the row with the new policy. Can be called several times. Can raise `HawseError`.

        Raises:
            HawseError: `unavailable` if the row was changed but the proxy was not. The supervisor retries.
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
                return rows.sandbox.value  # if another call has changed the policy, apply the new policy

    async def status(self, record: SandboxRecord) -> Status | None:
        """Return the status of a sandbox's proxy, or None without a proxy."""
        egress = self._of(record)
        return None if egress is None else await egress.status(record.unit)

    async def watch(
        self, record: SandboxRecord, *, allowed: bool
    ) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions of a sandbox's proxy until the proxy ends. Yield nothing without a proxy.

        Args:
            record: The row of the sandbox.
            allowed: Whether to include allowed requests.
        """
        if (egress := self._of(record)) is not None:
            async with aclosing(egress.watch(record.unit, allowed=allowed)) as batches:
                async for batch in batches:
                    yield batch

    def _of(self, record: SandboxRecord) -> Egress | None:
        provider = self._providers.get(record.provider)
        return None if provider is None else provider.egress
