"""Checks whether the runtime of a run is still alive. A lost runtime is recorded in the row, and the run is ended."""

import logging
from collections.abc import Mapping
from typing import Final, Protocol

from hawse.api.runtime import RuntimeActivityResult
from hawse.wire import HawseError
from hawse_gateway.providers.base import Endpoint, Observation, Provider
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.records import Rows, Run, Stored
from hawse_gateway.sandboxes.table import SandboxTable
from hawse_gateway.store.base import ConflictError
from hawse_gateway.store.clock import Clock

log = logging.getLogger(__name__)

LAST_ANSWER: Final = 1.0  # s for the last answer of a runtime: a hung runtime must not delay its own end


class RuntimeCalls(Protocol):
    """Calls to runtimes."""

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = ...
    ) -> RuntimeActivityResult | None:
        """Ask a runtime for its activity and its previews. If it has been idle for `sleep_after` seconds, it refuses
        calls from then on.

        Returns None if it does not answer within `timeout` seconds.
        """
        ...

    async def configure(self, sandbox: str) -> None:
        """Send the configuration of a running sandbox to its runtime. Raises `HawseError`."""
        ...


class RunChecks:
    """The checks of all runs.

    Args:
        table: The rows.
        providers: By name.
        driver: Ends the remains of a run.
        clock: The source of timestamps in rows.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], driver: Driver, clock: Clock) -> None:
        self._table = table
        self._providers = providers
        self._driver = driver
        self._clock = clock

    async def check(self, row: Stored[Run]) -> Endpoint | None:
        """Return the endpoint of a run whose runtime is alive. None: it is lost, which is now recorded in the row.

        Raises:
            HawseError: `unavailable` if the runtime is alive but stuck.
        """
        seen = await self.observe(row.value)
        if seen.state == "frozen":
            raise HawseError("unavailable", seen.reason or "the runtime does not respond")
        if seen.state == "running":
            return row.value.endpoint
        await self.mark_lost(row, seen)
        return None

    async def observe(self, run: Run) -> Observation:
        """Observe a run. The runtime of another start counts as unreachable, since it does not belong to this row."""
        seen = await self._providers[run.provider].observe(run.unit, run.runtime)
        if seen.state == "running" and seen.runtime not in (None, run.runtime):
            return Observation(unit=run.unit, state="unreachable", reason="another start of it runs")
        return seen

    async def mark_lost(self, row: Stored[Run], seen: Observation) -> None:
        """Record that a run must be ended, because its runtime has ended or is unreachable."""
        reason = seen.reason or "the runtime has ended"
        log.warning("! sandbox %s: %s", row.value.sandbox, reason, extra={"sandbox": row.value.sandbox})
        try:
            await self._table.write(row.put(records.stopping(row.value, self._clock.now(), reason)))
        except ConflictError:
            return  # it has changed in the meantime
        self._driver.settle(row.value.sandbox)


async def previews_before_end(rows: Rows, calls: RuntimeCalls | None) -> list[str] | None:
    """Return the digests of the preview tokens of a sandbox that is about to stop; None if they are unknown.

    Without a link, one is opened: only the runtime knows its previews, and visitors of a stopped sandbox get different
    errors for these and other addresses. Its mounts are not created for this, since a running sandbox has them anyway.
    """
    if rows.live is None or rows.live.value.state != "running" or calls is None:
        return rows.sandbox.value.previews if rows.sandbox is not None else None
    answer = await calls.activity(rows.id, timeout=LAST_ANSWER)
    return None if answer is None else answer.previews
