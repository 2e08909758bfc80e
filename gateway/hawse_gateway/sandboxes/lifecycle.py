"""Operations on sandboxes, used by methods and links.

An operation writes the desired state, waits for the driver, and reads the result from the rows. The operation therefore
works no matter which gateway drives the sandbox, even if another gateway takes over during the operation.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Final

import msgspec

from hawse.api.runtime import RuntimeConfigure
from hawse.api.sandboxes import SandboxCreate, SandboxInfo, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.base import Capabilities, Endpoint, Provider, Report
from hawse_gateway.sandboxes import records, requests
from hawse_gateway.sandboxes.admission import Admission
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.egress import SandboxEgress
from hawse_gateway.sandboxes.errors import cleanup_pending, not_started, not_wanted, repeated
from hawse_gateway.sandboxes.joining import JoinedSandboxes
from hawse_gateway.sandboxes.overview.index import EVERYWHERE, SandboxIndex, Scope
from hawse_gateway.sandboxes.pool import MEMBER, Pool, stocks
from hawse_gateway.sandboxes.progress import ProgressTable
from hawse_gateway.sandboxes.records import Rows, SandboxRecord, Wanted
from hawse_gateway.sandboxes.requests import Creation
from hawse_gateway.sandboxes.run_checks import RunChecks, RuntimeCalls, previews_before_end
from hawse_gateway.sandboxes.secret_grants import SecretGrants
from hawse_gateway.sandboxes.settings import IDLE_TIMEOUT
from hawse_gateway.sandboxes.supervisor import SWEEP, Supervisor
from hawse_gateway.sandboxes.table import PAGE_ROWS, SandboxTable
from hawse_gateway.sandboxes.templates import Templates
from hawse_gateway.sandboxes.vacancy import Vacancy
from hawse_gateway.store.base import ConflictError, Store, store_errors_unavailable
from hawse_gateway.store.clock import Clock

ENSURE_ATTEMPTS: Final = 3  # maximum number of attempts, because a runtime can end while it is being checked


class Sandboxes:
    """All of a gateway's sandboxes. Use it inside `async with sandboxes.running():`.

    All methods can raise `HawseError`: `not_found` if the id is unknown, `unavailable` if the store is unavailable.
    """

    def __init__(
        self,
        store: Store,
        providers: Mapping[str, Provider],
        *,
        clock: Clock | None = None,
        idle_timeout: float = IDLE_TIMEOUT,
        sweep: float = SWEEP,
        admission: Admission | None = None,
        pool: int = 0,
        templates: Templates | None = None,
        egress: EgressSettings | None = None,
    ) -> None:
        """Create an instance without reading the rows.

        Args:
            store: The store with the sandboxes' rows.
            providers: The providers, keyed by name. The first one is the default. The providers and the store are
                closed when `running` ends.
            clock: The clock used for delays and lifetimes.
            idle_timeout: The default time without activity before a sandbox sleeps, in seconds.
            sweep: Seconds between sweeps of the supervisor.
            admission: Refuses sandboxes that would exceed the capacity. None admits all sandboxes.
            pool: The number of sandboxes to start in advance.
            templates: The templates, each with an optional pool. None disables templates.
            egress: The operator's settings for filtered networks. None means no secrets.
        """
        self.store = store
        self.providers = providers
        self.default = next(iter(providers))
        self.progress = ProgressTable()
        self.index = SandboxIndex(store)
        self.templates = templates or Templates()
        self._clock = clock or Clock()
        self.vacancy = Vacancy(store, self._clock)
        self._table = SandboxTable(store, self.index)
        self.egress = SandboxEgress(self._table, providers, SecretGrants(egress or EgressSettings(), self.templates))
        self._idle_timeout = idle_timeout
        self._admission = admission
        self._capabilities: dict[str, Capabilities] = {}
        self._calls: RuntimeCalls | None = None
        self._tasks = asyncio.TaskGroup()
        holder = secrets.token_hex(8)
        self._driver = Driver(
            store,
            providers,
            self._tasks,
            clock=self._clock,
            holder=holder,
            report=self.progress.report,
            admit=self._admit,
            spec=self.egress.grants.spec,
        )
        self._checks = RunChecks(self._table, providers, self._driver, self._clock)
        self.joining = JoinedSandboxes(self, self._table, self._driver, providers, self._capabilities, self._clock)
        kinds = stocks(self.templates, pool)
        self.pool = Pool(store, self.index, self._driver, kinds, provider=self.default, clock=self._clock)
        self._supervisor = Supervisor(
            store,
            providers,
            self._driver,
            index=self.index,
            clock=self._clock,
            holder=holder,
            calls=lambda: self._calls,
            pool=self.pool,
            interval=sweep,
            begin=self._add_default,
            policy=self.egress.grants.effective,
        )

    @asynccontextmanager
    async def running(self, calls: RuntimeCalls | None = None) -> AsyncIterator[None]:
        """Drive and supervise the sandboxes, which keep running when the gateway stops.

        Args:
            calls: Calls runtimes. If None, sandboxes never sleep and are not notified of changes.
        """
        try:
            for name, provider in self.providers.items():
                self._capabilities[name] = await provider.capabilities()
            async with self._tasks as tasks:
                following = [tasks.create_task(self.store.run(), name="changes of the store")]
                following += [tasks.create_task(p.run(), name=f"provider {name}") for name, p in self.providers.items()]
                self._calls = calls
                async with self.index.running():
                    await self._add_default(never=await self._supervisor.adopt())
                    following.append(tasks.create_task(self._supervisor.run(), name="supervise sandboxes"))
                    yield
                for each in following:
                    each.cancel()
                self._driver.stop()
        finally:
            for provider in self.providers.values():
                await provider.close()
            await self.store.close()

    def capabilities(self) -> Capabilities:
        """The default provider's capabilities, available inside `running`."""
        return self._capabilities[self.default]

    async def sweep(self) -> None:
        """Compare the rows with the providers' units immediately, and wait until the resulting steps are complete."""
        await self._supervisor.sweep()
        await self._driver.idle()

    # ---- reading

    async def page(
        self, scope: Scope, labels: Mapping[str, str], after: str | None = None, limit: int = PAGE_ROWS
    ) -> tuple[list[SandboxInfo], str | None]:
        """Return a page of sandboxes without starting or querying runtimes. See `SandboxTable.page`."""
        rows, after = await self._table.page(scope, labels, after, limit)
        return [self.describe(each) for each in rows], after

    async def list(self, scope: Scope = EVERYWHERE) -> list[SandboxInfo]:
        """Return all sandboxes in a scope."""
        return [self.describe(rows) async for rows in self._table.all(scope)]

    async def get(self, sandbox: str) -> SandboxInfo:
        """Return a sandbox after checking its runtime, without starting it."""
        rows = await self._table.existing(sandbox)
        info = self.describe(rows)
        if rows.live is None or rows.live.value.state != "running":
            return info
        seen = await self._checks.observe(rows.live.value)
        if seen.state == "frozen":
            return msgspec.structs.replace(info, state="failed", reason=seen.reason)
        if seen.state != "running":
            await self._checks.mark_lost(rows.live, seen)
            return msgspec.structs.replace(info, state="stopping", reason=seen.reason, runtime=None)
        return info

    def describe(self, rows: Rows) -> SandboxInfo:
        """Return a sandbox's public description. The sandbox must have a row."""
        assert rows.sandbox is not None
        record = rows.sandbox.value
        capabilities = self._capabilities.get(record.provider)
        return records.describe(rows, capabilities, self.progress.latest(record.id))

    # ---- creating and changing

    def resolve(self, params: SandboxCreate, owner: str = "owner") -> Creation:
        """Apply the template and the defaults to the parameters given by the principal `owner`.

        Raises:
            HawseError: `invalid_params` if the template does not exist.
        """
        return requests.resolve(params, owner, self.templates, self.default)

    async def create(self, creation: Creation) -> SandboxInfo:
        """Create and start a sandbox. Returns the sandbox once its runtime accepts links.

        Raises:
            HawseError: `conflict` if a sandbox with this id was created with different parameters, `cleanup_pending` if
                a deleted sandbox with this id has not ended yet, `invalid_params`, or the error that made the start
                fail.
        """
        id, capabilities = creation.id, self._capabilities.get(creation.provider)
        requests.check_request(creation.params, capabilities, creation.provider)
        with store_errors_unavailable():
            if id.startswith((MEMBER, requests.REPLACEMENT)):
                await self.index.current()  # learns which units other gateways have created
            unit = requests.free_unit(id, self.index.sandbox_at(id))
            record = requests.new_record(creation, self._clock.now(), unit, self._idle_timeout)
            record = self.joining.waiting(await self.vacancy.begin(record))
            if self.index.find(id) is None and await self.pool.take(record):
                self._supervisor.wake()
                return self.describe(await self._table.existing(id))
        generation = record.generation
        try:
            await self._table.write(records.new(record))
        except ConflictError:
            generation = repeated(await self._table.existing(id), record, self._clock)
        try:
            return await self.start(id) if record.wanted == "running" else await self.get(id)
        except HawseError:
            await self._discard(id, generation)
            raise

    async def update(self, params: SandboxUpdate) -> SandboxInfo:
        """Change a sandbox's environment, labels and lifetimes."""
        rows = await self._table.change(params.id, self.joining.change(params))
        if params.env and self._calls is not None and rows.live is not None and rows.live.value.state == "running":
            await self._calls.configure(params.id)
        return self.describe(rows)

    def filling(self, sandbox: str) -> AbstractAsyncContextManager[object]:
        """Return the lock, shared by all gateways, for filling a sandbox's workspace. Raises `StoreError`."""
        return self._driver.lease(f"fill/{sandbox}")

    async def snapshot_of(self, sandbox: str) -> str | None:
        """Return the id of the backup that has yet to be restored to the workspace, or None."""
        found = (await self._table.existing(sandbox)).sandbox
        return None if found is None else found.value.snapshot

    async def note_filled(self, sandbox: str) -> None:
        """Record that the snapshot has been restored to the workspace."""
        await self._table.change(sandbox, lambda record: msgspec.structs.replace(record, snapshot=None))

    async def start(self, sandbox: str) -> SandboxInfo:
        """Start a sandbox, even if it was stopped or paused. If the start fails, its error is raised."""
        rows = await self._bring(sandbox, "running")
        if rows.live is None or rows.live.value.state != "running":
            raise not_started(rows, sandbox, self._clock, lost=await self._supervisor.has_lost_rows())
        return self.describe(rows)

    async def stop(self, sandbox: str, reason: str | None = None) -> SandboxInfo:
        """Stop a sandbox for `reason`. Returns once its processes are confirmed to have ended. Later calls won't
        restart it.

        Raises:
            HawseError: `cleanup_pending` if a process has not ended yet. The driver retries.
        """
        rows = await self._bring(sandbox, "stopped", reason, before=await self._table.existing(sandbox))
        if rows.run is not None:
            raise cleanup_pending(rows, self._clock)
        return self._reached(rows, sandbox)

    async def pause(self, sandbox: str, reason: str | None = None) -> SandboxInfo:
        """Suspend a running sandbox for `reason`.

        Raises:
            HawseError: `invalid_params` if the provider can't pause sandboxes, `stopped` if the sandbox is not running.
        """
        rows = await self._table.existing(sandbox)
        assert rows.sandbox is not None
        capabilities = self._capabilities.get(rows.sandbox.value.provider)
        if capabilities is None or not capabilities.pause:
            raise HawseError("invalid_params", f"provider {rows.sandbox.value.provider} cannot suspend sandboxes")
        if rows.live is None or rows.live.value.state not in ("running", "paused"):
            raise HawseError("stopped", f"sandbox {sandbox!r} does not run")
        rows = await self._bring(sandbox, "paused", reason, before=rows)
        if rows.sandbox is not None and rows.sandbox.value.failure is not None:
            raise rows.sandbox.value.failure.to_exception()
        return self._reached(rows, sandbox)

    async def delete(self, sandbox: str) -> None:
        """Delete a sandbox and its files. Concurrent calls wait for the same deletion.

        Raises:
            HawseError: `cleanup_pending` if a process has not ended yet. The driver retries.
        """
        rows = await self._bring(sandbox, "deleted")
        if rows.sandbox is not None or rows.run is not None:
            raise cleanup_pending(rows, self._clock)

    # ---- for links

    async def ensure(self, sandbox: str, report: Report | None = None, *, start: bool = True) -> Endpoint | None:
        """Return the endpoint for a sandbox's runtime.

        Args:
            sandbox: The sandbox's id.
            report: Called with the progress if the sandbox has to be started.
            start: Whether to start the sandbox if it is not running. If False, return None in that case.

        Raises:
            HawseError: `stopped` if a client has stopped or paused the sandbox, or the error that made the start fail.
        """
        for _ in range(ENSURE_ATTEMPTS):
            rows = await self._table.existing(sandbox)
            assert rows.sandbox is not None
            wanted = rows.sandbox.value.wanted
            if wanted == "deleted":
                raise HawseError("not_found", f"sandbox {sandbox!r} is being deleted")
            if wanted in ("stopped", "paused"):
                raise not_wanted(rows.sandbox.value)
            if wanted == "running" and rows.live is not None and rows.live.value.state == "running":
                if (endpoint := await self._checks.check(rows.live)) is not None:
                    return endpoint
                continue
            if not start:
                return None
            await self.joining.check_present(rows.sandbox.value)
            with self.progress.observed(sandbox, report):
                rows = await self._bring(sandbox, "running")
            if rows.live is not None and (endpoint := rows.live.value.endpoint) is not None:
                return endpoint
            if rows.sandbox is None or rows.sandbox.value.wanted != "running":
                raise not_started(rows, sandbox, self._clock)
        raise HawseError("unavailable", f"sandbox {sandbox!r} did not start")

    async def configuration(self, sandbox: str) -> RuntimeConfigure | None:
        """Return the configuration to send to a sandbox's runtime when a link opens and after each change."""
        rows = await self._table.read(sandbox)
        if rows.sandbox is None:
            return None
        record = rows.sandbox.value
        files = dict(self.templates.files(record.template)) if record.files else {}
        return RuntimeConfigure(revision=rows.sandbox.version, env=record.spec.env, ports=record.ports, files=files)

    # ---- inside

    async def _add_default(self, *, never: bool = False) -> None:
        """Create the default sandbox's row unless it exists. The sandbox sleeps until it is needed.

        Args:
            never: Whether the sandbox is known to have never existed, because the store is new and no provider has a
                unit with its name.
        """
        record = requests.default_record(self.default, self._clock.now(), self._idle_timeout)
        record = await self.vacancy.begin(record, never=never)
        with suppress(ConflictError):  # the row already exists
            await self.store.write(records.new(record))

    async def _admit(self, record: SandboxRecord) -> None:
        """Refuse a sandbox that exceeds the capacity. Raises `HawseError` (`capacity_exceeded`) or `StoreError`."""
        if self._admission is None:
            return
        memory, offered = record.spec.limits.memory, self._capabilities.get(record.provider)
        remote = offered is not None and offered.remote
        try:
            await self._admission.check(await self.store.count(records.RUNS), memory, remote=remote)
        except HawseError:
            if record.pool or not await self.pool.give_up():
                raise
            await self._admission.check(await self.store.count(records.RUNS), memory, remote=remote)

    async def _discard(self, id: str, generation: str) -> None:
        """Delete a sandbox whose creation failed, unless another sandbox with this id has replaced it."""
        rows = await self._table.read(id)
        if rows.sandbox is None or rows.sandbox.value.generation != generation or rows.sandbox.value.made:
            return
        with suppress(ConflictError):
            await self._table.write(rows.sandbox.put(msgspec.structs.replace(rows.sandbox.value, wanted="deleted")))
            await asyncio.shield(self._driver.settle(id))

    async def _bring(
        self, sandbox: str, wanted: Wanted, reason: str | None = None, *, before: Rows | None = None
    ) -> Rows:
        """Write the desired state, and wait until the driver can't make further progress. Return the resulting rows.

        For a stop or a pause, `before` contains the earlier rows, which determine whether the previews must be stored.
        """
        previews = None if before is None else await previews_before_end(before, self._calls)

        def want(record: SandboxRecord) -> SandboxRecord:
            if record.wanted == wanted:
                return record
            return msgspec.structs.replace(record, wanted=wanted, reason=reason, failure=None, previews=previews)

        await self._table.change(sandbox, want)
        await asyncio.shield(self._driver.settle(sandbox))
        return await self._table.read(sandbox)

    def _reached(self, rows: Rows, sandbox: str) -> SandboxInfo:
        """Describe a sandbox after an operation. Raises `HawseError` if another client has deleted the sandbox."""
        if rows.sandbox is None:
            raise HawseError("not_found", f"sandbox {sandbox!r} was deleted")
        return self.describe(rows)
