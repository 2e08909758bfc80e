"""A sandbox's processes, and the `process.*` methods."""

import asyncio
import logging
import secrets
import signal as signals

from hawse.api import Nothing
from hawse.api.processes import (
    ProcessAttach,
    ProcessAttachResult,
    ProcessGet,
    ProcessInfo,
    ProcessKill,
    ProcessKillall,
    ProcessKillallResult,
    ProcessKillResult,
    ProcessList,
    ProcessListResult,
    ProcessRemove,
    ProcessRemoveResult,
    ProcessSignal,
    ProcessStart,
    ProcessWait,
)
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.output_search import SearchContext
from hawse_runtime.core.registry import Retention
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.posix.process_tree import NO_ROOT
from hawse_runtime.process.attach import AttachOptions, ProcessAttachStream, beginning
from hawse_runtime.process.exec import ExecMethods
from hawse_runtime.process.launcher import Launcher
from hawse_runtime.process.process import Process
from hawse_runtime.process.registry import ProcessRegistry
from hawse_runtime.process.wait import ProcessWaitStream
from hawse_runtime.rpc.handle_checks import check_running, signal_number

log = logging.getLogger(__name__)

LISTED = 1000  # number of processes per page, unless the call sets a limit
CLOSING_GRACE = 0.5  # seconds from SIGTERM to SIGKILL when the runtime shuts down


class ProcessMethods:
    """Processes, whether running or ended. `close` also ends the commands run by `exec`."""

    def __init__(
        self, launcher: Launcher, execs: ExecMethods, store: SpillStore, search: SearchContext, retention: Retention
    ) -> None:
        """Create the methods.

        Args:
            launcher: Starts the processes.
            execs: The commands run by `exec`, which `process.*` can also read and end by id.
            store: Stores output above the memory limit on disk.
            search: Runs searches in the output.
            retention: Determines how long processes are kept once they have ended.
        """
        self.records = ProcessRegistry(retention)
        self._launcher = launcher
        self._execs = execs
        self._store = store
        self._search = search

    def __len__(self) -> int:
        return len(self.records)

    async def close(self) -> None:
        """End all processes and their trees, including the trees of processes that have already ended."""
        ends = [process.end(signals.SIGTERM, CLOSING_GRACE) for process in self._running()]
        for error in await asyncio.gather(*ends, self._end_the_rest(), return_exceptions=True):
            if isinstance(error, BaseException):
                log.error("! cannot end a process: %s", error)
        await self.records.close()
        await self._store.close()

    def _running(self) -> list[Process]:
        return [process for process in (*self.records, *self._execs.registry.running) if process.exit is None]

    async def _end_the_rest(self) -> None:
        await self._launcher.context.trees.end(
            NO_ROOT, signals.SIGTERM, CLOSING_GRACE, lambda: True, mark=self._launcher.mark
        )

    def _get_process(self, process_id: str, instance: str | None = None) -> Process:
        """Return a process or a running `exec` command. Raises `not_found` or `stale_handle`."""
        registry = self.records if self._execs.find_running(process_id) is None else self._execs.registry
        return registry.get(process_id, instance)

    @handles(ProcessStart)
    def _start(self, params: ProcessStart) -> ProcessInfo:
        return self.start(params)

    def start(self, params: ProcessStart, session: str | None = None) -> ProcessInfo:
        """Start a process. `session` is the id of the session starting it, if any."""
        process_id = params.id or f"p-{secrets.token_hex(4)}"
        with self.records.reserve(process_id):
            process = self._launcher.spawn(process_id, params, self.records.end, self._store, session)
            self.records.add(process)
        return process.describe()

    @handles(ProcessGet)
    def _get(self, params: ProcessGet) -> ProcessInfo:
        return self._get_process(params.id).describe()

    @serves(ProcessAttach)
    def _attach(self, call: ServerCall, params: ProcessAttach) -> None:
        process = self._get_process(params.id, params.instance)
        options = AttachOptions(
            since=beginning(process, params.since),
            result=_result,
            exit_event=True,
            input_id=params.input,
            hold_id=params.input if params.lossless else None,
        )
        call.serve(ProcessAttachStream(process, call, options))

    @serves(ProcessWait)
    def _wait(self, call: ServerCall, params: ProcessWait) -> None:
        process = self._get_process(params.id, params.instance)
        search = self._search._replace(caller=call.principal.id)
        wait = ProcessWaitStream(process, call, params, search, self._launcher.context.tasks)
        call.serve(wait)
        wait.begin()

    @handles(ProcessSignal)
    def _signal(self, params: ProcessSignal) -> Nothing:
        process = self._get_process(params.id, params.instance)
        signum = signal_number(params.signal)
        check_running("process", process)
        process.signal(signum)
        return Nothing()

    @handles(ProcessKill)
    async def _kill(self, params: ProcessKill) -> ProcessKillResult:
        process = self._get_process(params.id, params.instance)
        await process.end(*self._ending(params))
        assert process.exit is not None
        return ProcessKillResult(exit=process.exit)

    @handles(ProcessKillall)
    async def _kill_all(self, params: ProcessKillall) -> ProcessKillallResult:
        signum, grace = self._ending(params)
        chosen = [process for process in self._running() if params.session in (None, process.session)]
        results = await asyncio.gather(*(process.end(signum, grace) for process in chosen), return_exceptions=True)
        for error in results:  # raise errors only once all processes have been handled
            if isinstance(error, BaseException):
                raise error
        return ProcessKillallResult(killed=len(chosen))

    def _ending(self, params: ProcessKill | ProcessKillall) -> tuple[int, float]:
        """Return the first signal and the number of seconds until SIGKILL."""
        grace = self._launcher.context.limits.kill_grace if params.grace is None else params.grace
        return signal_number("TERM" if params.signal is None else params.signal), grace

    @handles(ProcessRemove)
    def _remove(self, params: ProcessRemove) -> ProcessRemoveResult:
        if params.id is None:
            ended = [each for each in self.records if each.exit and params.session in (None, each.session)]
        else:
            process = self._get_process(params.id, params.instance)
            if process.exit is None:
                raise HawseError("conflict", f"process {params.id} is running; end it first", admitted="yes")
            ended = [process]
        for each in ended:
            self.records.drop(each)
        return ProcessRemoveResult(removed=len(ended))

    @handles(ProcessList)
    def _list(self, params: ProcessList) -> ProcessListResult:
        return self.records.list(
            params.after, params.limit or LISTED, self._execs.registry.running, session=params.session
        )


def _result(process: Process, cut: bool) -> ProcessAttachResult:
    assert process.exit is not None
    return ProcessAttachResult(exit=process.exit, stdout=process.stdout.end, stderr=process.stderr.end)
