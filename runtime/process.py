"""A process: a program on pipes, a journal for each of its two streams, and its readers."""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from hawse.api.fields import Exit, StreamName
from hawse.api.processes import Kept, Offsets, ProcessInfo, ProcessOpened, Truncated
from hawse.wire import Connection, HawseError, Kind
from runtime import tree
from runtime.call import Call
from runtime.inputs import Inputs
from runtime.journal import Journal
from runtime.pace import Pacer
from runtime.pipes import WRITE_LIMIT, Inlet, Outlet
from runtime.reaper import adopt
from runtime.spawn import spawn_pipes

TIMED_OUT = 124  # the exit code of timeout(1)
KILL_GRACE = 5.0  # seconds from TERM to KILL after a timeout
SHRUNK = 4096  # bytes of each stream that are kept of an old exec's output
LAST_WORDS = 1 << 20  # bytes read after the program's end: the most a pipe holds


class OutputStream:
    """stdout or stderr: the pipe, its journal and its pace."""

    def __init__(self, fd: int, journal: Journal, changed: Callable[[], None]) -> None:
        self.journal = journal
        self._inlet = Inlet(fd, journal.append, self._burst_over, changed)
        self.pacer = Pacer(journal, self._inlet.pause, self._inlet.resume)
        self._changed = changed

    def describe(self) -> Kept:
        return Kept(start=self.journal.start, offset=self.journal.end)

    def finish(self) -> None:
        """The program has ended: take what it left, and let go of a pipe that its children may still hold."""
        self._inlet.drain(LAST_WORDS)
        self._inlet.close()
        self.pacer.close()

    def _burst_over(self) -> None:
        self._changed()
        self.pacer.update()


class Cursor:
    """A reader's place in one stream."""

    lossless = True

    def __init__(self, stream: OutputStream, kind: Kind, since: int) -> None:
        self.stream = stream
        self.kind = kind
        self.cursor = since

    @property
    def at_end(self) -> bool:
        return self.cursor >= self.stream.journal.end


class Process:
    """One started program, from its start until it is forgotten."""

    def __init__(
        self,
        process_id: str,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bool,
        timeout: float | None,
        journal: Callable[[], Journal],
        on_exit: Callable[["Process"], None],
    ) -> None:
        """Start `argv`. `timeout` in seconds; it kills the whole tree. Raises as `spawn_pipes` does."""
        self.id = process_id
        self.instance = secrets.token_hex(8)
        self.argv = list(argv)
        self.cwd = cwd
        self.started = time.time()
        self.inputs = Inputs()
        self.exit: Exit | None = None
        self.readers: dict[ProcessReader, None] = {}
        self._on_exit = on_exit
        self._timed_out = False
        self._doomed: set[tree.Member] = set()  # what a timeout has to end
        pipes = spawn_pipes(argv, env=env, cwd=cwd, stdin=stdin)
        self._child = adopt(pipes.pid, self._exited, *(fd for fd in pipes[1:] if fd is not None))
        self.stdin = Outlet(pipes.stdin, owned=True) if pipes.stdin is not None else None
        self.stdout = OutputStream(pipes.stdout, journal(), self._wake)
        self.stderr = OutputStream(pipes.stderr, journal(), self._wake)
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
            cwd=self.cwd,
            started=self.started,
            state="running" if self.exit is None else "exited",
            exit=self.exit,
            stdout=self.stdout.describe(),
            stderr=self.stderr.describe(),
        )

    def signal(self, signum: int) -> None:
        self._child.signal_group(signum)

    async def end(self, signum: int, grace: float) -> None:
        """`signum` to the whole tree, KILL after `grace` seconds; return when nothing is left of it.

        Once it has ended nothing is done: its pid may be another's, and what it left behind was meant to stay.
        """
        if self.exit is None:
            await tree.end(self.pid, signum, grace, lambda: self.exit is not None)

    def shrink(self) -> None:
        """Keep little of the output: it ended long ago."""
        for stream in (self.stdout, self.stderr):
            stream.journal.limit(SHRUNK)

    def _time_out(self) -> None:
        self._timed_out = True
        self._doomed = tree.interrupt(self.pid, signal.SIGTERM)
        self._timer = asyncio.get_running_loop().call_later(KILL_GRACE, self._kill_rest)

    def _kill_rest(self) -> None:
        tree.kill(self._doomed | tree.members(self.pid), signal.SIGKILL)

    def _exited(self, result: Exit) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._timed_out:
            self._kill_rest()  # what of the tree did not go with its leader
            result = Exit(code=TIMED_OUT, timed_out=True)
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


