"""Reads and changes sandboxes' egress policies, both in the rows and in the proxies that apply them."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from hawse.api.egress import EgressLost, EgressRequest
from hawse_gateway.egress.control import Status
from hawse_gateway.providers.base import Egress, Provider
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.secret_grants import SecretGrants
from hawse_gateway.sandboxes.table import SandboxTable


class SandboxEgress:
    """The sandboxes' egress policies. All methods can raise `HawseError` (`not_found`, `unavailable`).

    Args:
        table: The sandboxes' rows.
        providers: The providers, keyed by name.
        grants: Decides which secrets each sandbox gets.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], grants: SecretGrants) -> None:
        self.grants = grants
        self._table = table
        self._providers = providers

    async def record(self, sandbox: str) -> SandboxRecord:
        """Return a sandbox's row."""
        found = (await self._table.existing(sandbox)).sandbox
        assert found is not None
        return found.value

    async def change(self, sandbox: str, change: Callable[[SandboxRecord], SandboxRecord]) -> SandboxRecord:
        """Change the policy in a sandbox's row, and apply it to the proxy if one is running. Return the row.

        Args:
            sandbox: The sandbox's id.
            change: Returns the row with the new policy. It can be called several times, and can raise `HawseError`.

        Raises:
            HawseError: `unavailable` if the row was changed but the proxy wasn't. The supervisor then retries.
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
                return rows.sandbox.value  # if they differ, another call has set a newer policy

    async def status(self, record: SandboxRecord) -> Status | None:
        """Return the status of a sandbox's proxy, or None if it has no proxy."""
        egress = self._of(record)
        return None if egress is None else await egress.status(record.unit)

    async def watch(
        self, record: SandboxRecord, *, allowed: bool
    ) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions made by a sandbox's proxy until the proxy ends. Yield nothing if there is no proxy.

        Args:
            record: The sandbox's row.
            allowed: Whether to include allowed requests.
        """
        if (egress := self._of(record)) is not None:
            async with aclosing(egress.watch(record.unit, allowed=allowed)) as batches:
                async for batch in batches:
                    yield batch

    def _of(self, record: SandboxRecord) -> Egress | None:
        provider = self._providers.get(record.provider)
        return None if provider is None else provider.egress
