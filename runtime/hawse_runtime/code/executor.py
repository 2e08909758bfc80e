"""An executor: one kernel process, used by a single context, or by a single run without a context."""

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
    """The objects that all executors of a runtime share."""

    tasks: Tasks  # owns the work of ending executors
    trees: ProcessTrees  # ends process trees
    journal: Callable[[], Journal]  # creates a journal, four for each run
    store: SpillStore  # keeps the output of runs on disk
    oom: OomCounter  # counts OOM kills
    end_grace: float  # seconds from SIGTERM to SIGKILL


class ExecutorOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The start options of an executor. Executors with equal options are interchangeable."""

    language: str | None
    kernel: str | None
    cwd: str
    env: tuple[tuple[str, str], ...]  # its whole environment


class Executor:
    """A kernel process that is ready."""

    def __init__(
        self,
        options: ExecutorOptions,
        kernel: Kernel,
        number: int,
        instance: str,
        host: KernelHost,
        context: ExecutorContext,
    ) -> None:
        """Wrap a kernel that has answered; created by `start_executor`.

        Args:
            options: Its start options.
            kernel: The kernel, as reported by the host.
            number: The host's number for it.
            instance: Its mark in the environment of all its processes.
            host: The process that hosts it.
            context: The objects that it shares with the other executors.
        """
        self.options = options
        self.kernel = kernel
        self.exit: Exit | None = None
        self.on_exit: Callable[[Exit], None] | None = None  # set by its owner; called once it has ended
        self.run: Run | None = None  # in progress
        self._number = number
        self._instance = instance
        self._host = host
        self._context = context
        self._oom_kills = context.oom.kills()
        self._sent_kill = False  # the runtime may have killed it, so a SIGKILL does not count as an OOM kill
        self._pauses = 0
        host.on_exit[number] = self._exited

    # ---- runs

    def begin(self, run: Run) -> None:
        """Send the code of `run`; no other may be running. Raises `limit_exceeded` without memory for its output."""
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
        """Send a request of Jupyter's shell channel; return the content of the reply. Raises `exited`."""
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

    # ---- its end

    async def end(self) -> None:
        """End it with everything its code started: SIGTERM, then SIGKILL. Return when no process is left.

        Raises:
            HawseError: `permission_denied` if something survives SIGKILL.
        """
        self._sent_kill = True
        context = self._context
        await context.trees.end(NO_ROOT, signal.SIGTERM, context.end_grace, _reaped, mark=self._mark)
        self._exited(Exit(signal="SIGKILL"))  # in case the host is stopped and does not report it

    def kill(self) -> None:
        """Kill it immediately, with everything its code started; `on_exit` follows."""
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
        """End processes left running by a crashed executor's code."""
        context = self._context
        try:
            await context.trees.end(NO_ROOT, signal.SIGTERM, context.end_grace, _reaped, mark=self._mark)
        except HawseError as error:
            log.error("! processes of an ended executor remain: %s", error.message)


def _reaped() -> bool:
    return True  # its parent, the host, reaps it


async def start_executor(
    options: ExecutorOptions, host: KernelHost, context: ExecutorContext, *, timeout: float
) -> Executor:
    """Start an executor and return it when it is ready.

    Args:
        options: Its start options.
        host: The process that will host it.
        context: The objects that it shares with the other executors.
        timeout: Seconds to wait for its answer.

    Raises:
        HawseError: `language_unavailable`, `spawn_failed`. No process is left.
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


HOST_DELAY = 5.0  # seconds for the host to report that a kernel did not answer in time
