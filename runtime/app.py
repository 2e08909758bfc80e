"""The runtime of one sandbox, put together: its terminals, processes and files behind one server."""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hawse.api.runtime import RuntimeInfo, RuntimeMetrics, RuntimeMetricsResult
from hawse.rpc import Dispatcher, IdempotencyTable, handles
from hawse.rpc.server import Server
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPools
from runtime.files.methods import FileMethods
from runtime.git.methods import GitMethods
from runtime.journal.journal import JournalPool
from runtime.journal.spill import SpillStore
from runtime.ports.methods import PortMethods
from runtime.posix.environment import Environment
from runtime.posix.oom import OomCounter
from runtime.posix.orphaned_pipes import OrphanedPipes
from runtime.posix.process_tree import ProcessTrees
from runtime.posix.stale_processes import RuntimeIdFile, end_stale_processes
from runtime.process.exec import ExecMethods
from runtime.process.launcher import Launcher
from runtime.process.methods import ProcessMethods
from runtime.process.process import ProcessContext
from runtime.recording.methods import RecordingMethods
from runtime.session.methods import SessionMethods
from runtime.settings import RuntimeSettings
from runtime.terminal.automation import AutomationMethods
from runtime.terminal.methods import TerminalMethods
from runtime.watch.methods import WatchMethods

log = logging.getLogger(__name__)


def package_version() -> str:
    try:
        return version("hawse")
    except PackageNotFoundError:  # a bundle without metadata
        return "unknown"


class Runtime:
    """What lives as long as the sandbox. `id` names this incarnation."""

    def __init__(self, settings: RuntimeSettings, tasks: Tasks, pools: ThreadPools) -> None:
        workspace, limits = settings.workspace, settings.limits
        self.pools = pools
        self.id = secrets.token_hex(8)
        workspace.mkdir(parents=True, exist_ok=True)
        self._started = time.time()
        journals = self._journals = JournalPool(limits.journals)
        outcomes = IdempotencyTable()
        environment = Environment(workspace, mark=self.id)
        trees = self._trees = ProcessTrees(pools.kill)
        self._id_file = RuntimeIdFile(settings.id_file) if settings.id_file is not None else None
        self._terminals = TerminalMethods(environment, journals, trees)
        leftovers = self._leftovers = OrphanedPipes()
        launcher = Launcher(environment, ProcessContext(tasks, journals.journal, OomCounter(), leftovers, trees))
        execs = self._execs = ExecMethods(launcher, outcomes)
        spill = SpillStore(pools.spill, settings.spill, limits.spill)
        self._processes = ProcessMethods(launcher, execs, spill, pools.search, limits.processes)
        self._sessions = SessionMethods(environment, journals, outcomes, tasks, trees, self._processes, leftovers)
        root = str(settings.root) if settings.root else None
        self._files = FileMethods(environment, pools.disk, tasks, outcomes, root=root, quota=settings.quota)
        self._recordings = RecordingMethods(
            settings.recordings or workspace / ".hawse" / "recordings", self._terminals, tasks, pools.disk
        )
        self._watches = WatchMethods(environment, tasks, pools.disk, self.id, limits.watches)
        self._gits = GitMethods(environment, trees, pools.disk, tasks, outcomes)
        dispatcher = Dispatcher(tasks.start, outcomes)
        self._agents = AutomationMethods(self._terminals, pools.search)
        ports = PortMethods(self.id, tasks, pools.proc)
        programs = (self._terminals, execs, self._processes, self._sessions, self._agents)
        for part in (self, *programs, self._files, self._recordings, ports, self._watches, self._gits):
            dispatcher.add(part)
        self.server = Server(dispatcher, name=f"hawse-runtime/{package_version()}", token=settings.token)

    @handles(RuntimeInfo)
    def _info(self, params: RuntimeInfo) -> dict[str, Any]:
        return self.info()

    @handles(RuntimeMetrics)
    def _metrics(self, params: RuntimeMetrics) -> RuntimeMetricsResult:
        return self.metrics()

    def info(self) -> dict[str, Any]:
        """What it is and what it holds; `memory` is the resident size in bytes."""
        return {
            "runtime": self.id,
            "pid": os.getpid(),
            "version": package_version(),
            "started": self._started,
            "terminals": len(self._terminals),
            "processes": len(self._processes) + len(self._execs),
            "sessions": len(self._sessions),
            "open_fds": _open_fds(),
            "tasks": len(asyncio.all_tasks()),
            "memory": _memory(),
        }

    def metrics(self) -> RuntimeMetricsResult:
        """What it holds now and what it has counted. O(number of viewers); intended for periodic scraping."""
        terminals = self._terminals
        lags = [viewer.lag for terminal in terminals for viewer in terminal.viewers]
        return RuntimeMetricsResult(
            started=self._started,
            cpu=time.process_time(),
            memory=_memory(),
            open_fds=_open_fds(),
            terminals=sum(terminal.exit is None for terminal in terminals),
            processes=sum(process.exit is None for process in self._processes.records) + len(self._execs),
            sessions=len(self._sessions),
            viewers=len(lags),
            lag=sum(lags),
            lag_max=max(lags, default=0),
            journals=self._journals.memory,
            snapshots=terminals.snapshots.held,
            recordings=self._recordings.active,
            output=terminals.output,
            reseeds=terminals.stats.reseeds,
            echo=terminals.stats.echoes(),
        )

    async def begin(self) -> None:
        """End what a killed runtime of the same state directory has left running."""
        if self._id_file is not None:
            if (earlier := self._id_file.read()) is not None:
                await end_stale_processes(self._trees, earlier)
            self._id_file.write(self.id)

    async def close(self) -> None:
        """End everything that runs here."""
        self.server.close()
        self._files.close()
        await asyncio.gather(self._watches.close(), self._terminals.close(), self._sessions.close(), self._gits.close())
        await self._processes.close()  # and what the others have left behind
        self._leftovers.close()
        await self._recordings.close()
        self._trees.close()
        if self._id_file is not None:
            self._id_file.remove()


def _memory() -> int:
    """Resident bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_fds() -> int:
    return len(os.listdir("/proc/self/fd"))


@asynccontextmanager
async def running(settings: RuntimeSettings) -> AsyncIterator[Runtime]:
    """A runtime with its task group and its threads. At the end nothing that it started is left."""
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
        pools.close()  # when the last task has ended
