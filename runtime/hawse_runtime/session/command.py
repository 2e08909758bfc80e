"""A session's command with its pipes and its output, from being queued until it ends."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from hawse.api.processes import StreamOffsets
from hawse.api.sessions import SessionExec, SessionExecOpened, SessionExecResult, SessionExecWaiting
from hawse.api.types import Exit
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from hawse_runtime.core.remove_tree import remove_tree
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.input_offsets import InputOffsets, InputStreams
from hawse_runtime.process.attach import AttachOptions, ProcessAttachStream, beginning
from hawse_runtime.process.output_stream import OutputStream
from hawse_runtime.process.process import SHRUNK, ProcessContext, ProcessSubscriber
from hawse_runtime.session.deferred_stdin import DeferredStdin
from hawse_runtime.session.shell_script import ShellScript, check


class SessionCommand:
    """A command that is queued or running, or that has ended."""

    def __init__(
        self,
        params: SessionExec,
        session: str,
        folder: Path,
        context: ProcessContext,
        on_settled: Callable[["SessionCommand"], None],
        *,
        key: str | None = None,
    ) -> None:
        """Create a command and its pipes.

        Args:
            params: The parameters of the `session.exec` call.
            session: The session's instance id.
            folder: The path where the command's directory is to be created.
            context: Creates the journals for the output, and drains pipes kept open by background processes.
            on_settled: Called once, when the command has ended or failed.
            key: The call's idempotency key, if any.

        Raises:
            HawseError: `invalid_params` or `limit_exceeded`.
            OSError: The directory or the pipes can't be created.
        """
        check(params.command, params.env or {})
        journals = context.journal(), context.journal()  # created before any files, because this can raise an error
        self.params = params
        self.key = key
        self.silent = False  # whether this is an internal command, which must not change `$?`
        self.instance = secrets.token_hex(8)
        self.token = secrets.token_hex(8)  # identifies the command's messages on the status pipe
        self.folder = folder
        self.begun = False  # whether the command was sent to the shell
        self.running = False  # whether the shell has reported the command's start
        self.duration: float | None = None  # duration in seconds; set when the command ends
        self._begun_at: float | None = None
        self.timed_out = False
        self.cancelled = False  # whether the command was stopped by `session.cancel`
        self.settled = asyncio.Event()  # set when the command has ended or failed
        self.ended = False  # whether the shell ended together with the command
        self.exit: Exit | None = None
        self.error: HawseError | None = None  # why the command was not run; set instead of `exit`
        self.inputs = InputOffsets()
        self.writers = InputStreams()
        self.readers: dict[ProcessSubscriber, None] = {}
        self.ahead = 0  # number of commands ahead of this one when it was queued
        self._session = session
        self._on_settled = on_settled
        (out, err), self.stdin = _create_files(folder, params)
        changed, orphaned_pipes = WeakCallback(self.wake), context.orphaned_pipes
        self.stdout = OutputStream(out, journals[0], changed, orphaned_pipes=orphaned_pipes)
        self.stderr = OutputStream(err, journals[1], changed, orphaned_pipes=orphaned_pipes)

    def begin(self, lines: ShellScript, cwd: str | None, last: int) -> str:
        """Return the lines that run the command. `cwd` is absolute; `last` is the last exit code. Raises `OSError`."""
        env = self.params.env or {}
        texts: dict[str, str] = {}
        if self.around:
            texts |= {"before": lines.before(cwd, env), "after": lines.after(cwd, env)}
        if last:
            texts["last"] = f"return {last}\n"
        for name, text in texts.items():
            (self.folder / name).write_bytes(os.fsencode(text))  # a directory's name may not be valid UTF-8
        self.begun = True
        self._begun_at = time.monotonic()
        self.wake()
        return lines.begin(self.token, str(self.folder), last=last, around=self.around, stdin=self.stdin is not None)

    def refuse(self, message: bytes, code: int) -> None:
        """End the command without running it: write `message` to its stderr and set its exit code. Raises `OSError`."""
        self.begun = True
        fd = os.open(self.folder / "err", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, message)
        finally:
            os.close(fd)
        self.settle(Exit(code=code))

    def started(self, lines: ShellScript) -> str:
        """Return the lines to send once the shell has reported that this command has started."""
        self.running = True
        if self.stdin is not None:
            self.stdin.begin()
        return lines.finish(self.token, str(self.folder), around=self.around)

    @property
    def around(self) -> bool:
        """Whether the call sets a directory or variables."""
        return self.params.cwd is not None or bool(self.params.env)

    def settle(self, exit_: Exit, *, ended: bool = False) -> None:
        self.ended = ended
        self._close(exit_)

    def fail(self, error: HawseError) -> None:
        self.error = error
        self._close(Exit())

    def shrink(self) -> None:
        """Keep only the last SHRUNK bytes of each output stream."""
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
        """Return the result, or raise the error if the command wasn't run. `cut` is true if output was truncated."""
        if self.error is not None:
            raise self.error
        assert self.exit is not None
        stdout, stderr = self.stdout.end, self.stderr.end
        return SessionExecResult(
            **structs.asdict(self.exit),
            stdout=stdout,
            stderr=stderr,
            truncated=cut,
            duration=self.duration,
            ended=self.ended,
        )

    def _close(self, exit_: Exit) -> None:
        if self.exit is not None:
            return
        for stream in (self.stdout, self.stderr):
            stream.finish()
        self.exit = exit_
        if self._begun_at is not None:
            self.duration = time.monotonic() - self._begun_at
        self.writers.close()
        if self.stdin is not None:
            self.stdin.close()
        remove_tree(self.folder)
        self.settled.set()
        self.wake()
        self._on_settled(self)


def _create_files(folder: Path, params: SessionExec) -> tuple[list[int], DeferredStdin | None]:
    """Create a command's directory, with its text and its pipes.

    Returns:
        The read ends of stdout and stderr, and stdin if used.
    """
    folder.mkdir(mode=0o700)
    opened: list[int] = []
    try:
        for name in ("out", "err"):
            os.mkfifo(folder / name, 0o600)
            opened.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        (folder / "command").write_bytes(os.fsencode(params.command + "\n"))
        return opened, DeferredStdin(folder / "in") if params.stdin else None
    except BaseException:
        for fd in opened:
            os.close(fd)
        remove_tree(folder)
        raise


class SessionCommandStream(ProcessAttachStream[SessionCommand]):
    """Serves a `session.exec` call."""

    def __init__(
        self, run: SessionCommand, call: ServerCall, params: SessionExec, on_detach: Callable[[SessionCommand], None]
    ) -> None:
        """Create the stream for a call.

        Args:
            run: The command to serve.
            call: The call to serve.
            params: The parameters of the `session.exec` call.
            on_detach: Called once the call is closed.

        Raises:
            HawseError: `invalid_params` if `params.since` is past the end of the output.
        """
        self._run = run
        self._waiting_sent = False
        self._on_detach = on_detach
        options = AttachOptions(
            since=beginning(run, params.since),
            result=SessionCommand.result,
            exit_event=False,
            limit=params.max_output,
            input_id=params.input,
            hold_id=call.key,
            stdin_timeout=None if call.key is not None else 0.0,
        )
        super().__init__(run, call, options)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        run = self._run
        if run.error is not None:
            self._call.error(run.error)
            return False
        if not run.begun:
            if not self._waiting_sent and connection.window(ch) > 0:
                self._waiting_sent = True
                connection.send_event(ch, "waiting", SessionExecWaiting(ahead=run.ahead))
            return False
        return super().pull(connection, ch, size)

    def detach(self) -> None:
        super().detach()
        self._on_detach(self._run)
