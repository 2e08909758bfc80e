"""A code context: an executor and a queue of runs."""

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
            context_id: The context's id.
            executor: The context's executor. No other context uses it.
            take: Returns another unused executor with the same options. Called on a restart.
            limits: Limits on the queue and on durations.
            timeout: The time limit in seconds for runs that don't set their own; None means no limit.
        """
        self.id = context_id
        self.instance = secrets.token_hex(8)
        self.last: str | None = None  # the id of the most recently started run
        self.watchers: dict[LatestValueStream, ServerCall] = {}  # the streams for `code.watch` calls
        self._created = time.time()
        self.executor = executor  # the current executor; replaced on a restart
        self._take = take
        self._limits = limits
        self._timeout = timeout
        self._queue: deque[Run] = deque()
        self._run: Run | None = None
        self._restarts = 0
        self._deleted = False
        self._restarting: asyncio.Event | None = None  # set once the current restart has finished
        executor.on_exit = self._exited

    @property
    def exit(self) -> Exit | None:
        """How the executor ended, or None while it is running."""
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
            input=self._run.pending_input if self._run is not None else None,
            restarts=self._restarts,
            exit=self.exit,
        )

    # ---- runs

    def submit(self, run: Run) -> None:
        """Queue a run. Raises `exited` or `limit_exceeded`."""
        self.check_usable()
        if len(self._queue) >= self._limits.queue:
            limit = self._limits.queue
            raise HawseError("limit_exceeded", f"the queue of context {self.id} is full: {limit} runs are waiting")
        run.context, run.instance = self.id, self.instance
        run.on_input = self._changed
        run.ahead = len(self._queue) + (self._run is not None)
        self._queue.append(run)
        self._next()
        self._changed()

    def withdraw(self, run: Run) -> None:
        """Remove a run from the queue. Has no effect if it has already started."""
        if run in self._queue:
            self._queue.remove(run)
            run.fail(HawseError("cancelled", "the run was withdrawn before it started", admitted="no"))

    def settled(self, run: Run) -> None:
        """Record that a run has ended or failed, and start the next one."""
        if run is self._run:
            self._run = None
            self.executor.run = None
            self._next()
        self._changed()

    async def ask(self, method: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a request on Jupyter's shell channel and return the reply's content. Raises `exited`."""
        self.check_usable()
        return await self.executor.ask(method, content)

    def _next(self) -> None:
        while self._run is None and self._queue and self.exit is None and self._restarting is None:
            run = self._queue.popleft()
            self._run, self.last = run, run.id
            try:
                begin(run, self.executor, self._limits, self._timeout)
            except Exception as error:  # a run that fails to start must not block the queue
                self._run = None
                run.fail(typed(error))

    def _changed(self) -> None:
        """Notify the watchers that the context or one of its runs has changed."""
        for watcher in list(self.watchers):
            watcher.changed()

    # ---- end

    async def restart(self) -> None:
        """Replace the executor. If `take` fails, raise its error and leave the context without an executor."""
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
        """End the executor and all processes started by its code. Return once all have exited."""
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
        """Raise `exited` unless a run can start, either now or after the current restart."""
        if self._deleted or (self.exit is not None and self._restarting is None):
            raise self._exited_error()

    def _check_not_deleted(self) -> None:
        if self._deleted:
            raise HawseError("not_found", f"context {self.id} was deleted")

    def _exited_error(self) -> HawseError:
        why = "was deleted" if self._deleted else "was restarted" if self._restarting else "no longer has an executor"
        hint = "" if self._deleted or self._restarting else "; call `code.restart` to start a new one"
        details = {"id": self.id, "instance": self.instance, "exit": self.exit}
        return HawseError("exited", f"context {self.id} {why}{hint}", details=details)


def begin(run: Run, executor: Executor, limits: CodeLimits, timeout: float | None) -> None:
    """Start a run and enforce its time limit by first interrupting it, then killing the executor.

    Args:
        run: The run to start.
        executor: The executor, which must be idle.
        limits: Includes the time between the interrupt and the kill.
        timeout: The time limit in seconds if the run doesn't set its own; None means no limit.

    Raises:
        HawseError: `limit_exceeded` if there is not enough memory for the run's output.
    """
    executor.begin(run)
    run.limit_time(
        timeout if run.params.timeout is None else run.params.timeout,
        lambda: interrupt(run, executor, "timed_out", limits.interrupt_grace),
    )


def interrupt(run: Run, executor: Executor, why: Why, grace: float | None) -> None:
    """Interrupt a run that is in progress.

    Args:
        run: The run to interrupt.
        executor: The run's executor.
        why: The status that the run ends with.
        grace: How many seconds the run has to end before the executor is killed; None means never.
    """

    def kill() -> None:
        run.killed = True
        executor.kill()

    run.ended_as = run.ended_as or why
    executor.interrupt()
    if grace is not None:
        run.limit_time(grace, kill)
