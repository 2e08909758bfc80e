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
from hawse_gateway.core.turns import concurrently, turns
from hawse_gateway.providers.base import Observation, Provider, SandboxSpec, TcpAddress
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.overview.agenda import Agenda
from hawse_gateway.sandboxes.overview.index import ADOPTED, SandboxIndex
from hawse_gateway.sandboxes.pool import MEMBER, Pool
from hawse_gateway.sandboxes.records import Rows, Run, SandboxRecord, Wanted
from hawse_gateway.sandboxes.run_checks import RuntimeCalls
from hawse_gateway.sandboxes.table import PAGE_ROWS
from hawse_gateway.sandboxes.vacancy import Vacancy
from hawse_gateway.store.base import Change, ConflictError, Lease, Put, Store, StoreError, store_errors_unavailable
from hawse_gateway.store.clock import Clock, Moment

log = logging.getLogger(__name__)

SWEEP: Final = 5.0  # seconds between sweeps
UNANSWERED: Final = 30.0  # seconds before a runtime that did not respond is queried again
LEASE_MARGIN: Final = 15.0  # seconds added to the lease before another gateway takes over
ORPHAN_GRACE: Final = 30.0  # seconds that a unit can run without a row, because the row may be written late
# The desired state after a runtime is lost, keyed by the previous desired state.
AFTER_LOSS: Final[Mapping[Wanted, Wanted]] = {"running": "sleeping", "paused": "stopped"}
QUERIED: Final = 16  # maximum number of runtimes to query concurrently
COMPARED: Final = 2000  # maximum number of units to compare per second on average; 10,000 or fewer in each sweep

Seen = Mapping[str, Mapping[str, Observation]]  # observations keyed by provider and unit


