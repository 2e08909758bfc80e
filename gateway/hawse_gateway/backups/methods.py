"""The gateway's handlers of `backup.*`, and the jobs of the slow ones."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final
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
from hawse.rpc.errors import typed
from hawse.rpc.idempotency import own_key
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError, Principal
from hawse_gateway.backups.records import BackupRecords, may_use
from hawse_gateway.backups.space import BackupSpace
from hawse_gateway.backups.transfer import BackupTransfers, Report
from hawse_gateway.core.cancellation import cancellation_kept
from hawse_gateway.limits.in_progress import in_progress

log = logging.getLogger(__name__)

JOBS: Final = 16  # at once: each uses the network and the disk
JOBS_OF_EACH: Final = 4  # at once, of one user
JOBS_KEPT: Final = 4  # of JOBS, reserved for users without a job in progress
RETRY_AFTER: Final = 10.0  # s
RESUME_TIMEOUT: Final = 60.0  # s that a job with a key continues without a call, in case the call is repeated
SWEEP_INTERVAL: Final = 60.0  # s between two deletions of expired backups

Work = Callable[[Report], Awaitable[BackupInfo | BackupRestoreResult]]


class BackupMethods:
    """The methods.

    Args:
        transfers: Does the work.
        records: The rows.
        tasks: The parent of the jobs.
        space: The limits of users. None uses the defaults.
        resume_timeout: Seconds that a job with a key continues without a call.
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
        self._creating: Counter[str] = Counter()  # creations in progress, by user
        self._jobs: set[BackupJob] = set()
        self._slots: Counter[str] = Counter()  # jobs in progress, by user
        self._keyed: WeakValueDictionary[str, BackupJob] = WeakValueDictionary()

    async def close(self) -> None:
        """Cancel all jobs and wait until they have ended."""
        tasks = [job.task for job in self._jobs if job.task is not None]
        for job in list(self._jobs):
            job.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def sweep(self) -> None:
        """Delete expired backups periodically."""
        while True:
            try:
                with cancellation_kept():
                    await self._transfers.sweep()
            except Exception as error:  # whatever the reason, the next attempt may succeed
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
        """Raise `HawseError` (`not_found`) unless a backup exists and the caller is allowed to use it."""
        await self._records.get(snapshot, caller)

    async def fill(self, snapshot: str, sandbox: str, caller: Principal) -> None:
        """Replace a sandbox's workspace with the contents of a backup of any directory."""
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
        call.serve(JobStream(call, job, self._resume_timeout))

    def _start(self, call: ServerCall, outcome: Outcome, work: Work) -> "BackupJob":
        with ExitStack() as stack:
            stack.enter_context(self._slot(call.principal))
            job = BackupJob(outcome)
            self._jobs.add(job)
            job.task = self._tasks.create_task(job.run(work), name=call.method)
            slot = stack.pop_all()
        job.task.add_done_callback(lambda task: self._ended(job, slot))
        return job

    @contextmanager
    def _slot(self, caller: Principal) -> Iterator[None]:
        """Count a job in progress. Raises `capacity_exceeded` if the caller has too many, or there are too many in
        all."""
        own, free = self._slots[caller.id], JOBS - self._slots.total()
        if own >= JOBS_OF_EACH:
            raise _busy(f"{caller.id!r} has reached the limit of {own} backups and restores in progress")
        if free <= (JOBS_KEPT if own else 0):
            raise _busy(f"{self._slots.total()} backups or restores are in progress")
        with in_progress(self._slots, caller.id):
            yield

    def _ended(self, job: "BackupJob", slot: ExitStack) -> None:
        slot.close()
        self._jobs.discard(job)
        if job.result is None:  # it was cancelled before it started
            job.end(HawseError("cancelled", "the work was cancelled"))


def _busy(text: str) -> HawseError:
    return HawseError("capacity_exceeded", text, details={"retry_after": RETRY_AFTER})


class BackupJob:
    """A backup or restore in progress, and the calls that wait for it."""

    def __init__(self, outcome: Outcome) -> None:
        self.progress: BackupProgress | None = None  # the latest
        self.result: BackupInfo | BackupRestoreResult | HawseError | None = None
        self.task: asyncio.Task[None] | None = None
        self._outcome = outcome
        self._calls: set[JobStream] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, work: Work) -> None:
        """Do the work and set the outcome."""
        try:
            self.end(await work(self._report))
        except asyncio.CancelledError:
            self.end(HawseError("cancelled", "the work was cancelled", admitted="yes"))
        except Exception as error:
            self.end(typed(error))

    def end(self, result: BackupInfo | BackupRestoreResult | HawseError) -> None:
        """Set the outcome."""
        self.result = result
        self._stop_timer()
        if isinstance(self.result, HawseError):
            self._outcome.fail(self.result)
        else:
            self._outcome.succeed(self.result)
        self._wake()

    def cancel(self) -> None:
        """Cancel the work, only once: a second cancellation would interrupt its cleanup."""
        if self.task is not None and self.result is None and not self.task.cancelling():
            self.task.cancel()

    def attach(self, call: "JobStream") -> None:
        self._calls.add(call)
        self._stop_timer()

    def detach(self, call: "JobStream", patience: float) -> None:
        """Remove a closed call. A job without calls is cancelled; with a key, only after `patience` seconds."""
        self._calls.discard(call)
        if self._calls or self.result is not None:
            return
        if self._outcome.key is None:
            self.cancel()
        else:
            self._timer = asyncio.get_running_loop().call_later(patience, self.cancel)

    def _report(self, progress: BackupProgress) -> None:
        self.progress = progress
        self._wake()

    def _wake(self) -> None:
        for call in list(self._calls):
            call.wake()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class JobStream(OutputOnlyStream):
    """Serves one call: sends the latest progress when there is credit, and then the result."""

    def __init__(self, call: ServerCall, job: BackupJob, patience: float) -> None:
        super().__init__(call)
        self._job = job
        self._patience = patience
        self._sent: BackupProgress | None = None
        job.attach(self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        job = self._job
        if isinstance(job.result, HawseError):
            self._call.error(job.result)
        elif job.result is not None:
            self._call.result(job.result)
        elif job.progress is not self._sent and connection.window(ch) > 0:
            self._sent = job.progress
            connection.send_event(ch, "progress", self._sent)
        return False

    def detach(self) -> None:
        self._job.detach(self, self._patience)
