"""A code context: an executor of its own, and the queue of its runs."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from hawse.api.code import CodeContextInfo
from hawse.api.paths import to_text
from hawse.api.types import Exit
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse.wire import HawseError
from hawse_runtime.code.executor import Executor
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.code.run import Run, Why

Take = Callable[[], Awaitable[Executor]]


class Context:
    """A context, from its creation to its deletion."""

    def __init__(
        self, context_id: str, executor: Executor, take: Take, limits: CodeLimits, *, timeout: float | None
    ) -> None:
        """Create a context.

        Args:
            context_id: Its id.
            executor: Its executor, which nothing else uses.
            take: Returns another unused executor with the same options, for a restart.
            limits: The bounds of its queue and of its times.
            timeout: Seconds after which a run is ended that names no time; None: never.
        """
        self.id = context_id
        self.instance = secrets.token_hex(8)
        self.last: str | None = None  # the id of the run that began last
        self.watchers: dict[LatestValueStream, ServerCall] = {}  # of `code.watch`
        self._created = time.time()
        self.executor = executor  # replaced by a restart
        self._take = take
        self._limits = limits
        self._timeout = timeout
        self._queue: deque[Run] = deque()
        self._run: Run | None = None
        self._restarts = 0
        self._deleted = False
        self._restarting: asyncio.Event | None = None  # set at the end of the restart that is in progress
        executor.on_exit = self._exited

    @property
    def exit(self) -> Exit | None:
        """How the executor ended; None while it runs."""
        return self.executor.exit

    def describe(self) -> CodeContextInfo:
        kernel = self.executor.kernel
        return CodeContextInfo(
            id=self.id,
            instance=self.instance,
            language=kernel.language,
            kernel=kernel.kernel,
            pid=kernel.pid,
            cwd=to_text(self.executor.options.cwd),
            created=self._created,
            state="running" if self.exit is None else "exited",
            running=self._run.id if self._run is not None else None,
            waiting=len(self._queue),
            restarts=self._restarts,
            exit=self.exit,
        )

    # ---- runs

    def submit(self, run: Run) -> None:
        """Queue a run; it begins when it is its turn. Raises `exited`, `limit_exceeded`."""
        self.check_usable()
        if len(self._queue) >= self._limits.queue:
            limit = self._limits.queue
            raise HawseError("limit_exceeded", f"the queue of context {self.id} is full: {limit} runs wait")
        run.context, run.instance = self.id, self.instance
        run.ahead = len(self._queue) + (self._run is not None)
        self._queue.append(run)
        self._next()
        self._changed()

    def withdraw(self, run: Run) -> None:
        """Remove a run from the queue. One that has begun goes on."""
        if run in self._queue:
            self._queue.remove(run)
            run.fail(HawseError("cancelled", "the run was withdrawn before it began", admitted="no"))

    def settled(self, run: Run) -> None:
        """Note that a run has ended or failed: the next one begins."""
        if run is self._run:
            self._run = None
            self.executor.run = None
            self._next()
        self._changed()

    async def ask(self, method: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a request of Jupyter's shell channel; return the content of the reply. Raises `exited`."""
        self.check_usable()
        return await self.executor.ask(method, content)

    def _next(self) -> None:
        while self._run is None and self._queue and self.exit is None and self._restarting is None:
            run = self._queue.popleft()
            self._run, self.last = run, run.id
            try:
                begin(run, self.executor, self._limits, self._timeout)
            except Exception as error:  # the next run begins in any case
                self._run = None
                run.fail(typed(error))

    def _changed(self) -> None:
        """Tell the watchers that the context or one of its runs has changed."""
        for watcher in list(self.watchers):
            watcher.changed()

    # ---- ends

    async def restart(self) -> None:
        """Replace the executor. Raises what `take` raises; the context has no executor then."""
        while self._restarting is not None:
            await self._restarting.wait()
        self._check_not_deleted()
        self._restarting = done = asyncio.Event()
        try:
            await self._stop()
            executor = await self._take()
            if self._deleted:
                await executor.end()
                self._check_not_deleted()
            self.executor = executor
            self._restarts += 1
            executor.on_exit = self._exited
        finally:
            self._restarting = None
            done.set()
            if self.executor.exit is not None:
                self._fail_waiting()
            self._changed()
        self._next()

    async def end(self) -> None:
        """End the executor and all processes that its code started; return when nothing is left."""
        self._deleted = True
        await self._stop()
        if self._restarting is not None:
            await self._restarting.wait()
            await self._stop()

    async def _stop(self) -> None:
        if self._run is not None:
            self._run.ended_as = "stopped"
            self._run.stop_timer()
        self._fail_waiting()
        await self.executor.end()

    def _exited(self, exit: Exit) -> None:
        self._run = None
        if self._restarting is None:
            self._fail_waiting()
        self._changed()

    def _fail_waiting(self) -> None:
        queue, self._queue = self._queue, deque()
        for run in queue:
            run.fail(self._exited_error())

    def check_usable(self) -> None:
        """Raise `exited` if no run can begin, now or later."""
        if self._deleted or (self.exit is not None and self._restarting is None):
            raise self._exited_error()

    def _check_not_deleted(self) -> None:
        if self._deleted:
            raise HawseError("not_found", f"context {self.id} was deleted")

    def _exited_error(self) -> HawseError:
        why = "was deleted" if self._deleted else "was restarted" if self._restarting else "has no executor any more"
        hint = "" if self._deleted or self._restarting else ": `code.restart` starts a new one"
        details = {"id": self.id, "instance": self.instance, "exit": self.exit}
        return HawseError("exited", f"context {self.id} {why}{hint}", details=details)


def begin(run: Run, executor: Executor, limits: CodeLimits, timeout: float | None) -> None:
    """Begin a run, and end it when its time has passed: by an interrupt, then by killing the executor.

    Args:
        run: The run.
        executor: Runs it. No other run may be in progress on it.
        limits: The time between the two.
        timeout: Seconds of a run that names no time; None: no limit.

    Raises:
        HawseError: `limit_exceeded` if there is no room for its output.
    """
    executor.begin(run)
    run.limit_time(
        timeout if run.params.timeout is None else run.params.timeout,
        lambda: interrupt(run, executor, "timed_out", limits.interrupt_grace),
    )


def interrupt(run: Run, executor: Executor, why: Why, grace: float | None) -> None:
    """Interrupt a run in progress.

    Args:
        run: The run.
        executor: Runs it.
        why: The status with which it ends.
        grace: Seconds after which the executor is killed if the run has not ended; None: it is not.
    """

    def kill() -> None:
        run.killed = True
        executor.kill()

    run.ended_as = run.ended_as or why
    executor.interrupt()
    if grace is not None:
        run.limit_time(grace, kill)
