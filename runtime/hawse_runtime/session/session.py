"""A session: a shell that keeps running, with a queue of commands."""

import asyncio
import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath

import msgspec

from hawse.api.paths import from_text
from hawse.api.sessions import SessionInfo
from hawse.api.types import Exit
from hawse.rpc import typed
from hawse.wire import HawseError
from hawse_runtime.core.remove_tree import remove_tree
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.process.process import TIMED_OUT, ProcessContext
from hawse_runtime.session.command import SessionCommand
from hawse_runtime.session.interrupt import ProcessesBefore, settle, stop
from hawse_runtime.session.shell import Shell, ShellOptions
from hawse_runtime.session.syntax_check import SYNTAX_ERROR, SyntaxCheck

READY_TIMEOUT = 10.0  # seconds to wait for a new shell's first report
MISSES = 3  # number of failed checks before the shell is killed


class SessionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on a runtime's sessions."""

    running: int = 256  # maximum number of concurrent sessions; each has a process and two pipes
    ended: int = 64  # number of sessions that `session.get` can still describe after they have ended
    keyed_commands: int = 64  # number of ended keyed commands whose complete output is kept
    queue: int = 64  # maximum number of queued commands per session; each has two pipes
    kill_grace: float = 5.0  # seconds from SIGTERM to SIGKILL, both after a timeout and by default in `session.delete`
    watchdog: float = 1.0  # seconds between checks for a shell that has read a command's end but doesn't report it


