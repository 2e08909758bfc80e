"""An executor: a kernel process used by a single context or by a single run without a context."""

import asyncio
import logging
import secrets
import signal
from collections.abc import Callable
from typing import Any

import msgspec

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.code.host_process import KernelHost
from hawse_runtime.code.host_protocol import (
    AnswerInput,
    Ask,
    Execute,
    Interrupt,
    Kernel,
    Pause,
    Resume,
    Start,
    Stop,
    as_text,
)
from hawse_runtime.code.run import Run
from hawse_runtime.code.run_log import RunLog
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.posix.oom import OomCounter
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.posix.process_tree import NO_ROOT, ProcessTrees

log = logging.getLogger(__name__)


class ExecutorContext(msgspec.Struct, frozen=True, kw_only=True):
    """Objects shared by all of a runtime's executors."""

    tasks: Tasks  # owns tasks that end executors
    trees: ProcessTrees  # ends process trees
    journal: Callable[[], Journal]  # creates a journal; each run has four
    store: SpillStore  # stores runs' output on disk
    oom: OomCounter  # counts OOM kills
    end_grace: float  # seconds from SIGTERM to SIGKILL


class ExecutorOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for starting an executor. Executors with equal options are interchangeable."""

    language: str | None
    kernel: str | None
    cwd: str
    env: tuple[tuple[str, str], ...]  # the kernel's complete environment


class Executor:
    """A kernel process ready to run code."""

    def __init__(
        self,
        options: ExecutorOptions,
        kernel: Kernel,
        number: int,
        instance: str,
        host: KernelHost,
        context: ExecutorContext,
    ) -> None:
        """Wrap a kernel that has started successfully. Don't call this; use `start_executor`.

        Args:
            options: Options for starting the executor.
            kernel: The kernel's description, as sent by the host.
            number: The host's number for the executor.
            instance: The mark in the environment of all the executor's processes.
            host: The process that hosts the kernel.
            context: Objects shared with other executors.
        """
        self.options = options
        self.kernel = kernel
        self.exit: Exit | None = None
        self.on_exit: Callable[[Exit], None] | None = None  # set by the owner; called once, when the executor has ended
        self.run: Run | None = None  # the run in progress
        self._number = number
        self._instance = instance
        self._host = host
        self._context = context
        self._oom_kills = context.oom.kills()
        self._sent_kill = False  # whether the runtime may have sent SIGKILL; if so, the exit isn't an OOM kill
        self._pauses = 0
        host.on_exit[number] = self._exited

    # ---- runs

    def begin(self, run: Run) -> None:
        """Send the code for `run`, the only run in progress. Raises `limit_exceeded` if memory for output is short."""
        context, host = self._context, self._host
        log = RunLog(context.journal, context.store, run.wake, self._pause, self._resume)
        number = host.new_number()
        self.run = host.runs[number] = run
        run.begin(number, log)
        params = run.params
        host.send(
            Execute(
                executor=self._number,
                run=number,
                source=params.source,
                stdin=bool(params.stdin),
                store_history=params.store_history is not False,
            )
        )

    def interrupt(self) -> None:
        """Interrupt the run in progress."""
        if self.run is not None:
            self._host.send(Interrupt(executor=self._number, run=self.run.number))

    def answer(self, run: Run, value: str) -> None:
        """Send a line of input to `run`."""
        self._host.send(AnswerInput(executor=self._number, run=run.number, value=value))

    async def ask(self, method: Any, content: dict[str, Any]) -> dict[str, Any]:
        """Send a request on Jupyter's shell channel, and return the content of the reply. Raises `exited`."""
        reply: dict[str, Any] = await self._host.request(
            lambda number: Ask(request=number, executor=self._number, method=method, content=content), dict[str, Any]
        )
        return reply

    def _pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1:
            self._host.send(Pause(executor=self._number))

    def _resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0:
            self._host.send(Resume(executor=self._number))

    # ---- end

    async def end(self) -> None:
        """Send SIGTERM, then SIGKILL, to the executor and everything its code started. Return once all have exited.

        Raises:
            HawseError: `permission_denied` if a process survives SIGKILL.
        """
        self._sent_kill = True
        context = self._context
        await context.trees.end(NO_ROOT, signal.SIGTERM, context.end_grace, _reaped, mark=self._mark)
        self._exited(Exit(signal="SIGKILL"))  # needed if the host is suspended and can't report the exit

    def kill(self) -> None:
        """Kill the executor and everything its code started, without waiting. `on_exit` is called later."""
        self._sent_kill = True
        self._host.send(Stop(executor=self._number))
        self._context.tasks.start(self._kill())

    async def _kill(self) -> None:
        await self._context.trees.end(NO_ROOT, signal.SIGKILL, 0, _reaped, mark=self._mark)
        self._exited(Exit(signal="SIGKILL"))

    @property
    def _mark(self) -> str:
        return f"{PROCESS_MARK}={self._instance}"

    def _exited(self, exit: Exit) -> None:
        if self.exit is not None:
            return
        if exit.signal == "SIGKILL" and not self._sent_kill and not self._host.ended:
            exit = msgspec.structs.replace(exit, oom=self._context.oom.claim(self._oom_kills))
        self.exit = exit
        self._host.on_exit.pop(self._number, None)
        if not self._sent_kill:
            self._context.tasks.start(self._end_the_rest())
        run, self.run = self.run, None
        if run is not None:
            self._host.runs.pop(run.number, None)
            run.executor_ended(exit)
        on_exit, self.on_exit = self.on_exit, None
        if on_exit is not None:
            on_exit(exit)

    async def _end_the_rest(self) -> None:
        """End any processes that a crashed executor's code left running."""
        context = self._context
        try:
            await context.trees.end(NO_ROOT, signal.SIGTERM, context.end_grace, _reaped, mark=self._mark)
        except HawseError as error:
            log.error("! cannot end the processes of an ended executor: %s", error.message)


def _reaped() -> bool:
    return True  # the host process is the kernel's parent, so it reaps the kernel


async def start_executor(
    options: ExecutorOptions, host: KernelHost, context: ExecutorContext, *, timeout: float
) -> Executor:
    """Start an executor and return it once it is ready.

    Args:
        options: Options for starting the executor.
        host: The process to host the kernel.
        context: Objects shared with other executors.
        timeout: How many seconds to wait for the kernel to respond.

    Raises:
        HawseError: `language_unavailable` or `spawn_failed`. In that case, no process is left running.
    """
    number, instance = host.new_number(), secrets.token_hex(8)
    env = {as_text(name): as_text(value) for name, value in (*options.env, (PROCESS_MARK, instance))}

    def start(request: int) -> Start:
        return Start(
            request=request,
            executor=number,
            kernel=options.kernel,
            language=options.language,
            cwd=as_text(options.cwd),
            env=env,
            timeout=timeout,
        )

    try:
        async with asyncio.timeout(timeout + HOST_DELAY):
            kernel: Kernel = await host.request(start, Kernel)
    except BaseException as error:
        mark = f"{PROCESS_MARK}={instance}"
        await context.trees.end(NO_ROOT, signal.SIGKILL, 0, _reaped, mark=mark)
        if isinstance(error, TimeoutError):
            raise HawseError("spawn_failed", f"the kernel host did not answer within {timeout:g} s") from None
        raise
    return Executor(options, kernel, number, instance, host, context)


HOST_DELAY = 5.0  # seconds to wait, after `timeout`, for the host to report that a kernel didn't answer
