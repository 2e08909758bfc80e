"""Looks at what a run says: whether its runtime is still there. One that has gone is ended, and its row says so."""

import logging
from collections.abc import Mapping

from hawse.wire import HawseError
from hawse_gateway.providers.base import Endpoint, Observation, Provider
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.records import Run, Stored
from hawse_gateway.sandboxes.table import SandboxTable
from hawse_gateway.store.base import ConflictError
from hawse_gateway.store.clock import Clock

log = logging.getLogger(__name__)


class RunChecks:
    """The checks of all runs.

    Args:
        table: The rows.
        providers: By name.
        driver: Ends what is left of a run.
        clock: The time that rows get.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], driver: Driver, clock: Clock) -> None:
        self._table = table
        self._providers = providers
        self._driver = driver
        self._clock = clock

    async def check(self, row: Stored[Run]) -> Endpoint | None:
        """Return the endpoint of a run whose runtime is there. None: it is not, and the row says so now.

        Raises:
            HawseError: `unavailable` if the runtime is there and does not proceed.
        """
        seen = await self.observe(row.value)
        if seen.state == "frozen":
            raise HawseError("unavailable", seen.reason or "the runtime does not respond")
        if seen.state == "running":
            return row.value.endpoint
        await self.mark_lost(row, seen)
        return None

    async def observe(self, run: Run) -> Observation:
        """Look at a run. A runtime of another start counts as unreachable: it does not belong to this row."""
        seen = await self._providers[run.provider].observe(run.unit, run.runtime)
        if seen.state == "running" and seen.runtime not in (None, run.runtime):
            return Observation(unit=run.unit, state="unreachable", reason="another start of it runs")
        return seen

    async def mark_lost(self, row: Stored[Run], seen: Observation) -> None:
        """Write that a run has to be ended: its runtime has ended, or cannot be reached any more."""
        reason = seen.reason or "the runtime has ended"
        log.warning("! sandbox %s: %s", row.value.sandbox, reason, extra={"sandbox": row.value.sandbox})
        try:
            await self._table.write(row.put(records.stopping(row.value, self._clock.now(), reason)))
        except ConflictError:
            return  # it has changed meanwhile
        self._driver.settle(row.value.sandbox)
