"""Checks whether runtimes are alive. If a runtime is lost, its loss is recorded in the run's row, and the run is
ended."""

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

LAST_ANSWER: Final = 1.0  # seconds to wait for a response before a runtime is ended; a stuck one doesn't respond


class RuntimeCalls(Protocol):
    """Makes calls to runtimes."""

    async def activity(
        self, sandbox: str, sleep_after: float | None = None, *, timeout: float = ...
    ) -> RuntimeActivityResult | None:
        """Query a runtime's activity and previews. If the runtime has been idle for `sleep_after` seconds, it starts
        refusing calls.

        Return None if the runtime does not respond within `timeout` seconds.
        """
        ...

    async def configure(self, sandbox: str) -> None:
        """Send a running sandbox's configuration to its runtime. Raises `HawseError`."""
        ...


class RunChecks:
    """Checks the runtimes of all runs.

    Args:
        table: The sandboxes' rows.
        providers: The providers, keyed by name.
        driver: Ends runs whose runtime is lost.
        clock: The clock used for timestamps in rows.
    """

    def __init__(self, table: SandboxTable, providers: Mapping[str, Provider], driver: Driver, clock: Clock) -> None:
        self._table = table
        self._providers = providers
        self._driver = driver
        self._clock = clock

    async def check(self, row: Stored[Run]) -> Endpoint | None:
        """Return a run's endpoint. If the runtime is lost, record the loss in the row and return None.

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
        """Observe a run. A runtime with a different id counts as unreachable, because it doesn't belong to this run."""
        seen = await self._providers[run.provider].observe(run.unit, run.runtime)
        if seen.state == "running" and seen.runtime not in (None, run.runtime):
            return Observation(unit=run.unit, state="unreachable", reason="a different runtime is running in its place")
        return seen

    async def mark_lost(self, row: Stored[Run], seen: Observation) -> None:
        """Record that a run must be ended because its runtime has ended or is unreachable."""
        reason = seen.reason or "the runtime has ended"
        log.warning("! sandbox %s: %s", row.value.sandbox, reason, extra={"sandbox": row.value.sandbox})
        try:
            await self._table.write(row.put(records.stopping(row.value, self._clock.now(), reason)))
        except ConflictError:
            return  # the row has changed in the meantime
        self._driver.settle(row.value.sandbox)


async def previews_before_end(rows: Rows, calls: RuntimeCalls | None) -> list[str] | None:
    """Return the digests of the preview tokens for a sandbox that is about to stop, or None if unknown.

    Only the runtime knows its previews, so a link is opened if necessary. The digests are needed because visitors to a
    stopped sandbox get different errors for its previews and for unknown addresses.
    """
    if rows.live is None or rows.live.value.state != "running" or calls is None:
        return rows.sandbox.value.previews if rows.sandbox is not None else None
    answer = await calls.activity(rows.id, timeout=LAST_ANSWER)
    return None if answer is None else answer.previews
