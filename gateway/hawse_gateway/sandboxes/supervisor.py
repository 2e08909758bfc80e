"""Finds sandboxes that have failed or that need attention, and passes them to the driver.

The supervisor compares the rows with the providers' units to find rows whose processes are gone, and processes without
a row. Only one gateway supervises at a time. All decisions are based on stored state, not on memory, so the gateway can
be killed at any time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from hawse.api.egress import EgressPolicy
from hawse.wire import HawseError
from hawse_gateway.providers.base import Observation, Provider, SandboxSpec, TcpAddress
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.pool import MEMBER, Pool
from hawse_gateway.sandboxes.records import AllRows, Rows, Run, SandboxRecord, Wanted
from hawse_gateway.sandboxes.run_checks import RuntimeCalls
from hawse_gateway.sandboxes.steps import Step, next_step
from hawse_gateway.sandboxes.vacancy import Vacancy
from hawse_gateway.store.base import Change, ConflictError, Put, Store, StoreError, store_errors_unavailable
from hawse_gateway.store.clock import Clock, Moment

log = logging.getLogger(__name__)

SWEEP: Final = 5.0  # seconds between comparisons
LEASE_MARGIN: Final = 15.0  # additional seconds before another gateway takes over
ORPHAN_GRACE: Final = 30.0  # number of seconds that a unit can run without a row, because its row may be written late
AFTER_LOSS: Final[Mapping[Wanted, Wanted]] = {"running": "sleeping", "paused": "stopped"}  # if the runtime is lost
ADOPTED: Final = "adopted"  # in table `meta`, the key of a row that exists once all units have rows


class Supervisor:
    """Supervises all sandboxes in a store."""

    def __init__(
        self,
        store: Store,
        providers: Mapping[str, Provider],
        driver: Driver,
        *,
        rows: AllRows,
        clock: Clock,
        holder: str,
        calls: Callable[[], RuntimeCalls | None] = lambda: None,
        interval: float = SWEEP,
        pool: Pool | None = None,
        begin: Callable[[], Awaitable[None]] | None = None,
        policy: Callable[[SandboxRecord], EgressPolicy] | None = None,
    ) -> None:
        """Create an idle supervisor. `run` starts it.

        Args:
            store: The store with the sandboxes' rows.
            providers: The providers, keyed by name.
            driver: Performs the resulting steps.
            rows: Reads all sandboxes' rows.
            clock: The clock used for grace periods.
            holder: The name that this gateway uses in leases.
            calls: Returns an object that calls runtimes. If it returns None, sandboxes never sleep.
            interval: Seconds between comparisons.
            pool: The pool. None disables the pool.
            begin: Writes the rows that every store needs. Called if the store was emptied.
            policy: Returns a sandbox's egress policy if its network is filtered. None disables updates to proxies.
        """
        self._store = store
        self._providers = providers
        self._driver = driver
        self._rows = rows
        self._clock = clock
        self._holder = holder
        self._calls = calls
        self._interval = interval
        self._pool = pool
        self._begin = begin
        self._policy = policy
        self._woken = asyncio.Event()
        self._sweeping = asyncio.Lock()
        self._asked: dict[str, Moment] = {}  # the earliest time when a sandbox can go to sleep, keyed by runtime id
        self._orphans: dict[tuple[str, str], Moment] = {}  # when an orphan was first seen, keyed by provider and unit

    async def adopt(self) -> bool:
        """If the store is empty, write rows for units left from an earlier version or from a store that was lost.

        A running unit keeps running if the provider knows its endpoint. Otherwise, it is ended. Pool members without
        persistent files are deleted, because only the store knew whether a sandbox had claimed them.

        Returns:
            Whether the store was empty.

        Raises:
            HawseError: A provider can't list its units.
            StoreError: The store is unavailable.
        """
        if await self._store.get("meta", ADOPTED) is not None:
            return False
        puts = [Put("meta", ADOPTED, b"true")]
        units = {name: await provider.discover() for name, provider in self._providers.items()}
        rows = await self._rows.read()  # read after listing the units, so that new units already have rows
        known = {found.sandbox.value.unit for found in rows.values() if found.sandbox is not None}
        known |= rows.keys()
        for name, found in units.items():
            for seen in found:
                if seen.unit not in known:
                    puts += [records.new(value) for value in self._adopted(name, seen)]
        try:
            await self._store.write(*puts)
        except ConflictError:
            return False  # another gateway has written some or all of these rows; the next sweep retries
        return True

    async def has_lost_rows(self) -> bool:
        """Return whether the store was emptied and the units therefore have no rows. Raises `HawseError`
        (`unavailable`)."""
        with store_errors_unavailable():
            return await self._store.get("meta", ADOPTED) is None

    def _adopted(self, provider: str, seen: Observation) -> list[SandboxRecord | Run]:
        now = self._clock.now()
        # A runtime at a TCP address requires a token, which was only kept in the store.
        lost = seen.endpoint is None or (isinstance(seen.endpoint.address, TcpAddress) and seen.endpoint.token is None)
        wanted: Wanted = "sleeping" if seen.gone or lost else "running"
        if wanted == "sleeping" and not seen.keeps and seen.unit.startswith(MEMBER):
            wanted = "deleted"
        record = SandboxRecord(
            id=seen.unit,
            unit=seen.unit,
            provider=provider,
            spec=SandboxSpec(),
            wanted=wanted,
            generation=ADOPTED,
            created=now,
            made=True,
        )
        if seen.gone:
            return [record]
        run = Run(
            unit=seen.unit,
            sandbox=seen.unit,
            generation=ADOPTED,
            provider=provider,
            runtime=seen.runtime or "",
            state="stopping" if lost else "running",
            since=now,
            isolation=seen.isolation,
        )
        return [record, run if lost or seen.endpoint is None else run.at(seen.endpoint)]

    async def run(self) -> None:
        """Compare the rows with the units periodically, unless another gateway does so."""
        while True:
            try:
                lease = await self._store.acquire("supervisor", self._holder, self._interval + LEASE_MARGIN)
                held = lease is not None
                while lease is not None and held:
                    await self.sweep()
                    self._woken.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._interval):
                            await self._woken.wait()
                    held = await self._store.renew(lease, self._interval + LEASE_MARGIN)
            except StoreError as error:
                log.warning("! supervisor: %s", error)
            await asyncio.sleep(self._interval)

    def wake(self) -> None:
        """Trigger a comparison because the pool has lost a member."""
        self._woken.set()

    async def sweep(self) -> None:
        """Compare the rows with the providers' units, and trigger any steps needed. Raises `StoreError`."""
        async with self._sweeping:
            await self._compare()

    async def _compare(self) -> None:
        if await self._store.get("meta", ADOPTED) is None:
            log.warning("! the store is empty: sandboxes that exist get rows again")
            try:
                await self.adopt()
            except HawseError as error:  # without the list of units, missing rows mean nothing
                log.warning("! %s", error)
                return
            if self._begin is not None:
                await self._begin()
        seen: dict[str, dict[str, Observation]] = {}
        for name, provider in self._providers.items():
            try:
                seen[name] = {found.unit: found for found in await provider.discover()}
            except HawseError as error:  # if the list is incomplete, missing units mean nothing
                log.warning("! provider %s: %s", name, error)
        rows = await self._rows.read()  # read after listing the units, so that new units don't look like orphans
        for id, found in rows.items():
            if await self._expire(found) or next_step(found) is not Step.NONE:
                self._driver.settle(id)
            elif found.live is not None and await self._alive(found, seen):
                await self._sleep_if_idle(found)
        running = {found.live.value.runtime for found in rows.values() if found.live is not None}
        self._asked = {runtime: due for runtime, due in self._asked.items() if runtime in running}
        self._want_policies(rows)
        await self._end_orphans(rows, seen)
        if self._pool is not None:
            await self._pool.refill(rows)

    def _want_policies(self, rows: Mapping[str, Rows]) -> None:
        """Pass running sandboxes' egress policies to the providers."""
        if self._policy is None:
            return
        wanted: dict[str, dict[str, EgressPolicy]] = {}
        for found in rows.values():
            if found.sandbox is not None and found.live is not None and found.live.value.state == "running":
                record = found.sandbox.value
                if record.spec.network == "filtered":
                    wanted.setdefault(record.provider, {})[record.unit] = self._policy(record)
        for name, provider in self._providers.items():
            if provider.egress is not None:
                provider.egress.want(wanted.get(name, {}))

    async def _expire(self, rows: Rows) -> bool:
        """Delete a sandbox if it has expired. Return whether it was marked for deletion."""
        if rows.sandbox is None or rows.sandbox.value.wanted == "deleted" or rows.sandbox.value.expires is None:
            return False
        if self._clock.until(rows.sandbox.value.expires) > 0:
            return False
        log.info("= sandbox %s: the lifetime has expired", rows.id, extra={"sandbox": rows.id})
        return await self._want(rows, "deleted", "the lifetime has expired")

    async def _alive(self, rows: Rows, seen: Mapping[str, Mapping[str, Observation]]) -> bool:
        """Return whether a run's runtime is alive and not suspended. End the run if the runtime is gone."""
        assert rows.run is not None
        run = rows.run.value
        if run.provider not in seen:
            return False  # unknown
        found = seen[run.provider].get(run.unit)
        if found is not None and not found.gone and found.state != "unreachable":
            return found.state == "running"
        try:
            # Observe the unit once more, because the list of units can be older than the row.
            now = await self._providers[run.provider].observe(run.unit, run.runtime)
        except HawseError:
            return False
        if not now.gone and now.state != "unreachable":
            return now.state == "running"
        reason = now.reason or "the runtime has ended"
        log.warning("! sandbox %s: %s", run.sandbox, reason, extra={"sandbox": run.sandbox})
        changes: list[Change] = [rows.run.put(records.stopping(run, self._clock.now(), reason))]
        if rows.sandbox is not None and rows.sandbox.value.wanted in AFTER_LOSS:
            wanted = AFTER_LOSS[rows.sandbox.value.wanted]
            changes.append(rows.sandbox.put(msgspec.structs.replace(rows.sandbox.value, wanted=wanted, reason=reason)))
        try:
            await self._store.write(*changes)
        except ConflictError:
            return False
        self._driver.settle(run.sandbox)
        return False

    async def _sleep_if_idle(self, rows: Rows) -> None:
        """Put a sandbox to sleep if it has been idle for its idle timeout.

        The runtime makes the decision, because only the runtime sees calls from all gateways. It then refuses further
        calls.
        """
        assert rows.sandbox is not None
        assert rows.live is not None
        record, run, calls = rows.sandbox.value, rows.live.value, self._calls()
        if record.idle_timeout is None or calls is None or record.wanted != "running":
            return
        due = self._asked.setdefault(run.runtime, run.since.after(record.idle_timeout))
        # If the wait is longer than the timeout, it must have been set by a gateway whose clock was ahead.
        if 0 < self._clock.until(due) <= record.idle_timeout:
            return
        answer = await calls.activity(record.id, record.idle_timeout)
        if answer is None:
            return
        self._asked[run.runtime] = self._clock.now().after(max(record.idle_timeout - answer.idle, 1.0))
        if answer.asleep:
            log.info("= sandbox %s: idle for %.0f s", record.id, answer.idle, extra={"sandbox": record.id})
            run = msgspec.structs.replace(run, refuses_since=await Vacancy(self._store, self._clock).now())
            ending = rows.live.put(records.stopping(run, self._clock.now(), "idle"))
            record = msgspec.structs.replace(record, wanted="sleeping", reason="idle", previews=answer.previews)
            sleeping = rows.sandbox.put(record)
            try:
                await self._store.write(ending, sleeping)
            except ConflictError:  # the row has changed: the sandbox is being restarted
                await self._store.write(ending)
            self._driver.settle(record.id)

    async def _want(self, rows: Rows, wanted: Wanted, reason: str) -> bool:
        """Write a sandbox's desired state unless its row has changed. Return whether it was written."""
        assert rows.sandbox is not None
        try:
            record = msgspec.structs.replace(rows.sandbox.value, wanted=wanted, reason=reason)
            await self._store.write(rows.sandbox.put(record))
        except ConflictError:
            return False
        return True

    async def _end_orphans(self, rows: Mapping[str, Rows], seen: Mapping[str, Mapping[str, Observation]]) -> None:
        """End units that have been running for `ORPHAN_GRACE` without a run in the store. Their files are kept.

        A run in the state `stopping` is written for each orphan. The driver then ends the orphan like any other run,
        and doesn't start the unit until it has ended.
        """
        known = {(found.run.value.provider, found.run.value.unit) for found in rows.values() if found.run is not None}
        orphans = {
            (provider, unit): found
            for provider, units in seen.items()
            for unit, found in units.items()
            if not found.gone and (provider, unit) not in known
        }
        self._orphans = {key: self._orphans.get(key) or self._clock.now() for key in orphans}
        owners = {found.sandbox.value.unit: id for id, found in rows.items() if found.sandbox is not None}
        for (provider, unit), since in self._orphans.items():
            if self._clock.until(since.after(ORPHAN_GRACE)) > 0:
                continue
            log.warning("! unit %s of %s runs without a row and is ended", unit, provider)
            run = Run(
                unit=unit,
                sandbox=owners.get(unit, unit),
                generation="",
                provider=provider,
                runtime=orphans[provider, unit].runtime or "",
                state="stopping",
                since=self._clock.now(),
                reason="the unit has no row in the store",
            )
            try:
                await self._store.write(records.new(run))
            except ConflictError:
                continue  # the unit has been started in the meantime
            self._driver.settle(run.sandbox)