class Session:
    """A shell and its queue of commands."""

    def __init__(
        self,
        session_id: str,
        options: ShellOptions,
        context: ProcessContext,
        limits: SessionLimits,
        on_end: Callable[["Session"], None],
        *,
        command_timeout: float | None = None,
    ) -> None:
        """Start the shell. Await `ready` before using the session.

        Args:
            session_id: The id for the session.
            options: Options for starting the shell. Their `folder` is created here and removed once the shell has
                exited.
            context: Objects shared by all of a runtime's programs.
            limits: Limits on the queue and on durations.
            on_end: Called once, when the shell has exited.
            command_timeout: The default time limit for commands, in seconds; None means no limit.

        Raises:
            HawseError: `spawn_failed` or `limit_exceeded`.
            OSError: The directory or the pipes can't be created.
        """
        self.id = session_id
        self.instance = secrets.token_hex(8)
        self.shell = options.path
        self.watchers: dict[Callable[[], None], None] = {}
        self._folder = options.folder
        self._started = time.time()
        self._tasks = context.tasks
        self._trees = context.trees
        self._limits = limits
        self._on_end = on_end
        self._command_timeout = command_timeout
        self._queue: deque[SessionCommand] = deque()
        self._run: SessionCommand | None = None
        self._before: ProcessesBefore | None = None
        self._last = 0  # the exit code of the previous command
        self._held = True  # true while the shell isn't ready, a command is being checked, or a signal is pending
        self._deleted = False
        self._reported: set[str] = set()  # tokens from received `Y` messages, which `settle` waits for
        self._changed = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._misses = 0
        self._syntax = SyntaxCheck(options.path, context.disk)
        self._checked: SessionCommand | None = None  # the command whose syntax was last checked
        options = msgspec.structs.replace(options, env={**options.env, PROCESS_MARK: self.instance})
        options.folder.mkdir(mode=0o700)
        try:
            self._shell = Shell(options, on_message=WeakCallback(self._receive), on_exit=WeakCallback(self._exited))
        except BaseException:
            remove_tree(options.folder)
            raise

    @property
    def mark(self) -> str:
        """The environment entry that marks all descendants of the shell."""
        return f"{PROCESS_MARK}={self.instance}"

    @property
    def exit(self) -> Exit | None:
        return self._shell.exit

    @property
    def busy(self) -> bool:
        """Whether a command is running or waiting."""
        return self._run is not None or bool(self._queue)

    def describe(self) -> SessionInfo:
        return SessionInfo(
            id=self.id,
            instance=self.instance,
            pid=self._shell.own_pid,
            shell=self.shell,
            started=self._started,
            state="running" if self.exit is None else "exited",
            running=self._run is not None,
            waiting=len(self._queue),
            command_timeout=self._command_timeout,
            exit=self.exit,
        )

    def directory(self) -> str:
        """Return the shell's current directory. Raises `exited` if the shell has exited."""
        if self.exit is not None:
            raise HawseError("exited", f"session {self.id} has ended", details={"exit": self.exit})
        return self._shell.cwd()

    async def ready(self) -> None:
        """Wait for a new shell's first report. Raises `spawn_failed` after READY_TIMEOUT seconds."""
        token = secrets.token_hex(8)
        self._shell.send(self._shell.lines.first() + self._shell.lines.report("Y", token))
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_TIMEOUT):
                while token not in self._reported and self.exit is None:
                    self._changed.clear()
                    await self._changed.wait()
        if token not in self._reported or self.exit is not None:
            await self.end(0)
            raise HawseError("spawn_failed", f"{self.shell} does not read commands from stdin like a shell")
        self._reported.clear()
        self._held = False
        self._next()

    def submit(self, run: SessionCommand) -> None:
        """Queue a command. Raises `exited` or `limit_exceeded`."""
        if self.exit is not None or self._deleted:
            raise self._exited_error()
        limit = self._limits.queue
        if len(self._queue) >= limit:
            raise HawseError("limit_exceeded", f"the queue of session {self.id} is full: {limit} commands are waiting")
        run.ahead = len(self._queue) + (self._run is not None)
        self._queue.append(run)
        self._next()

    def withdraw(self, run: SessionCommand) -> None:
        """Remove a command from the queue. Has no effect if it has already started."""
        if run in self._queue:
            self._queue.remove(run)
            run.fail(HawseError("cancelled", "the command was withdrawn before it started", admitted="no"))

    async def cancel(self, key: str | None, grace: float) -> None:
        """End a command, but not the shell. Return once the command has ended, or immediately if there is none.

        Args:
            key: The key of the command's call; None means the running command.
            grace: The number of seconds between SIGTERM and SIGKILL.
        """
        run = self._run
        if run is not None and not run.silent and key in (None, run.key):
            run.cancelled = True
            self._begin_stop(run, grace)
            await run.settled.wait()
        elif key is not None:
            for waiting in [waiting for waiting in self._queue if waiting.key == key]:
                self.withdraw(waiting)

    async def end(self, grace: float) -> None:
        """End the shell and its process tree: SIGTERM, then SIGKILL after `grace` seconds. Return once all have exited.

        If the shell has exited, this ends the processes that it left running.
        """
        self._deleted = True
        self._fail_waiting()
        self._shell.signal(signal.SIGHUP)  # an interactive shell ignores SIGTERM
        await self._trees.end(self._shell.pid, signal.SIGTERM, grace, lambda: self.exit is not None, mark=self.mark)

    # ---- running commands

    def _next(self) -> None:
        while self._run is None and not self._held and self._queue and self.exit is None:
            run = self._queue[0]
            if run is not self._checked and not run.silent and self._syntax.needed(run.params.command):
                self._held = True
                self._tasks.start(self._check(run))
                return
            self._queue.popleft()
            try:
                self._begin(run)
            except Exception as error:  # a command that fails to start must not block the queue
                run.fail(typed(error))

    def _begin(self, run: SessionCommand) -> None:
        text = run.begin(self._shell.lines, self._cwd_of(run), self._last)
        self._run = run
        self._misses = 0
        self._before = ProcessesBefore(self._shell.pid, self.mark)
        self._shell.send(text)
        loop = asyncio.get_running_loop()
        self._timers = [loop.call_later(self._limits.watchdog, self._check_reports)]
        timeout = self._command_timeout if run.params.timeout is None else run.params.timeout
        if timeout is not None and not run.silent:
            self._timers.append(loop.call_later(timeout, self._time_out))

    async def _check(self, run: SessionCommand) -> None:
        """Check the first command in the queue for syntax errors, and start it if there are none."""
        self._checked = run
        try:
            message = await self._syntax_error(run)
            if message is not None and run in self._queue:
                self._queue.remove(run)
                self._last = SYNTAX_ERROR
                run.refuse(PurePath(self.shell).name.encode() + b": " + message, SYNTAX_ERROR)
        except Exception as error:
            if run in self._queue:
                self._queue.remove(run)
            run.fail(typed(error))
        finally:
            self._held = False
            self._next()

    async def _syntax_error(self, run: SessionCommand) -> bytes | None:
        token = secrets.token_hex(8)
        state = run.folder / "parser_state"
        lines = self._shell.lines
        self._shell.send(lines.parser_state(str(state)) + lines.report("Y", token))
        if not await settle(self._shell, token, lambda: token in self._reported, self._wait):
            return None  # the shell is busy or broken, which `_check_reports` detects
        self._reported.discard(token)
        return await self._syntax.error(run.folder / "command", state)

    def _cwd_of(self, run: SessionCommand) -> str | None:
        if run.params.cwd is None:
            return None
        try:
            cwd = from_text(run.params.cwd)
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": "$.cwd"}) from None
        path = os.path.normpath(os.path.join(self._shell.cwd(), cwd))
        if not os.path.isdir(path):
            raise HawseError("spawn_failed", f"{path}: no such directory")
        return path

    def _receive(self, kind: str, token: str, value: str) -> None:
        run = self._run
        if kind == "Y":
            self._reported.add(token)
        elif run is not None and token == run.token and kind == "S":
            self._shell.send(run.started(self._shell.lines))
        elif run is not None and token == run.token and kind == "E" and value.isdigit():
            code = int(value) & 255
            if not run.silent:
                self._last = code
            if code == SYNTAX_ERROR and not self._held:
                self._held = True
                self._tasks.start(self._reset())
            self._settle(Exit(code=code))
        self._changed.set()

    def _settle(self, result: Exit, *, ended: bool = False) -> None:
        run, self._run = self._run, None
        for timer in self._timers:
            timer.cancel()
        if run is not None:
            if run.timed_out:
                result = Exit(code=TIMED_OUT, timed_out=True)
            elif run.cancelled:
                result = Exit(signal="SIGTERM")
            run.settle(result, ended=ended)
        self._next()

    def _check_reports(self) -> None:
        """Kill a shell that has read a command's last line but has not reported that the command has ended.

        This happens if the status pipe was removed, no descriptor is free, or one of the user's functions replaces a
        builtin.
        """
        if self._run is not None and not self._held:
            self._misses = self._misses + 1 if self._shell.unread == 0 else 0
            if self._misses >= MISSES:
                self._shell.signal(signal.SIGKILL)
        self._timers[0] = asyncio.get_running_loop().call_later(self._limits.watchdog, self._check_reports)

    # ---- end

    def _time_out(self) -> None:
        assert self._run is not None
        self._run.timed_out = not self._run.cancelled
        self._begin_stop(self._run, self._limits.kill_grace)

    def _begin_stop(self, run: SessionCommand, grace: float) -> None:
        """Stop the running command unless it is already being stopped. During a command, nothing else sets `_held`."""
        assert self._before is not None
        if not self._held:
            self._held = True
            self._tasks.start(self._stop(run, self._before, grace))

    async def _stop(self, run: SessionCommand, before: ProcessesBefore, grace: float) -> None:
        token = secrets.token_hex(8)
        back = await stop(self._shell, run, before, self._trees, self._wait, grace=grace)
        if not (back and await settle(self._shell, token, lambda: token in self._reported, self._wait)):
            self._shell.signal(signal.SIGKILL)
        self._reported.discard(token)
        self._held = False
        self._next()

    async def _reset(self) -> None:
        """Reset bash's parser after a possible syntax error, for example in `eval`, whose text isn't checked.

        bash 5.2 keeps part of the parsed text. SIGINT makes bash discard it (reset_parser).
        """
        token = secrets.token_hex(8)
        self._shell.signal(signal.SIGINT)
        if not await settle(self._shell, token, lambda: token in self._reported, self._wait):
            self._shell.signal(signal.SIGKILL)
        self._reported.discard(token)
        self._held = False
        self._next()

    async def _wait(self, seconds: float) -> None:
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _exited(self, result: Exit) -> None:
        self._changed.set()
        if self._run is not None and self._deleted:
            run, self._run = self._run, None
            for timer in self._timers:
                timer.cancel()
            run.fail(self._exited_error(admitted=True))
        self._settle(result, ended=True)
        self._fail_waiting()
        remove_tree(self._folder)
        for wake in list(self.watchers):
            wake()
        self._on_end(self)

    def _fail_waiting(self) -> None:
        queue, self._queue = self._queue, deque()
        for run in queue:
            run.fail(self._exited_error())

    def _exited_error(self, *, admitted: bool = False) -> HawseError:
        why = "was deleted" if self._deleted else "has ended"
        details = {"id": self.id, "instance": self.instance, "exit": self.exit}
        return HawseError("exited", f"session {self.id} {why}", admitted="yes" if admitted else "no", details=details)
