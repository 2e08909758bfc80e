"""The gateway's handlers for `backup.*`, and background jobs for the slow methods."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from weakref import WeakValueDictionary

from hawse.api.backups import (
    BackupCancel,
    BackupCreate,
    BackupDelete,
    BackupGet,
    BackupInfo,
    BackupList,
    BackupListResult,
    BackupProgress,
    BackupRestore,
    BackupRestoreResult,
    BackupUsage,
    BackupUsageResult,
    SandboxSnapshot,
)
from hawse.api.spec import Nothing
from hawse.rpc import IdempotencyTable, Outcome, handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.idempotency import own_key
from hawse.rpc.shared_work import SharedWork, WorkStream
from hawse.wire import HawseError, Principal
from hawse_gateway.backups.records import BackupRecords, may_use
from hawse_gateway.backups.space import BackupSpace
from hawse_gateway.backups.transfer import BackupTransfers, Report
from hawse_gateway.core.cancellation import cancellation_kept
from hawse_gateway.limits.in_progress import in_progress

log = logging.getLogger(__name__)

JOBS: Final = 16  # maximum number of concurrent jobs, because each uses the network and the disk
JOBS_OF_EACH: Final = 4  # maximum number of concurrent jobs per user
JOBS_KEPT: Final = 4  # number of jobs, out of `JOBS`, that are reserved for users who have no job in progress
RETRY_AFTER: Final = 10.0  # seconds
RESUME_TIMEOUT: Final = 60.0  # seconds that a job with an idempotency key keeps running after its call has ended
SWEEP_INTERVAL: Final = 60.0  # seconds between two deletions of expired backups

Work = Callable[[Report], Awaitable[BackupInfo | BackupRestoreResult]]
Job = SharedWork[BackupProgress]


class BackupMethods:
    """Handles `backup.*` calls.

    Args:
        transfers: Creates, restores and deletes backups.
        records: The rows.
        tasks: The task group that runs the jobs.
        space: The limits on users' backups. None uses the default limits.
        resume_timeout: How long a job with an idempotency key keeps running after its call has ended, in seconds.
    """

    def __init__(
        self,
        transfers: BackupTransfers,
        records: BackupRecords,
        tasks: asyncio.TaskGroup,
        *,
        space: BackupSpace | None = None,
        resume_timeout: float = RESUME_TIMEOUT,
    ) -> None:
        self._transfers = transfers
        self._records = records
        self._tasks = tasks
        self._space = space or BackupSpace(records)
        self._resume_timeout = resume_timeout
        self._idempotency = IdempotencyTable()
        self._creating: Counter[str] = Counter()  # number of backups being created, keyed by user
        self._jobs: set[Job] = set()
        self._slots: Counter[str] = Counter()  # number of jobs in progress, keyed by user
        self._keyed: WeakValueDictionary[str, Job] = WeakValueDictionary()

    async def close(self) -> None:
        """Cancel all jobs, and wait for them to end."""
        tasks = [job.task for job in self._jobs]
        for job in self._jobs:
            job.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def sweep(self) -> None:
        """Delete expired backups periodically."""
        while True:
            try:
                with cancellation_kept():
                    await self._transfers.sweep()
            except Exception as error:  # keep sweeping after any error, because the next attempt may succeed
                log.warning("! backups: %r", error)
            await asyncio.sleep(SWEEP_INTERVAL)

    @serves(BackupCreate)
    def create(self, call: ServerCall, params: BackupCreate) -> None:
        self._create(call, params, params)

    def _create(self, call: ServerCall, params: BackupCreate | SandboxSnapshot, backup: BackupCreate) -> None:
        caller = call.principal

        async def work(report: Report) -> BackupInfo:
            with in_progress(self._creating, caller.id):
                await self._space.check_count(caller, self._creating[caller.id])
                return await self._transfers.create(backup, caller, report)

        self._serve(call, params, work)

    @serves(SandboxSnapshot)
    def snapshot(self, call: ServerCall, params: SandboxSnapshot) -> None:
        self._create(call, params, BackupCreate(sandbox=params.id, name=params.name, ttl=params.ttl))

    async def check(self, snapshot: str, caller: Principal) -> None:
        """Raise `HawseError` (`not_found`) unless a backup exists and the caller may use it."""
        await self._records.get(snapshot, caller)

    async def fill(self, snapshot: str, sandbox: str, caller: Principal) -> None:
        """Replace a sandbox's workspace with the contents of a backup, which may come from any directory."""
        record = await self._records.get(snapshot, caller)
        params = BackupRestore(backup=snapshot, sandbox=sandbox, path=".")
        with self._slot(caller):
            await self._transfers.restore(params, record, caller, lambda progress: None)

    @serves(BackupRestore)
    def restore(self, call: ServerCall, params: BackupRestore) -> None:
        caller = call.principal

        async def work(report: Report) -> BackupRestoreResult:
            record = await self._records.get(params.backup, caller)
            return await self._transfers.restore(params, record, caller, report)

        self._serve(call, params, work)

    @handles(BackupList, caller=True)
    async def list_(self, params: BackupList, caller: Principal) -> BackupListResult:
        found = [
            record.info
            for record in (await self._records.all()).values()
            if record.ready and not self._records.expired(record) and may_use(caller, record.info)
        ]
        found = [info for info in found if params.sandbox in (None, info.sandbox)]
        return BackupListResult(backups=sorted(found, key=lambda info: info.created, reverse=True))

    @handles(BackupUsage, caller=True)
    async def usage(self, params: BackupUsage, caller: Principal) -> BackupUsageResult:
        return await self._space.usage(caller)

    @handles(BackupGet, caller=True)
    async def get(self, params: BackupGet, caller: Principal) -> BackupInfo:
        return (await self._records.get(params.backup, caller)).info

    @handles(BackupDelete, caller=True)
    async def delete(self, params: BackupDelete, caller: Principal) -> Nothing:
        await self._records.get(params.backup, caller)
        await self._transfers.delete(params.backup)
        return Nothing()

    @handles(BackupCancel, caller=True)
    async def cancel(self, params: BackupCancel, caller: Principal) -> Nothing:
        job = self._keyed.get(own_key(caller, params.key))
        if job is not None:
            job.cancel()
        return Nothing()

    def _serve(self, call: ServerCall, params: BackupCreate | SandboxSnapshot | BackupRestore, work: Work) -> None:
        job = self._idempotency.attach_or_start(call, params, lambda outcome: self._start(call, outcome, work))
        if call.key is not None:
            self._keyed[own_key(call.principal, call.key)] = job
        call.serve(WorkStream(call, job))

    def _start(self, call: ServerCall, outcome: Outcome, work: Work) -> Job:
        with ExitStack() as stack:
            stack.enter_context(self._slot(call.principal))
            slot = stack.pop_all()

        def end(result: Any) -> None:
            slot.close()
            self._jobs.discard(job)
            if isinstance(result, HawseError):
                outcome.fail(result)
            else:
                outcome.succeed(result)

        patience = None if outcome.key is None else self._resume_timeout
        job = Job(self._tasks, work, name=call.method, on_end=end, patience=patience)
        self._jobs.add(job)
        return job

    @contextmanager
    def _slot(self, caller: Principal) -> Iterator[None]:
        """Count a job while the `with` block runs. Raises `HawseError` (`capacity_exceeded`) if there are too many
        jobs."""
        own, free = self._slots[caller.id], JOBS - self._slots.total()
        if own >= JOBS_OF_EACH:
            raise _busy(f"{caller.id!r} has reached the limit of {own} backups and restores in progress")
        if free <= (JOBS_KEPT if own else 0):
            raise _busy(f"{self._slots.total()} backups or restores are in progress")
        with in_progress(self._slots, caller.id):
            yield


def _busy(text: str) -> HawseError:
    return HawseError("capacity_exceeded", text, details={"retry_after": RETRY_AFTER})
