"""Brings sandboxes to their desired state. No other module calls provider methods that change units.

Each step is recorded in the store before it is performed, and its result is checked before it is recorded. The driver
holds the sandbox's lease in the store, so that only one driver works on a sandbox at a time, across all gateways.
Failed writes are retried indefinitely, so that the driver doesn't lose track of a running unit.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import cancellation_kept, finished
from hawse_gateway.providers.base import Endpoint, Progress, Provider, SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.records import Failure, R, Rows, Run, SandboxRecord, Stored
from hawse_gateway.sandboxes.steps import Step, next_step
from hawse_gateway.sandboxes.vacancy import Vacancy, vacated
from hawse_gateway.store.base import Change, ConflictError, Lease, LeaseLostError, Store, StoreError
from hawse_gateway.store.clock import Clock

log = logging.getLogger(__name__)

LEASE_SECONDS: Final = 15.0  # seconds after a gateway dies until another one can take over
CREATE_TIMEOUT: Final = 1800.0  # timeout in seconds; long enough to pull a large image over a slow network
RECORD_TIMEOUT: Final = 60.0  # time limit in seconds for recording that a runtime accepts links
STOP_TIMEOUT: Final = 60.0  # timeout in seconds; longer than any provider needs to end and verify all processes
RETRY_FIRST: Final = 1.0  # seconds before a failed deletion or stop is retried; doubled after each attempt
RETRY_MAX: Final = 60.0
STORE_RETRY: Final = 0.5  # seconds between attempts to write to the store
POLL: Final = 1.0  # seconds between checks of another gateway's lease, whose expiry the store doesn't report


class Driver:
    """Drives sandboxes to their desired state. `settle` starts driving a sandbox."""

    def __init__(
        self,
        store: Store,
        providers: Mapping[str, Provider],
        tasks: asyncio.TaskGroup,
        *,
        clock: Clock,
        holder: str,
        admit: Callable[[SandboxRecord], Awaitable[None]] | None = None,
        report: Callable[[str, Progress | None], None] = lambda sandbox, progress: None,
        spec: Callable[[SandboxRecord], SandboxSpec] = lambda record: record.spec,
    ) -> None:
        """Create an idle driver.

        Args:
            store: The rows and leases.
            providers: The providers, keyed by name.
            tasks: The task group for driving sandboxes.
            clock: The clock used for delays between attempts.
            holder: The name that this gateway uses in leases.
            admit: A function that raises `HawseError` if a sandbox would exceed the capacity. None admits all
                sandboxes.
            report: Called with the progress of each start, and with None once the start ends.
            spec: Returns the specification to pass to the provider.
        """
        self._store = store
        self._providers = providers
        self._group = tasks
        self._clock = clock
        self._holder = holder
        self._report = report
        self._admit = admit
        self._spec = spec
        self._vacancy = Vacancy(store, clock)
        self._admitting = asyncio.Lock()  # held from the capacity check until the run is stored and therefore counted
        self._work: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()  # sandboxes whose tasks must reread the rows

    def settle(self, sandbox: str) -> "asyncio.Task[None]":
        """Start a task that drives a sandbox as far as currently possible. Return the task, which never fails.

        The task's result is stored in the rows. Several callers share the task, so they must shield it when they await
        it.
        """
        self._again.add(sandbox)
        task = self._work.get(sandbox)
        if task is None:
            task = self._work[sandbox] = self._group.create_task(self._run(sandbox), name=f"drive {sandbox}")
        return task

    async def idle(self) -> None:
        """Wait until no sandbox is being driven."""
        while self._work:
            await asyncio.wait(list(self._work.values()))

    async def ended(self, sandboxes: Iterable[str]) -> None:
        """Wait until the given sandboxes are no longer being driven."""
        if tasks := [self._work[sandbox] for sandbox in sandboxes if sandbox in self._work]:
            await asyncio.wait(tasks)

    def stop(self) -> None:
        """Stop driving sandboxes. Another gateway completes the steps in progress."""
        for task in self._work.values():
            task.cancel()

    # ---- the task

    async def _run(self, sandbox: str) -> None:
        try:
            while sandbox in self._again:
                try:
                    async with self.lease(f"sandbox/{sandbox}") as lease:
                        await self._drive(sandbox, lease)
                except LeaseLostError:
                    log.warning("! sandbox %s: another gateway has taken over", sandbox, extra={"sandbox": sandbox})
                except msgspec.DecodeError as error:  # the next sweep retries it
                    log.error("! sandbox %s: its row is invalid: %s", sandbox, error, extra={"sandbox": sandbox})
                except StoreError as error:
                    log.warning("! sandbox %s: %s", sandbox, error, extra={"sandbox": sandbox})
                    self._again.add(sandbox)
                    await asyncio.sleep(STORE_RETRY)
        finally:
            del self._work[sandbox]

    async def _drive(self, sandbox: str, lease: Lease) -> None:
        while True:
            self._again.discard(sandbox)
            rows = await records.read(self._store, sandbox)
            step = next_step(rows)
            if step is Step.NONE or not self._due(rows, step) or await self._was_claimed(rows):
                return
            log.info("= sandbox %s: %s", sandbox, step.name.lower(), extra={"sandbox": sandbox})
            try:
                await self._take(step, rows, lease)
            except ConflictError:  # a row has changed, so read the rows again
                self._again.add(sandbox)

    async def _was_claimed(self, rows: Rows) -> bool:
        """Return whether the pool member with these rows was claimed for a sandbox.

        The sandbox then owns the member's unit and run, and the unit is driven along with the sandbox. If the member is
        claimed after this check, the driver's writes to the run fail.
        """
        if rows.sandbox is not None or rows.run is None or rows.run.value.sandbox == rows.id:
            return False
        owner = (await records.read(self._store, rows.run.value.sandbox)).sandbox
        return owner is not None and owner.value.unit == rows.run.value.unit

    def _due(self, rows: Rows, step: Step) -> bool:
        """Return whether the next attempt is due."""
        retry_at = None
        if step is Step.STOP and rows.run is not None:
            retry_at = rows.run.value.retry_at
        elif step is Step.DELETE and rows.sandbox is not None:
            retry_at = rows.sandbox.value.retry_at
        # A wait above the maximum must come from a gateway whose clock was ahead, so it is ignored.
        return retry_at is None or not 0 < self._clock.until(retry_at) <= RETRY_MAX

    async def _take(self, step: Step, rows: Rows, lease: Lease) -> None:
        match step, rows:
            case Step.START, Rows(sandbox=Stored() as sandbox):
                await self._start(sandbox, lease)
            case Step.STOP, Rows(run=Stored() as run):
                await self._stop(run, lease)
            case Step.DELETE, Rows(sandbox=Stored() as sandbox):
                await self._delete(sandbox, lease)
            case ((Step.PAUSE | Step.RESUME), Rows(sandbox=Stored() as sandbox, run=Stored() as run)):
                await self._pause(step, sandbox, run, lease)

    # ---- steps

    async def _start(self, sandbox: Stored[SandboxRecord], lease: Lease) -> None:
        record = sandbox.value
        run = Run(
            unit=record.unit,
            sandbox=record.id,
            generation=record.generation,
            provider=record.provider,
            runtime=secrets.token_hex(8),
            state="starting",
            since=self._clock.now(),
            unused=True,
        )
        try:
            provider = self._provider(record.provider)
            async with self._admitting:
                if self._admit is not None:
                    await self._admit(record)
                row = Stored(run, await self._store.write(records.new(run), lease=lease))
        except HawseError as error:
            await self._fail(sandbox, error, lease)
            return
        try:
            endpoint = await self._begin(provider, record, run)
        except HawseError as error:
            stopping = records.stopping(run, self._clock.now(), "the start failed")
            # This is recorded before the failure, because a process may be running and must be ended.
            await self._store.write(row.put(stopping), lease=lease)
            await self._fail(sandbox, error, lease)
            return
        capabilities = await provider.capabilities()
        running = msgspec.structs.replace(
            run.at(endpoint),
            state="running",
            since=self._clock.now(),
            unused=False,
            isolation=capabilities.isolation,
            enforcement=capabilities.enforced(record.spec),
        )
        await self._record_running(provider, row, running, lease)
        if record.failure is not None or not record.made or record.reason is not None:
            await self._store.write(
                sandbox.put(msgspec.structs.replace(record, failure=None, made=True, reason=None)), lease=lease
            )

    async def _begin(self, provider: Provider, record: SandboxRecord, run: Run) -> Endpoint:
        """Create and start the unit. Raises `HawseError` if anything fails."""

        def report(progress: Progress) -> None:
            self._report(record.id, progress)

        try:
            with cancellation_kept():
                async with asyncio.timeout(CREATE_TIMEOUT):
                    await provider.create(record.unit, record.spec, report)
                async with asyncio.timeout((await provider.capabilities()).start_timeout):
                    return await provider.start(record.unit, self._spec(record), run.runtime, report)
        except TimeoutError:
            raise HawseError("unavailable", "the sandbox did not start in time") from None
        except HawseError:
            raise
        except Exception as error:  # a bug in the provider must not end the driver
            log.exception("! sandbox %s: start", record.id, extra={"sandbox": record.id})
            raise HawseError("internal", "a bug in the sandbox's provider") from error
        finally:
            self._report(record.id, None)

    async def _record_running(self, provider: Provider, row: Stored[Run], running: Run, lease: Lease) -> None:
        """Record that the runtime accepts links. If recording fails, another driver must end the run.

        Raises:
            ConflictError: Another driver has changed the row. The new run was ended.
            LeaseLostError: Another driver has the lease. The new run was ended.
        """
        deadline = self._clock.now().after(RECORD_TIMEOUT)
        while True:
            try:
                await self._store.write(row.put(running), lease=lease)
                return
            except (ConflictError, LeaseLostError):
                if await self._is_recorded(running):  # an earlier attempt succeeded, but its response was lost
                    return
                await provider.stop(running.unit, running.runtime)
                raise
            except StoreError:
                if self._clock.until(deadline) <= 0:
                    raise  # the run stays `starting`, so the next driver ends it
                await asyncio.sleep(STORE_RETRY)

    async def _is_recorded(self, running: Run) -> bool:
        run = await records.read_run(self._store, running.unit)
        return run is not None and run.value.runtime == running.runtime and run.value.state in ("running", "paused")

    async def _fail(self, sandbox: Stored[SandboxRecord], error: HawseError, lease: Lease) -> None:
        """Record why a start failed. The start is not retried until a client requests the sandbox."""
        log.warning("! sandbox %s was not started: %s", sandbox.value.id, error, extra={"sandbox": sandbox.value.id})
        failed = msgspec.structs.replace(sandbox.value, wanted="sleeping", failure=Failure.of(error))
        await self._store.write(sandbox.put(failed), lease=lease)

    async def _stop(self, row: Stored[Run], lease: Lease) -> None:
        run = row.value
        if run.state != "stopping":
            run = records.stopping(run, self._clock.now(), run.reason)
            row = Stored(run, await self._store.write(row.put(run), lease=lease))
        problem = await self._attempt(run.sandbox, run.provider, lambda provider: provider.stop(run.unit))
        changes: list[Change] = [self._ended(row, problem)]
        if problem is None and not run.unused:
            sandbox = (await records.read(self._store, run.sandbox)).sandbox  # the row may have changed since
            if sandbox is not None:
                changes.append(sandbox.put(vacated(sandbox.value, run.refuses_since or await self._vacancy.now())))
        await self._store.write(*changes, lease=lease)

    async def _delete(self, row: Stored[SandboxRecord], lease: Lease) -> None:
        record = row.value
        problem = await self._attempt(record.id, record.provider, lambda provider: provider.delete(record.unit))
        await self._store.write(self._ended(row, problem), lease=lease)

    def _ended(self, row: Stored[R], problem: str | None) -> Change:
        """Return the change to a row after an attempt to end a run or delete a sandbox. The row is either removed, or
        updated with the time of the next attempt.
        """
        if problem is None:
            return row.delete()
        attempts = row.value.attempts
        retry_at = self._clock.now().after(_delay(attempts))
        return row.put(msgspec.structs.replace(row.value, attempts=attempts + 1, retry_at=retry_at, reason=problem))

    async def _pause(self, step: Step, sandbox: Stored[SandboxRecord], run: Stored[Run], lease: Lease) -> None:
        pausing = step is Step.PAUSE
        problem = await self._attempt(
            sandbox.value.id,
            run.value.provider,
            lambda provider: (provider.pause if pausing else provider.resume)(run.value.unit),
        )
        changes: list[Change] = []
        if problem is None:
            state = "paused" if pausing else "running"
            changes.append(run.put(msgspec.structs.replace(run.value, state=state, since=self._clock.now())))
        else:  # after a failure, the run stays in its state
            failure = Failure(code="unavailable", message=problem)
            wanted = "running" if pausing else "paused"
            changes.append(sandbox.put(msgspec.structs.replace(sandbox.value, wanted=wanted, failure=failure)))
        await self._store.write(*changes, lease=lease)

    async def _attempt(self, sandbox: str, provider: str, work: Callable[[Provider], Awaitable[None]]) -> str | None:
        """Perform `work` with the provider. Return the reason for the failure, or None if it succeeded."""
        try:
            with cancellation_kept():
                async with asyncio.timeout(STOP_TIMEOUT):
                    await work(self._provider(provider))
        except TimeoutError:
            problem = f"the provider did not answer within {STOP_TIMEOUT:g} s"
        except HawseError as error:
            problem = error.message or error.code
        except Exception:
            log.exception("! sandbox %s", sandbox, extra={"sandbox": sandbox})
            problem = "a bug in the provider"
        else:
            return None
        log.warning("! sandbox %s: %s", sandbox, problem, extra={"sandbox": sandbox})
        return problem

    def _provider(self, name: str) -> Provider:
        try:
            return self._providers[name]
        except KeyError:
            raise HawseError("unavailable", f"this gateway has no provider {name!r}") from None

    # ---- the lease

    @asynccontextmanager
    async def lease(self, name: str) -> AsyncIterator[Lease]:
        """Acquire the lease `name`, and hold it inside the `async with` block. Raises `StoreError`."""
        lease: Lease | None = None
        changed = asyncio.Event()
        stop_listening = self._store.listen(lambda table, key: changed.set() if key == name else None)

        async def acquire() -> Lease | None:
            nonlocal lease
            lease = await self._store.acquire(name, self._holder, LEASE_SECONDS)
            return lease

        try:
            # Even if the task is cancelled, wait for the store's response, because it may have granted the lease.
            while (held := await finished(acquire())) is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL):
                        await changed.wait()
                changed.clear()
            stop_listening()
            renewing = self._group.create_task(self._renew(held), name=f"lease {name}")
            try:
                yield held
            finally:
                renewing.cancel()
        finally:
            stop_listening()
            if lease is not None:
                await finished(self._release(lease))

    async def _release(self, lease: Lease) -> None:
        """Release a lease. If this fails, it expires."""
        try:
            await self._store.release(lease)
        except StoreError as error:
            log.warning("! %s: %s", lease.name, error)

    async def _renew(self, lease: Lease) -> None:
        """Renew the lease until it is lost. The next write with the lease detects the loss."""
        held = True
        while held:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                held = await self._store.renew(lease, LEASE_SECONDS)
            except StoreError as error:
                log.warning("! %s: %s", lease.name, error)


def _delay(attempts: int) -> float:
    return min(RETRY_FIRST * 2.0 ** min(attempts, 10), RETRY_MAX)
