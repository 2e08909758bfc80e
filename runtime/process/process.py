"""A process: a program on pipes, and its two output streams."""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import structs

from hawse.api.paths import to_text
from hawse.api.processes import ProcessInfo, ProcessOpened, StreamOffsets
from hawse.api.types import Exit
from runtime.core.tasks import Tasks
from runtime.core.weak_callback import WeakCallback
from runtime.journal.input_offsets import InputOffsets, InputStreams
from runtime.journal.journal import Journal
from runtime.journal.spill import SpillStore
from runtime.posix.child import adopt
from runtime.posix.fd_streams import FdWriter
from runtime.posix.oom import OomCounter
from runtime.posix.orphaned_pipes import OrphanedPipes
from runtime.posix.process_table import PROCESS_MARK
from runtime.posix.process_tree import ProcessTrees
from runtime.posix.spawn import spawn_pipes
from runtime.process.output_stream import OutputStream

TIMED_OUT = 124  # the exit code of timeout(1)
KILL_GRACE = 5.0  # seconds from TERM to KILL after a timeout
SHRUNK = 4096  # bytes of each stream that are kept of an old command


class ProcessContext(NamedTuple):
    """The objects that all processes of a runtime share."""

    tasks: Tasks
    journal: Callable[[], Journal]
    oom: OomCounter
    orphaned_pipes: OrphanedPipes
    trees: ProcessTrees


class ProcessSubscriber(Protocol):
    """A reader that is woken by new output and by the end."""

    def wake(self) -> None: ...


class Process:
    """One program, from its start until its output is dropped."""

    def __init__(
        self,
        process_id: str,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bool,
        timeout: float | None,
        ground: ProcessContext,
        on_exit: Callable[["Process"], None],
        store: SpillStore | None = None,
    ) -> None:
        """Start `argv`. `timeout` in seconds; it kills the whole tree. Raises as `ground.journal` and `spawn_pipes` do.

        `store`: where its output goes that is too much for memory; without one it is lost.
        """
        self.id = process_id
        self.instance = secrets.token_hex(8)
        self.argv = list(argv)
        self.cwd = cwd
        self.started = time.time()
        self.inputs = InputOffsets()
        self.exit: Exit | None = None
        self.readers: dict[ProcessSubscriber, None] = {}
        self._ground = ground
        self._mark = f"{PROCESS_MARK}={self.instance}"
        self._on_exit = on_exit
        self._timed_out = False
        self._ours_to_kill = False  # a SIGKILL may be ours, and then it is not the kernel's for want of memory
        self._kills = ground.oom.kills()
        journals = ground.journal(), ground.journal()
        self.writers = InputStreams()
        pipes = spawn_pipes(argv, env={**env, PROCESS_MARK: self.instance}, cwd=cwd, stdin=stdin)
        self._child = adopt(pipes.pid, self._exited, *(fd for fd in pipes[1:] if fd is not None))
        self.stdin = FdWriter(pipes.stdin, owned=True) if pipes.stdin is not None else None
        self.stdout = OutputStream(pipes.stdout, journals[0], WeakCallback(self._wake), store, ground.orphaned_pipes)
        self.stderr = OutputStream(pipes.stderr, journals[1], WeakCallback(self._wake), store, ground.orphaned_pipes)
        self._timer = asyncio.get_running_loop().call_later(timeout, self._time_out) if timeout is not None else None

    @property
    def pid(self) -> int:
        return self._child.pid

    def describe(self) -> ProcessInfo:
        return ProcessInfo(
            id=self.id,
            instance=self.instance,
            pid=self.pid,
            argv=self.argv,
            cwd=to_text(self.cwd),
            started=self.started,
            state="running" if self.exit is None else "exited",
            exit=self.exit,
            stdout=self.stdout.describe(),
            stderr=self.stderr.describe(),
        )

    def opened(self, start: StreamOffsets, input_offset: int) -> ProcessOpened:
        """Return the event `opened` for a reader that begins at `start`."""
        return ProcessOpened(**structs.asdict(self.describe()), start=start, input_offset=input_offset)

    def signal(self, signum: int) -> None:
        self._ours_to_kill |= signum == signal.SIGKILL
        self._child.signal_group(signum)

    async def end(self, signum: int, grace: float) -> None:
        """Send `signum` to the whole tree, KILL after `grace` seconds; return when no process of it is left.

        Also when it has ended by itself, for what it left behind.
        """
        self._ours_to_kill = True
        await self._ground.trees.end(self.pid, signum, grace, lambda: self.exit is not None, mark=self._mark)

    def shrink(self) -> None:
        """Keep the last SHRUNK bytes of each stream only."""
        for stream in (self.stdout, self.stderr):
            stream.journal.limit(SHRUNK)

    def forget(self) -> None:
        """Delete the output: the process can no longer be found."""
        for stream in (self.stdout, self.stderr):
            stream.forget()

    def _time_out(self) -> None:
        self._timed_out = True
        self._ground.tasks.start(self.end(signal.SIGTERM, KILL_GRACE))

    def _exited(self, result: Exit) -> None:
        self.writers.close()
        if self._timer is not None:
            self._timer.cancel()
        if self._timed_out:
            result = Exit(code=TIMED_OUT, timed_out=True)
        elif result.signal == "SIGKILL" and not self._ours_to_kill:
            result = structs.replace(result, oom=self._ground.oom.claim(self._kills))
        for stream in (self.stdout, self.stderr):
            stream.finish()
        self.exit = result
        if self.stdin is not None:
            self.stdin.close()
        self._wake()
        self._on_exit(self)

    def _wake(self) -> None:
        for reader in list(self.readers):
            reader.wake()
