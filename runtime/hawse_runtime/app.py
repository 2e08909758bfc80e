"""The composition root for a sandbox's runtime: combines terminals, processes and files in one server."""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import hawse
from hawse.api.runtime import RuntimeConfigure, RuntimeInfo, RuntimeMetrics, RuntimeMetricsResult
from hawse.api.spec import Nothing
from hawse.link.keystrokes import Keystrokes
from hawse.rpc import Dispatcher, IdempotencyTable, handles
from hawse.rpc.server import Server
from hawse.wire import HawseError
from hawse_runtime.activity import ActivityMethods, Source, TerminalOutput
from hawse_runtime.backup.methods import BackupMethods
from hawse_runtime.code.methods import CodeMethods
from hawse_runtime.core.fair_work import FairWork
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.output_search import SearchContext
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.desktop.methods import DesktopMethods
from hawse_runtime.files.methods import FileMethods
from hawse_runtime.git.methods import GitMethods
from hawse_runtime.journal.journal import JournalPool
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.ports.methods import PortMethods
from hawse_runtime.ports.previews import PreviewTable
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.oom import OomCounter
from hawse_runtime.posix.orphaned_pipes import OrphanedPipes
from hawse_runtime.posix.proc import list_proc, read_proc
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.stale_processes import RuntimeIdFile, end_stale_processes
from hawse_runtime.process.exec import ExecMethods
from hawse_runtime.process.launcher import Launcher
from hawse_runtime.process.methods import ProcessMethods
from hawse_runtime.process.process import ProcessContext
from hawse_runtime.recording.methods import RecordingMethods
from hawse_runtime.rpc.stream_slots import StreamSlots
from hawse_runtime.screen.screen_process import ScreenProcess
from hawse_runtime.session.methods import SessionMethods
from hawse_runtime.settings import RuntimeSettings
from hawse_runtime.terminal.automation import AutomationMethods
from hawse_runtime.terminal.methods import TerminalMethods
from hawse_runtime.terminal.question_methods import QuestionMethods
from hawse_runtime.watch.methods import WatchMethods

log = logging.getLogger(__name__)


class _Shared:
    """Objects shared by several groups of methods."""

    def __init__(self, settings: RuntimeSettings, runtime_id: str, tasks: Tasks, pools: ThreadPools) -> None:
        limits = settings.limits
        self.keystrokes = Keystrokes()
        self.journals = JournalPool(limits.journals, self.keystrokes)
        self.idempotency = IdempotencyTable(limits.idempotency)
        self.environment = Environment(settings.workspace, mark=runtime_id)
        self.context = ProcessContext(
            tasks=tasks,
            trees=ProcessTrees(pools.kill),
            disk=pools.disk,
            journal=self.journals.journal,
            orphaned_pipes=OrphanedPipes(),
            oom=OomCounter(settings.oom_kills),
            limits=limits.programs,
        )
        self.launcher = Launcher(self.environment, self.context)
        self.search = SearchContext(pools.search, FairWork())
        self.slots = StreamSlots()


