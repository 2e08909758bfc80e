"""One command of a session: its pipes and what is kept of its output, from the queue to its end."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from hawse.api.processes import StreamOffsets
from hawse.api.sessions import SessionExec, SessionExecOpened, SessionExecResult, SessionExecWaiting
from hawse.api.types import Exit
from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection, HawseError
from runtime.core.remove_tree import remove_tree
from runtime.core.weak_callback import WeakCallback
from runtime.journal.input_offsets import InputOffsets, InputStreams
from runtime.journal.journal import Journal
from runtime.posix.orphaned_pipes import OrphanedPipes
from runtime.process.attach import ProcessAttachStream, beginning
from runtime.process.output_stream import OutputStream
from runtime.process.process import SHRUNK, ProcessSubscriber
from runtime.session.deferred_stdin import DeferredStdin
from runtime.session.shell_script import ShellScript, check


class SessionCommand:
    """A command that waits, runs or has ended. `on_settled` is called once, whatever becomes of it."""

    def __init__(
        self,
        params: SessionExec,
        session: str,
        folder: Path,
        journal: Callable[[], Journal],
        leftovers: OrphanedPipes,
        on_settled: Callable[["SessionCommand"], None],
    ) -> None:
        """`session` is the session's instance; `folder` is this run's own.

        Raises `invalid_params`, `limit_exceeded`, `OSError`.
        """
        check(params.command, params.env or {})
        journals = journal(), journal()  # first: there may be no more
        self.params = params
        self.silent = False  # nobody's command: `$?` stays what it was
        self.instance = secrets.token_hex(8)
        self.token = secrets.token_hex(8)  # what its words on the status pipe carry
        self.folder = folder
        self.begun = False
        self.timed_out = False
        self.ended = False  # the shell has ended with it
        self.exit: Exit | None = None
        self.error: HawseError | None = None  # instead of an outcome
        self.inputs = InputOffsets()
        self.writers = InputStreams()
        self.stdin: DeferredStdin | None = None
        self.readers: dict[ProcessSubscriber, None] = {}
        self.ahead = 0  # how many were before it when it was queued
        self._session = session
        self._on_settled = on_settled
        folder.mkdir(mode=0o700)
        opened: list[int] = []
        try:
            for name in ("out", "err"):
                os.mkfifo(folder / name, 0o600)
                opened.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
            (folder / "command").write_bytes(os.fsencode(params.command + "\n"))
            if params.stdin:
                self.stdin = DeferredStdin(folder / "in")
        except BaseException:
            for fd in opened:
                os.close(fd)
            remove_tree(folder)
            raise
        self.stdout = OutputStream(opened[0], journals[0], WeakCallback(self.wake), leftovers=leftovers)
        self.stderr = OutputStream(opened[1], journals[1], WeakCallback(self.wake), leftovers=leftovers)

    def begin(self, lines: ShellScript, cwd: str | None, last: int) -> str:
        """It is its turn: what to tell the shell. `cwd` is absolute. Raises `OSError`."""
        env = self.params.env or {}
        texts: dict[str, str] = {}
        if self.around:
            texts |= {"before": lines.before(cwd, env), "after": lines.after(cwd, env)}
        if last:
            texts["last"] = f"return {last}\n"
        for name, text in texts.items():
            (self.folder / name).write_bytes(os.fsencode(text))  # the name of a directory may not be valid UTF-8
        self.begun = True
        self.wake()
        return lines.begin(self.token, str(self.folder), last=last, around=self.around, stdin=self.stdin is not None)

    def refuse(self, message: bytes, code: int) -> None:
        """End it without running it: print `message` to its stderr and exit with `code`. Raises `OSError`."""
        self.begun = True
        fd = os.open(self.folder / "err", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, message)
        finally:
            os.close(fd)
        self.settle(Exit(code=code))

    def started(self, lines: ShellScript) -> str:
        """The shell is about to run it: what to tell it next."""
        if self.stdin is not None:
            self.stdin.begin()
        return lines.finish(self.token, str(self.folder), around=self.around)

    @property
    def around(self) -> bool:
        """It has a directory or variables of its own."""
        return self.params.cwd is not None or bool(self.params.env)

    def settle(self, exit_: Exit, *, ended: bool = False) -> None:
        self.ended = ended
        self._close(exit_)

    def fail(self, error: HawseError) -> None:
        self.error = error
        self._close(Exit())

    def shrink(self) -> None:
        """Keep little of the output: it ended long ago."""
        for stream in (self.stdout, self.stderr):
            stream.journal.limit(SHRUNK)

    def wake(self) -> None:
        for reader in list(self.readers):
            reader.wake()

    def opened(self, start: StreamOffsets, input_offset: int) -> SessionExecOpened:
        return SessionExecOpened(
            id=self.params.id, session=self._session, instance=self.instance, start=start, input_offset=input_offset
        )

    def result(self, cut: bool = False) -> SessionExecResult:
        """Raises its error."""
        if self.error is not None:
            raise self.error
        assert self.exit is not None
        stdout, stderr = self.stdout.end, self.stderr.end
        return SessionExecResult(
            **structs.asdict(self.exit), stdout=stdout, stderr=stderr, truncated=cut, ended=self.ended
        )

    def _close(self, exit_: Exit) -> None:
        if self.exit is not None:
            return
        for stream in (self.stdout, self.stderr):
            stream.finish()
        self.exit = exit_
        self.writers.close()
        if self.stdin is not None:
            self.stdin.close()
        remove_tree(self.folder)
        self.wake()
        self._on_settled(self)


class SessionCommandStream(ProcessAttachStream[SessionCommand]):
    """Serves one `session.exec` call. `on_gone` is called when it is not there any more."""

    def __init__(
        self, run: SessionCommand, call: RuntimeCall, params: SessionExec, on_gone: Callable[[SessionCommand], None]
    ) -> None:
        self._run = run
        self._told = False  # that it waits
        self._on_gone = on_gone
        super().__init__(
            run,
            call,
            since=beginning(run, params.since),
            limit=params.max_output,
            input_id=params.input,
            hold_id=call.key,
            result=SessionCommand.result,
            exit_event=False,
            stdin_timeout=None if call.key is not None else 0.0,
        )

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        run = self._run
        if run.error is not None:
            self._call.error(run.error)
            return False
        if not run.begun:
            if not self._told and connection.window(ch) > 0:
                self._told = True
                connection.send_event(ch, "waiting", SessionExecWaiting(ahead=run.ahead))
            return False
        return super().pull(connection, ch, size)

    def detach(self) -> None:
        super().detach()
        self._on_gone(self._run)