class Supervisor:
    """Supervises all sandboxes in a store."""

    def __init__(
        self,
        store: Store,
        providers: Mapping[str, Provider],
        driver: Driver,
        *,
        index: SandboxIndex,
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
            index: Finds the sandboxes that need attention.
            clock: The clock used for grace periods.
            holder: The name that this gateway uses in leases.
            calls: Returns an object that calls runtimes. If it returns None, sandboxes never sleep.
            interval: Seconds between sweeps.
            pool: The pool. None disables the pool.
            begin: Writes the rows that every store must contain. Called if the store was emptied.
            policy: Returns a sandbox's egress policy if its network is filtered. None disables updates to proxies.
        """
        self._store = store
        self._providers = providers
        self._driver = driver
        self._index = index
        self._agenda = Agenda(index, clock)
        self._clock = clock
        self._holder = holder
        self._calls = calls
        self._interval = interval
        self._pool = pool
        self._begin = begin
        self._policy = policy
        self._woken = asyncio.Event()
        self._sweeping = asyncio.Lock()
        self._policies: dict[str, EgressPolicy | None] = {}  # policies, keyed by sandbox id; None while being read
        index.listen(self._forget_policy)
        self._compare_at = clock.now()
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
        self._index.reload()  # done after listing the units, so that the rows of all listed units are known
        await self._index.current(runs=True)
        for name, found in units.items():
            for seen in found:
                if not self._index.is_used(seen.unit):
                    puts += [records.new(value) for value in self._adopted(name, seen)]
        try:
            await self._store.write(*puts)
        except ConflictError:
            return False  # another gateway has written some of these rows; the next sweep retries
        return True

    async def has_lost_rows(self) -> bool:
        """Return whether the store was emptied and the units therefore have no rows. Raises `HawseError`
        (`unavailable`)."""
        with store_errors_unavailable():
            return await self._store.get("meta", ADOPTED) is None

    def _adopted(self, provider: str, seen: Observation) -> list[SandboxRecord | Run]:
        now = self._clock.now()
        # A runtime at a TCP address requires a token, which has been lost with the store.
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
        """Compare the rows with the units periodically, unless another gateway is doing so."""
        while True:
            try:
                lease = await self._store.acquire("supervisor", self._holder, self._interval + LEASE_MARGIN)
                if lease is not None:
                    await self._supervise(lease)
            except (StoreError, msgspec.DecodeError) as error:
                log.warning("! supervisor: %s", error)
            await asyncio.sleep(self._interval)

    async def _supervise(self, lease: Lease) -> None:
        """Sweep periodically while the lease is held. Release the lease at the end. Raises `StoreError`."""
        try:
            held = True
            while held:
                await self.sweep(compare=self._clock.until(self._compare_at) <= 0)
                self._woken.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._interval):
                        await self._woken.wait()
                held = await self._store.renew(lease, self._interval + LEASE_MARGIN)
        finally:
            with suppress(StoreError):  # it expires
                await self._store.release(lease)

    def wake(self) -> None:
        """Trigger a sweep because the pool has lost a member."""
        self._woken.set()

    async def sweep(self, *, compare: bool = True) -> None:
        """Trigger all steps that are needed. Raises `StoreError`.

        Args:
            compare: Whether to also compare the runs with the providers' units.
        """
        async with self._sweeping:
            await self._sweep(compare=compare)

    async def _sweep(self, *, compare: bool) -> None:
        if await self._store.get("meta", ADOPTED) is None:
            log.warning("! the store is empty: sandboxes that exist get rows again")
            try:
                await self.adopt()
            except HawseError as error:  # lost rows can't be restored without a list of units
                log.warning("! %s", error)
                return
            if self._begin is not None:
                await self._begin()
        seen = await self._discover() if compare else {}
        await self._index.current(runs=True)  # done after listing the units, so that new units don't look like orphans
        for id in self._agenda.expiring.due():
            if await self._expire(await records.read(self._store, id)):
                self._driver.settle(id)
        for id in list(self._agenda.unsettled):
            self._driver.settle(id)
        await self._end_lost(seen)
        await self._end_idle()
        await self._want_policies()
        await self._end_orphans(seen)
        if self._pool is not None:
            await self._pool.refill()

    async def _discover(self) -> Seen:
        """List the providers' units that have processes, and determine when to list them again."""
        seen: dict[str, dict[str, Observation]] = {}
        count = 0
        for name, provider in self._providers.items():
            try:
                units = await provider.discover()
            except HawseError as error:  # an incomplete list doesn't show which units are gone
                log.warning("! provider %s: %s", name, error)
                continue
            count += len(units)
            seen[name] = {}
            async for turn in turns(units):
                seen[name] |= {each.unit: each for each in turn if not each.gone}
        self._compare_at = self._clock.now().after(count / COMPARED)
        return seen

    async def _end_lost(self, seen: Seen) -> None:
        """End runs whose runtime is gone."""
        for provider, found in seen.items():
            async for turn in turns(self._agenda.live[provider]):
                for unit in turn:
                    if unit in found and found[unit].state != "unreachable":
                        continue
                    rows = await records.read(self._store, self._index.sandbox_at(unit) or unit)
                    if rows.live is not None and rows.live.value.state in ("running", "paused"):
                        await self._alive(rows)

    async def _end_idle(self) -> None:
        """Put sandboxes that have been idle for their idle timeout to sleep."""
        if self._calls() is not None:
            await concurrently(self._agenda.idle.due(), self._end_if_idle, QUERIED)

    async def _end_if_idle(self, id: str) -> None:
        rows = await records.read(self._store, id)
        if rows.live is not None and rows.live.value.state == "running" and await self._alive(rows):
            await self._sleep_if_idle(rows)

    def _forget_policy(self, id: str) -> None:
        self._policies.pop(id, None)

    async def _want_policies(self) -> None:
        """Pass running sandboxes' egress policies to the providers."""
        if self._policy is None:
            return
        missing = [id for id in self._agenda.filtered if self._policies.get(id) is None]
        async for turn in turns(missing, PAGE_ROWS):
            self._policies |= dict.fromkeys(turn)
            for id, rows in (await records.read_many(self._store, turn)).items():
                # If the row changes in the meantime, its entry is removed, and the policy is read again.
                if rows.sandbox is not None and id in self._policies:
                    self._policies[id] = self._policy(rows.sandbox.value)
        wanted: dict[str, dict[str, EgressPolicy]] = {}
        for id in self._agenda.filtered:
            found, policy = self._index.find(id), self._policies.get(id)
            if found is not None and policy is not None:
                wanted.setdefault(found.provider, {})[found.unit] = policy
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

    async def _alive(self, rows: Rows) -> bool:
        """Return whether a run's runtime is alive and not suspended. End the run if the runtime is gone."""
        assert rows.run is not None
        run = rows.run.value
        if run.provider not in self._providers:
            return False  # unknown
        try:
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

        The runtime decides whether it is idle, because only the runtime sees calls from all gateways. An idle runtime
        then refuses further calls.
        """
        assert rows.sandbox is not None
        assert rows.live is not None
        record, run, calls = rows.sandbox.value, rows.live.value, self._calls()
        if record.idle_timeout is None or calls is None or record.wanted != "running":
            return
        answer = await calls.activity(record.id, record.idle_timeout)
        if answer is None:
            self._agenda.idle.set(record.id, self._clock.now().after(min(record.idle_timeout, UNANSWERED)))
            return
        self._agenda.idle.set(record.id, self._clock.now().after(max(record.idle_timeout - answer.idle, 1.0)))
        if answer.asleep:
            log.info("= sandbox %s: idle for %.0f s", record.id, answer.idle, extra={"sandbox": record.id})
            run = msgspec.structs.replace(run, refuses_since=await Vacancy(self._store, self._clock).now())
            ending = rows.live.put(records.stopping(run, self._clock.now(), "idle"))
            record = msgspec.structs.replace(record, wanted="sleeping", reason="idle", previews=answer.previews)
            sleeping = rows.sandbox.put(record)
            try:
                await self._store.write(ending, sleeping)
            except ConflictError:  # the row has changed, because the sandbox is being restarted
                await self._store.write(ending)
            self._driver.settle(record.id)

    async def _want(self, rows: Rows, wanted: Wanted, reason: str) -> bool:
        """Write a sandbox's desired state unless the row has changed. Return whether the state was written."""
        assert rows.sandbox is not None
        try:
            record = msgspec.structs.replace(rows.sandbox.value, wanted=wanted, reason=reason)
            await self._store.write(rows.sandbox.put(record))
        except ConflictError:
            return False
        return True

    async def _end_orphans(self, seen: Seen) -> None:
        """End units that have been running for `ORPHAN_GRACE` without a run in the store. Their files are kept.

        For each of these orphans, a run in the state `stopping` is written. The driver then ends this run like any
        other, and doesn't start the unit again before the orphan's processes have ended.
        """
        if not seen:
            return
        orphans: dict[tuple[str, str], Moment] = {}
        for provider, found in seen.items():
            async for turn in turns(found):
                for unit in set(turn) - self._agenda.live[provider]:
                    known = self._index.run_at(unit)
                    if known is None or known.provider != provider:
                        orphans[provider, unit] = self._orphans.get((provider, unit)) or self._clock.now()
        self._orphans = orphans
        for (provider, unit), since in self._orphans.items():
            if self._clock.until(since.after(ORPHAN_GRACE)) > 0:
                continue
            log.warning("! unit %s of %s runs without a row and is ended", unit, provider)
            run = Run(
                unit=unit,
                sandbox=self._index.sandbox_at(unit) or unit,
                generation="",
                provider=provider,
                runtime=seen[provider][unit].runtime or "",
                state="stopping",
                since=self._clock.now(),
                reason="the unit has no row in the store",
            )
            try:
                await self._store.write(records.new(run))
            except ConflictError:
                continue  # another gateway has started the unit in the meantime
            self._driver.settle(run.sandbox)