class Runtime:
    """A runtime's parts, and the server that exposes them. `id` identifies this run of the runtime."""

    def __init__(self, settings: RuntimeSettings, tasks: Tasks, pools: ThreadPools) -> None:
        workspace, limits, private = settings.workspace, settings.limits, settings.private
        self.pools = pools
        self.id = settings.id or secrets.token_hex(8)
        workspace.mkdir(parents=True, exist_ok=True)
        self._started = time.time()
        self._revision = 0  # the configuration's revision
        self._command = settings.command
        self._id_file = RuntimeIdFile(private) if private is not None else None
        shared = _Shared(settings, self.id, tasks, pools)
        environment, trees, idempotency = shared.environment, shared.context.trees, shared.idempotency
        self.environment, self.trees, self.journals = environment, trees, shared.journals
        self.orphaned_pipes = shared.context.orphaned_pipes
        self.screens = ScreenProcess(settings.python)
        self.terminals = TerminalMethods(
            environment, shared.journals, trees, self.screens, pools.look, of_each=limits.terminals_of_each
        )
        self.automation = AutomationMethods(self.terminals, shared.search)
        self.questions = QuestionMethods(self.terminals)
        self.execs = ExecMethods(shared.launcher, idempotency)
        self.spill = SpillStore(pools.spill, private and private.folder("spill"), limits.spill)
        self.processes = ProcessMethods(shared.launcher, self.execs, self.spill, shared.search, limits.processes)
        self.desktops = DesktopMethods(environment, shared.launcher, self.processes, pools.image)
        self.sessions = SessionMethods(environment, shared.context, limits.sessions, idempotency, self.processes)
        code_store = SpillStore(pools.spill, private and private.folder("spill-code"), limits.code.spill)
        self.code = CodeMethods(environment, shared.context, code_store, idempotency, limits.code, settings.python)
        root = str(settings.root) if settings.root else None
        self.files = FileMethods(
            *(environment, pools.disk, tasks, idempotency),
            root=root,
            quota=settings.quota,
            private=private,
            limits=limits.uploads,
            slots=shared.slots,
            session_directory=self.sessions.directory,
        )
        recordings = (
            private.folder("recordings") if private is not None else Folder(workspace / ".hawse" / "recordings")
        )
        self.recordings = RecordingMethods(
            *(recordings, self.terminals, self.desktops.registry, pools.image, tasks, pools.disk, shared.slots)
        )
        self.watches = WatchMethods(environment, tasks, pools.disk, self.id, limits.watches)
        self.git = GitMethods(environment, trees, pools.disk, tasks, idempotency, limits.git)
        self._backups = BackupMethods(
            *(environment, pools.disk, tasks, shared.slots, self.files.quota, self.git.ignored), root=root
        )
        self.previews = PreviewTable(private)
        self.ports = PortMethods(self.id, tasks, pools.proc, self.previews)
        self.server = self._serve(settings, tasks, shared)

    def _serve(self, settings: RuntimeSettings, tasks: Tasks, shared: _Shared) -> Server:
        """Return a server for all methods. Calls to it count as activity."""
        sources: list[Source] = [self._programs, self._viewers, TerminalOutput(self.terminals)]
        activity = ActivityMethods(sources, lambda: self.previews.digests)
        dispatcher = Dispatcher(tasks.start, shared.idempotency, stop_delay=settings.limits.stop_delay)
        dispatcher.on_call = activity.note_call
        programs = (self.execs, self.processes, self.sessions, self.code)
        terminals = (self.terminals, self.automation, self.questions)
        others = (self.files, self._backups, self.recordings, self.ports, self.watches, self.git, self.desktops)
        for part in (self, activity, *terminals, *programs, *others):
            dispatcher.add(part)
        return Server(
            dispatcher,
            name=f"hawse-runtime/{hawse.__version__}",
            token=settings.token,
            outside_only=settings.outside_only,
            limits=settings.limits.links,
            keystrokes=shared.keystrokes,
        )

    @handles(RuntimeInfo)
    def _info(self, params: RuntimeInfo) -> dict[str, Any]:
        return self.info()

    @handles(RuntimeMetrics)
    def _metrics(self, params: RuntimeMetrics) -> RuntimeMetricsResult:
        return self.metrics()

    @handles(RuntimeConfigure)
    async def _configure(self, params: RuntimeConfigure) -> Nothing:
        await self.files.initial.write(params.files)
        if params.revision >= self._revision:
            self._revision = params.revision
            self.environment.configured = params.env
            self.ports.configure(params.ports)
        return Nothing()

    def _programs(self) -> tuple[list[str], float | None]:
        """Report activity in processes, commands, sessions that are running a command, and open questions."""
        processes, commands = self.processes.records, self.execs.registry
        running = [f"process {process.id}" for process in processes.running]
        running += [f"command {command.id}" for command in commands.running]
        running += [f"session {session}" for session in self.sessions.busy]
        running += [f"question {question.id}" for question in self.questions.table.asked]
        ends = [end for end in (processes.last_end, commands.last_end) if end is not None]
        return running, max(ends, default=None)

    def _viewers(self) -> tuple[list[str], None]:
        """Report activity in terminals with viewers."""
        return [f"terminal {terminal.id}" for terminal in self.terminals if len(terminal.viewers)], None

    def info(self) -> dict[str, Any]:
        """Return the result of `runtime.info`. `memory` is the resident size in bytes."""
        return {
            "runtime": self.id,
            "pid": os.getpid(),
            "version": hawse.__version__,
            "started": self._started,
            "terminals": len(self.terminals),
            "processes": len(self.processes) + len(self.execs),
            "sessions": len(self.sessions),
            "open_fds": _open_fds(),
            "tasks": len(asyncio.all_tasks()),
            "memory": _memory(),
        }

    def metrics(self) -> RuntimeMetricsResult:
        """Return gauges and counters, in O(number of viewers). Meant for periodic scraping."""
        terminals = self.terminals
        lags = [viewer.lag for terminal in terminals for viewer in terminal.viewers]
        return RuntimeMetricsResult(
            started=self._started,
            cpu=time.process_time(),
            memory=_memory(),
            open_fds=_open_fds(),
            terminals=sum(terminal.exit is None for terminal in terminals),
            processes=sum(process.exit is None for process in self.processes.records) + len(self.execs),
            sessions=len(self.sessions),
            viewers=len(lags),
            lag=sum(lags),
            lag_max=max(lags, default=0),
            journals=self.journals.memory,
            snapshots=terminals.snapshots.held,
            recordings=self.recordings.active,
            output=terminals.output,
            reseeds=terminals.stats.reseeds,
            echo=terminals.stats.echoes(),
        )

    async def begin(self) -> None:
        """End processes left by a killed runtime with the same state directory, then start the image's command, if
        any.
        """
        if self._id_file is not None:
            if (earlier := self._id_file.read()) is not None:
                await end_stale_processes(self.trees, earlier)
            self._id_file.write(self.id)
        await self._backups.begin()
        if self._command is not None:
            try:
                self.processes.start(self._command)
            except HawseError as error:  # not fatal: the sandbox can be used without the command
                log.error("! cannot start the image's command: %s", error)

    async def close(self) -> None:
        """End all programs and calls, and remove temporary files."""
        self.server.close()
        self.files.close()
        self.questions.close()
        await asyncio.gather(
            *(self.watches.close(), self.terminals.close(), self.sessions.close(), self.git.close()),
            *(self.code.close(), self.desktops.close()),
        )
        await self.processes.close()  # also ends processes left behind by the objects closed above
        self.orphaned_pipes.close()
        await self.recordings.close()
        await self.screens.close()
        self.trees.close()
        if self._id_file is not None:
            self._id_file.remove()


def _memory() -> int:
    """Return the resident memory in bytes."""
    return int(read_proc("self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_fds() -> int:
    return len(list_proc("self/fd"))


@asynccontextmanager
async def running(settings: RuntimeSettings) -> AsyncIterator[Runtime]:
    """Run a runtime with its task group and threads. By the time the block exits, everything it started has ended."""
    pools = ThreadPools()
    try:
        async with asyncio.TaskGroup() as group:
            runtime = Runtime(settings, Tasks(group), pools)
            try:
                await runtime.begin()
                yield runtime
            finally:
                await runtime.close()
    finally:
        pools.close()  # must come after the last task has ended, because tasks use the threads
