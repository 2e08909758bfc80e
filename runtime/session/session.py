"""A session: a shell that lives on, and the commands that wait for their turn on it."""

import asyncio
import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from hawse.api.paths import from_text
from hawse.api.sessions import SessionInfo
from hawse.api.types import Exit
from hawse.rpc import typed
from hawse.wire import HawseError
from runtime.core.remove_tree import remove_tree
from runtime.core.tasks import Tasks
from runtime.posix.process_table import PROCESS_MARK
from runtime.posix.process_tree import ProcessTrees
from runtime.process.process import TIMED_OUT
from runtime.session.command import SessionCommand
from runtime.session.interrupt import Before, settle, stop
from runtime.session.shell import Shell
from runtime.session.syntax_check import SYNTAX_ERROR, SyntaxCheck

QUEUE_LIMIT = 64  # commands that wait on one session: each holds two pipes
READY_WITHIN = 10.0  # seconds that a new shell has for its first word
LOOK = 1.0  # seconds between looks whether a shell has passed the end of a command without a word
MISSES = 3  # looks after which it is taken for broken


class Session:
    """One shell with its queue. `on_end` is called once, when the shell has ended."""

    def __init__(
        self,
        session_id: str,
        shell: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        folder: Path,
        tasks: Tasks,
        trees: ProcessTrees,
        on_end: Callable[["Session"], None],
    ) -> None:
        """`folder` becomes its own. Raises `spawn_failed`, `limit_exceeded`, `OSError`."""
        self.id = session_id
        self.instance = secrets.token_hex(8)
        self.folder = folder
        self.watchers: dict[Callable[[], None], None] = {}
        self._shell_path = shell
        self._started = time.time()
        self._tasks = tasks
        self._trees = trees
        self._on_end = on_end
        self._queue: deque[SessionCommand] = deque()
        self._run: SessionCommand | None = None
        self._before: Before | None = None
        self._last = 0  # the code of the command before
        self._held = True  # no command may begin: the shell is not ready, or a signal may still be on its way
        self._deleted = False
        self._heard: set[str] = set()  # tokens that `settle` waits for
        self._changed = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._misses = 0
        self._syntax = SyntaxCheck(shell)
        self._checked: SessionCommand | None = None  # the command that was last checked for syntax errors
        folder.mkdir(mode=0o700)
        try:
            env = {**env, PROCESS_MARK: self.instance}
            self._shell = Shell(shell, folder, cwd=cwd, env=env, told=self._told, on_exit=self._exited)
        except BaseException:
            remove_tree(folder)
            raise

    @property
    def mark(self) -> str:
        """What everything that descends from it has in its environment."""
        return f"{PROCESS_MARK}={self.instance}"

    @property
    def exit(self) -> Exit | None:
        return self._shell.exit

    @property
    def shell(self) -> str:
        return self._shell_path

    def describe(self) -> SessionInfo:
        return SessionInfo(
            id=self.id,
            instance=self.instance,
            pid=self._shell.pid,
            shell=self._shell_path,
            started=self._started,
            state="running" if self.exit is None else "exited",
            running=self._run is not None,
            waiting=len(self._queue),
            exit=self.exit,
        )

    async def ready(self) -> None:
        """Wait for a new shell's first word. Raises `spawn_failed` if none comes."""
        token = secrets.token_hex(8)
        self._shell.say(self._shell.lines.first() + self._shell.lines.tell("Y", token))
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_WITHIN):
                while token not in self._heard and self.exit is None:
                    self._changed.clear()
                    await self._changed.wait()
        if token not in self._heard or self.exit is not None:
            await self.end(0)
            raise HawseError("spawn_failed", f"{self._shell_path} is no shell that can be talked to")
        self._heard.clear()
        self._held = False
        self._next()

    def submit(self, run: SessionCommand) -> None:
        """Queue a command. Raises `exited`, `limit_exceeded`."""
        if self.exit is not None or self._deleted:
            raise self._gone()
        if len(self._queue) >= QUEUE_LIMIT:
            raise HawseError("limit_exceeded", f"{QUEUE_LIMIT} commands wait on session {self.id}")
        run.ahead = len(self._queue) + (self._run is not None)
        self._queue.append(run)
        self._next()

    def withdraw(self, run: SessionCommand) -> None:
        """Nobody waits for it any more: unless it has begun, it never will."""
        if run in self._queue:
            self._queue.remove(run)
            run.fail(HawseError("cancelled", "nobody waited for its turn", admitted="no"))

    async def end(self, grace: float) -> None:
        """End the shell and its tree: TERM, KILL after `grace` seconds. Returns when nothing is left.

        Also when the shell has ended by itself, for what it left behind.
        """
        self._deleted = True
        self._fail_waiting()
        self._shell.signal(signal.SIGHUP)  # an interactive shell does not heed TERM
        await self._trees.end(self._shell.pid, signal.SIGTERM, grace, lambda: self.exit is not None, mark=self.mark)

    # ---- turns

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
            except Exception as error:  # whatever it was, the next one gets its turn
                run.fail(typed(error))

    def _begin(self, run: SessionCommand) -> None:
        text = run.begin(self._shell.lines, self._cwd_of(run), self._last)
        self._run = run
        self._misses = 0
        self._before = Before(self._shell.pid, self.mark)
        self._shell.say(text)
        loop = asyncio.get_running_loop()
        self._timers = [loop.call_later(LOOK, self._look)]
        if run.params.timeout is not None:
            self._timers.append(loop.call_later(run.params.timeout, self._time_out))

    async def _check(self, run: SessionCommand) -> None:
        """Look for a syntax error in the first command of the queue, which begins if there is none."""
        self._checked = run
        try:
            message = await self._syntax_error(run)
            if message is not None and run in self._queue:
                self._queue.remove(run)
                self._last = SYNTAX_ERROR
                run.refuse(PurePath(self._shell_path).name.encode() + b": " + message, SYNTAX_ERROR)
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
        self._shell.say(lines.parser_state(str(state)) + lines.tell("Y", token))
        if not await settle(self._shell, token, lambda: token in self._heard, self._wait):
            return None  # the shell is busy or broken: `_look` finds out
        self._heard.discard(token)
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

    def _told(self, word: str, token: str, value: str) -> None:
        run = self._run
        if word == "Y":
            self._heard.add(token)
        elif run is not None and token == run.token and word == "S":
            self._shell.say(run.started(self._shell.lines))
        elif run is not None and token == run.token and word == "E" and value.isdigit():
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
            run.settle(Exit(code=TIMED_OUT, timed_out=True) if run.timed_out else result, ended=ended)
        self._next()

    def _look(self) -> None:
        """A shell that has read past the end of a command and said nothing cannot: its pipe is gone, or it has no
        descriptor left, or what it says is somebody's function."""
        if self._run is not None and not self._held:
            self._misses = self._misses + 1 if self._shell.unread == 0 else 0
            if self._misses >= MISSES:
                self._shell.signal(signal.SIGKILL)
        self._timers[0] = asyncio.get_running_loop().call_later(LOOK, self._look)

    # ---- ends

    def _time_out(self) -> None:
        assert self._run is not None
        assert self._before is not None
        self._run.timed_out = True
        self._held = True
        self._tasks.start(self._stop(self._run, self._before))

    async def _stop(self, run: SessionCommand, before: Before) -> None:
        token = secrets.token_hex(8)
        back = await stop(self._shell, run, before, self._trees, self._wait)
        if not (back and await settle(self._shell, token, lambda: token in self._heard, self._wait)):
            self._shell.signal(signal.SIGKILL)
        self._heard.discard(token)
        self._held = False
        self._next()

    async def _reset(self) -> None:
        """It may have been a syntax error: bash 5.2 keeps half of what it parsed, and dies of it later.

        A SIGINT makes it forget (bash's reset_parser).
        """
        token = secrets.token_hex(8)
        self._shell.signal(signal.SIGINT)
        if not await settle(self._shell, token, lambda: token in self._heard, self._wait):
            self._shell.signal(signal.SIGKILL)
        self._heard.discard(token)
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
            run.fail(self._gone(admitted=True))
        self._settle(result, ended=True)
        self._fail_waiting()
        remove_tree(self.folder)
        for tell in list(self.watchers):
            tell()
        self._on_end(self)

    def _fail_waiting(self) -> None:
        queue, self._queue = self._queue, deque()
        for run in queue:
            run.fail(self._gone())

    def _gone(self, *, admitted: bool = False) -> HawseError:
        why = "was deleted" if self._deleted else "has ended"
        details = {"id": self.id, "instance": self.instance, "exit": self.exit}
        return HawseError("exited", f"session {self.id} {why}", admitted="yes" if admitted else "no", details=details)