class ProcessReader:
    """Serves one `process.attach` or `exec` call. A `Stream`."""

    def __init__(
        self,
        process: Process,
        call: Call,
        *,
        stdout: int,
        stderr: int,
        input_id: str | None,
        hold_id: str | None,
        result: Callable[[Process], Any],
        exit_event: bool,
        only_caller: bool = False,
    ) -> None:
        """`hold_id` keeps its place for a while when it is cut off; `result` makes the call's result at the end.

        `only_caller`: nobody can come back for this process, so its stdin ends with this call.
        """
        self._process = process
        self._call = call
        self._input_id = input_id
        self._hold_id = hold_id
        self._result = result
        self._exit_event = exit_event  # it has still to be told
        self._only_caller = only_caller
        self._opened = False
        self._turn = 0
        self._cursors = (
            Cursor(process.stdout, Kind.OUTPUT, stdout),
            Cursor(process.stderr, Kind.STDERR, stderr),
        )
        process.readers[self] = None
        for cursor in self._cursors:
            cursor.stream.pacer.add(cursor, hold_id)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        cursors = (self._cursors[self._turn], self._cursors[self._turn ^ 1])
        ended = self._opened and self._process.exit is not None and all(cursor.at_end for cursor in cursors)
        if ended and not self._exit_event:
            self._call.result(self._result(self._process))  # free, so without a look at the window
            return False
        if connection.window(ch) <= 0:
            return False
        if not self._opened:
            self._opened = True
            self._open(connection, ch)
            return True
        if ended:
            self._exit_event = False
            connection.send_event(ch, "exit", self._process.exit)
            return True
        self._turn ^= 1
        for cursor in cursors:
            if not cursor.at_end:
                self._send(connection, ch, cursor, size)
                return True
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        process, input_id = self._process, self._input_id
        if input_id is None or process.stdin is None:
            raise HawseError("protocol_error", "this call takes no input")
        fresh = process.inputs.fresh(input_id, offset, payload)
        applied = {"applied": process.inputs.applied(input_id)}
        if fresh and process.stdin.ended:
            raise HawseError("exited", "stdin was ended", details=applied)
        if process.stdin.pending + len(fresh) > WRITE_LIMIT:
            raise HawseError("input_overflow", "the program does not read its input", details=applied)
        process.inputs.advance(input_id, len(fresh))
        self._call.applied(len(payload) - len(fresh))
        process.stdin.write(fresh, self._call.applied)

    def receive_end(self) -> None:
        if self._process.stdin is not None and self._input_id is not None:
            self._process.stdin.end()

    def detach(self) -> None:
        self._process.readers.pop(self, None)
        for cursor in self._cursors:
            cursor.stream.pacer.remove(cursor)
        if self._only_caller and self._process.stdin is not None:
            self._process.stdin.end()

    def wake(self) -> None:
        self._call.wake()

    def _open(self, connection: Connection, ch: int) -> None:
        """Say where reading begins: above `since` where the journal no longer reaches back so far."""
        for cursor in self._cursors:
            cursor.cursor = max(cursor.cursor, cursor.stream.journal.start)
        out, err = self._cursors
        opened = ProcessOpened(
            **structs.asdict(self._process.describe()),
            start=Offsets(stdout=out.cursor, stderr=err.cursor),
            input_offset=self._process.inputs.applied(self._input_id) if self._input_id else 0,
        )
        connection.send_event(ch, "opened", opened)

    def _send(self, connection: Connection, ch: int, cursor: Cursor, size: int) -> None:
        journal = cursor.stream.journal
        if cursor.cursor < journal.start:
            name: StreamName = "stdout" if cursor.kind is Kind.OUTPUT else "stderr"
            connection.send_event(ch, "truncated", Truncated(stream=name, start=journal.start))
            cursor.cursor = journal.start
            return
        data = journal.read(cursor.cursor, min(size, connection.window(ch)))
        connection.send_data(ch, cursor.kind, cursor.cursor, data)
        cursor.cursor += len(data)
        cursor.stream.pacer.update()
