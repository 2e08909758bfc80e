"""A process: a program connected to pipes, with two output streams."""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from hawse.api.paths import to_text
from hawse.api.processes import ProcessInfo, ProcessOpened, StreamOffsets
from hawse.api.types import Exit
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.input_offsets import InputOffsets, InputStreams
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.posix.child import adopt
from hawse_runtime.posix.fd_streams import FdWriter
from hawse_runtime.posix.oom import OomCounter
from hawse_runtime.posix.orphaned_pipes import OrphanedPipes
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.spawn import spawn_pipes
from hawse_runtime.process.output_stream import OutputStream

TIMED_OUT = 124  # the same exit code as timeout(1)
SHRUNK = 4096  # number of bytes kept from each output stream of an old command


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on programs started by `exec` and `process.start`."""

    running: int = 4096  # maximum number of concurrent programs
    kill_grace: float = 5.0  # seconds from SIGTERM to SIGKILL, both after a timeout and by default
    ended_execs: int = 256  # number of ended keyed commands whose complete output is kept
    stdin_timeout: float = 300.0  # seconds without a client until a keyed command's stdin is closed


class ProcessContext(msgspec.Struct, frozen=True, kw_only=True):
    """Objects shared by all of a runtime's processes."""

    tasks: Tasks  # owns tasks that end process trees
    trees: ProcessTrees  # reads the process table and ends process trees
    disk: ThreadPool  # reads small files
    journal: Callable[[], Journal]  # creates the journal for an output stream
    orphaned_pipes: OrphanedPipes  # drains pipes kept open by background children
    oom: OomCounter  # counts OOM kills
    limits: ProcessLimits = msgspec.field(default_factory=ProcessLimits)


class ProcessOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for starting a process."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]  # the process's complete environment
    stdin: bool = False  # whether stdin is a pipe; otherwise, it is /dev/null
    timeout: float | None = None  # time limit for the whole process tree, in seconds; None means no limit
    session: str | None = None  # id of the session starting the process
    store: SpillStore | None = None  # stores output above the memory limit on disk; without a store, it is lost


class ProcessSubscriber(Protocol):
    """A reader that is woken on new output and when the process ends."""

    def wake(self) -> None: ...


class Process:
    """A program, from its start until its output is deleted."""

    def __init__(
        self,
        process_id: str,
        options: ProcessOptions,
        context: ProcessContext,
        on_exit: Callable[["Process"], None],
    ) -> None:
        """Start a program.

        Args:
            process_id: The process's id.
            options: The program, its environment, directory, stdin and timeout.
            context: Objects shared with other processes.
            on_exit: Called once when the process has ended.

        Raises:
            HawseError: `limit_exceeded`, `invalid_params`, `spawn_failed` or `too_large`. No program was started.
        """
        self.id = process_id
        self.instance = secrets.token_hex(8)
        self.argv = list(options.argv)
        self.cwd = options.cwd
        self.session = options.session
        self.started = time.time()
        self.ended: float | None = None  # when the process ended, in seconds since 1970
        self.duration: float | None = None  # duration in seconds; set when the process ends
        self._begun_at = time.monotonic()
        self.inputs = InputOffsets()
        self.exit: Exit | None = None
        self.readers: dict[ProcessSubscriber, None] = {}
        self._context = context
        self._mark = f"{PROCESS_MARK}={self.instance}"
        self._on_exit = on_exit
        self._timed_out = False
        self._sent_kill = False  # whether the runtime may have sent SIGKILL; if so, the exit isn't an OOM kill
        self._oom_kills = context.oom.kills()  # number of OOM kills when the process started
        journals = context.journal(), context.journal()
        self.writers = InputStreams()
        env = {**options.env, PROCESS_MARK: self.instance}
        pipes = spawn_pipes(options.argv, env=env, cwd=options.cwd, stdin=options.stdin)
        self._child = adopt(pipes.pid, self._exited, *(fd for fd in pipes[1:] if fd is not None))
        self.stdin = FdWriter(pipes.stdin, owned=True) if pipes.stdin is not None else None
        changed, store, orphaned_pipes = WeakCallback(self._wake), options.store, context.orphaned_pipes
        self.stdout = OutputStream(pipes.stdout, journals[0], changed, store, orphaned_pipes)
        self.stderr = OutputStream(pipes.stderr, journals[1], changed, store, orphaned_pipes)
        self._timer: asyncio.TimerHandle | None = None
        if options.timeout is not None:
            self._timer = asyncio.get_running_loop().call_later(options.timeout, self._time_out)

    @property
    def pid(self) -> int:
        return self._child.pid

    def describe(self) -> ProcessInfo:
        return ProcessInfo(
            id=self.id,
            instance=self.instance,
            pid=self._child.own_pid,
            argv=self.argv,
            cwd=to_text(self.cwd),
            started=self.started,
            ended=self.ended,
            session=self.session,
            state="running" if self.exit is None else "exited",
            exit=self.exit,
            stdout=self.stdout.describe(),
            stderr=self.stderr.describe(),
        )

    def opened(self, start: StreamOffsets, input_offset: int) -> ProcessOpened:
        """Return the `opened` event for a reader starting at `start`."""
        return ProcessOpened(**msgspec.structs.asdict(self.describe()), start=start, input_offset=input_offset)

    def signal(self, signum: int) -> None:
        self._sent_kill |= signum == signal.SIGKILL
        self._child.signal_group(signum)

    async def end(self, signum: int, grace: float) -> None:
        """Send `signum` to the process tree, and SIGKILL after `grace` seconds. Return once all processes have exited.

        If the process itself has exited, this ends its remaining children.
        """
        self._sent_kill = True
        await self._context.trees.end(self.pid, signum, grace, lambda: self.exit is not None, mark=self._mark)

    def shrink(self) -> None:
        """Keep only the last SHRUNK bytes of each output stream."""
        for stream in (self.stdout, self.stderr):
            stream.journal.limit(SHRUNK)

    def forget(self) -> None:
        """Delete the output. Called after the process has been removed from its registry."""
        for stream in (self.stdout, self.stderr):
            stream.forget()

    def _time_out(self) -> None:
        self._timed_out = True
        self._context.tasks.start(self.end(signal.SIGTERM, self._context.limits.kill_grace))

    def _exited(self, result: Exit) -> None:
        self.writers.close()
        if self._timer is not None:
            self._timer.cancel()
        if self._timed_out:
            result = Exit(code=TIMED_OUT, timed_out=True)
        elif result.signal == "SIGKILL" and not self._sent_kill:
            result = msgspec.structs.replace(result, oom=self._context.oom.claim(self._oom_kills))
        for stream in (self.stdout, self.stderr):
            stream.finish()
        self.exit = result
        self.duration = time.monotonic() - self._begun_at
        self.ended = self.started + self.duration
        if self.stdin is not None:
            self.stdin.close()
        self._wake()
        self._on_exit(self)

    def _wake(self) -> None:
        for reader in list(self.readers):
            reader.wake()
