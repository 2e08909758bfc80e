"""A sandbox's code contexts, and the `code.*` methods."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import msgspec

from hawse.api import Nothing
from hawse.api.code import (
    CodeAnswer,
    CodeAttach,
    CodeComplete,
    CodeCompleteResult,
    CodeContextInfo,
    CodeCreate,
    CodeDelete,
    CodeGet,
    CodeInspect,
    CodeInspectResult,
    CodeInterrupt,
    CodeLanguage,
    CodeLanguages,
    CodeLanguagesResult,
    CodeList,
    CodeListResult,
    CodeRestart,
    CodeRun,
    CodeWatch,
)
from hawse.api.types import Env
from hawse.rpc import IdempotencyTable, Outcome, handles, serves, typed
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.code.context import Context, begin, interrupt
from hawse_runtime.code.executor import Executor, ExecutorContext, ExecutorOptions, start_executor
from hawse_runtime.code.host_process import KernelHost
from hawse_runtime.code.host_protocol import ListLanguages
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.code.pool import ExecutorPool
from hawse_runtime.code.run import Run
from hawse_runtime.code.run_stream import CodeRunStream
from hawse_runtime.code.watch import end_watches, watch
from hawse_runtime.core.registry import Registry
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.posix.environment import Environment
from hawse_runtime.process.process import ProcessContext


class CodeMethods:
    """The contexts, along with runs that calls can attach to."""

    def __init__(
        self,
        environment: Environment,
        context: ProcessContext,
        store: SpillStore,
        idempotency: IdempotencyTable,
        limits: CodeLimits,
        python: Sequence[str],
    ) -> None:
        """Create the methods. Nothing is started until a context, a run or a list of languages is requested.

        Args:
            environment: Environment variables and directories for new programs.
            context: Objects shared by all of the runtime's programs.
            store: Stores runs' output on disk.
            idempotency: Stores the outcomes of keyed runs.
            limits: Limits on contexts and runs.
            python: The command for running a Python module.
        """
        self.contexts: Registry[Context] = Registry("context")
        self._environment = environment
        self._limits = limits
        self._python = python
        self._idempotency = idempotency
        self._tasks = context.tasks
        self._trees = context.trees
        self._store = store
        self._shared = ExecutorContext(
            tasks=context.tasks,
            trees=context.trees,
            journal=context.journal,
            store=store,
            oom=context.oom,
            end_grace=limits.end_grace,
        )
        self._runs: dict[str, Run] = {}  # runs that are in progress or retained, keyed by id
        self._ended: OrderedDict[str, None] = OrderedDict()  # ids of retained runs that have ended, oldest first
        self._unbound: dict[Run, Executor] = {}  # runs in progress without a context
        self.host: KernelHost | None = None  # created on first use
        # Number of contexts being created, keyed by language.
        self._creating: dict[str, int] = {}
        self._starting = asyncio.Semaphore(limits.starting)
        self._closed = False
        self.pool = ExecutorPool(self._start_executor, context.tasks, limits)

    def __len__(self) -> int:
        """The number of contexts."""
        return len(self.contexts)

    async def close(self) -> None:
        """End all contexts, the executor pool and the kernel host."""
        self._closed = True
        for run in self._unbound:
            run.ended_as = "stopped"
        ends = [*(context.end() for context in self.contexts), *(each.end() for each in self._unbound.values())]
        await asyncio.gather(*ends, self.pool.close(), return_exceptions=True)
        if self.host is not None:
            await self.host.close()
        await self._store.close()

    # ---- contexts

    @handles(CodeCreate)
    async def _create(self, params: CodeCreate) -> CodeContextInfo:
        context_id = params.id or f"c-{secrets.token_hex(4)}"
        language = params.language if params.language or params.kernel else "python"
        with self.contexts.reserve(context_id), _Counted(self._creating, language or ""):
            self._check_limit(language or "")
            options = self._options(language, params.kernel, params.cwd, params.env)
            usual = params.cwd is None and params.env is None

            async def take() -> Executor:
                return await self.pool.take(self._options(language, params.kernel, params.cwd, params.env), usual=usual)

            executor = await self.pool.take(options, usual=usual)
            if self._closed:
                await executor.end()
                raise HawseError("unavailable", "the runtime is stopping")
            context = Context(context_id, executor, take, self._limits, timeout=params.timeout)
            self.contexts.add(context)
        return context.describe()

    @handles(CodeDelete)
    async def _delete(self, params: CodeDelete) -> Nothing:
        context = self.contexts.get(params.context, params.instance)
        await context.end()
        self.contexts.drop(context)
        end_watches(context)
        return Nothing()

    @handles(CodeRestart)
    async def _restart(self, params: CodeRestart) -> CodeContextInfo:
        context = self.contexts.get(params.context, params.instance)
        await context.restart()
        return context.describe()

    @handles(CodeGet)
    def _get(self, params: CodeGet) -> CodeContextInfo:
        return self.contexts.get(params.context).describe()

    @handles(CodeList)
    def _list(self, params: CodeList) -> CodeListResult:
        return CodeListResult(contexts=[context.describe() for context in self.contexts])

    @handles(CodeLanguages)
    async def _languages(self, params: CodeLanguages) -> CodeLanguagesResult:
        if not _kernels_are_supported():
            return CodeLanguagesResult(languages=[], ready={})
        host = await self._get_host()
        found = await host.request(lambda number: ListLanguages(request=number), list[CodeLanguage])
        return CodeLanguagesResult(languages=found, ready=dict(self.pool.ready))

    # ---- runs

    @serves(CodeRun)
    def _run(self, call: ServerCall, params: CodeRun) -> None:
        identity = msgspec.structs.replace(params, since=None)
        run = self._idempotency.attach_or_start(call, identity, lambda outcome: self._begin(call, params, outcome))
        call.serve(CodeRunStream(run, call, params.since, self._detached))

    def _begin(self, call: ServerCall, params: CodeRun, outcome: Outcome) -> Run:
        if params.since is not None and any(msgspec.structs.astuple(params.since)):
            message = "`since` must be 0, because the code has not run yet and has no output"
            raise HawseError("invalid_params", message, details={"path": "$.since"})
        run = Run(
            params,
            lambda run: self._settled(run, outcome),
            keyed=outcome.key is not None,
            caller=call.principal,
        )
        if params.context is not None:
            context = self.contexts.get(params.context, params.instance)
            if params.language is not None:
                message = "`language` is only allowed without `context`, because a context has a language"
                raise HawseError("invalid_params", message, details={"path": "$.language"})
            self._runs[run.id] = run
            try:
                context.submit(run)
            except HawseError as error:
                run.fail(error)
                raise
        else:
            self._runs[run.id] = run
            self._tasks.start(self._run_unbound(run))
        return run

    async def _run_unbound(self, run: Run) -> None:
        """Run code in a new executor, which is ended afterwards."""
        try:
            options = self._options(run.params.language or "python", None, None, None)
            executor = await self.pool.take(options, usual=True)
        except Exception as error:
            run.fail(typed(error))
            return
        self._unbound[run] = executor
        if self._closed or run.settled:
            await executor.end()
            run.fail(HawseError("unavailable", "the runtime is stopping"))
            return
        try:
            begin(run, executor, self._limits, None)
        except HawseError as error:
            run.fail(error)

    def _settled(self, run: Run, outcome: Outcome) -> None:
        if run.context is not None and (context := self.contexts.find(run.context)) is not None:
            context.settled(run)
        if (executor := self._unbound.pop(run, None)) is not None:
            self._tasks.start(executor.end())
        if run.error is not None:
            del self._runs[run.id]
            outcome.fail(run.error)
            return
        outcome.succeed()
        self._ended[run.id] = None
        if len(self._ended) > self._limits.kept_runs:
            oldest, _ = self._ended.popitem(last=False)
            self._runs.pop(oldest).shrink()

    def _detached(self, run: Run) -> None:
        """Handle the end of a call that was attached to `run`. A queued run is withdrawn unless another call is
        attached. A run without a context or key is ended, because no call can access it any more.
        """
        if run.readers or run.settled:
            return
        if run.context is not None:
            context = self.contexts.find(run.context)
            if context is not None and run.log is None:
                context.withdraw(run)
        elif not run.keyed:
            run.ended_as = "stopped"
            if (executor := self._unbound.get(run)) is not None:
                self._tasks.start(executor.end())
            else:
                run.fail(HawseError("cancelled", "the run was withdrawn before it started", admitted="no"))

    @serves(CodeAttach)
    def _attach(self, call: ServerCall, params: CodeAttach) -> None:
        context = self.contexts.get(params.context, params.instance)
        run_id = params.run or context.last
        if run_id is None:
            raise HawseError("not_found", f"no code has been run in context {context.id}")
        run = self._runs.get(run_id)
        if run is None or (run.context, run.instance) != (context.id, context.instance):
            raise HawseError("not_found", f"context {context.id} has no run {run_id}, or its output was dropped")
        call.serve(CodeRunStream(run, call, params.since, self._detached, tell_source=True))

    @serves(CodeWatch)
    def _watch(self, call: ServerCall, params: CodeWatch) -> None:
        watch(call, self.contexts.get(params.context, params.instance), self._runs.values)

    @handles(CodeAnswer)
    def _answer(self, params: CodeAnswer) -> Nothing:
        run = self._runs.get(params.run)
        if run is None:
            raise HawseError("not_found", f"run {params.run} does not exist")
        if run.pending_input is None or run.pending_input.request != params.request:
            raise HawseError("conflict", f"input request {params.request} of run {run.id} is not waiting for an answer")
        executor = self._unbound.get(run) if run.context is None else self._context_of(run).executor
        if executor is not None:
            run.answered()
            executor.answer(run, params.value)
        return Nothing()

    @handles(CodeInterrupt)
    def _interrupt(self, params: CodeInterrupt) -> Nothing:
        run = self._runs.get(params.run) if params.run is not None else None
        if params.context is None:
            if run is None:
                raise HawseError("not_found", f"run {params.run} does not exist, or its output was dropped")
            executor = self._unbound.get(run) if run.context is None else self._context_of(run).executor
        else:
            context = self.contexts.get(params.context, params.instance)
            context.check_usable()
            executor = context.executor
        if executor is not None and executor.run is not None and run in (None, executor.run):
            interrupt(executor.run, executor, "interrupted", params.grace)
        return Nothing()

    def _context_of(self, run: Run) -> Context:
        """Return a run's context. Raises `not_found` or `stale_handle`."""
        return self.contexts.get(run.context or "", run.instance)

    # ---- completion and inspection

    @handles(CodeComplete, stops=True)
    async def _complete(self, params: CodeComplete) -> CodeCompleteResult:
        context = self.contexts.get(params.context, params.instance)
        cursor = len(params.source) if params.cursor is None else params.cursor
        reply = await context.ask("complete_request", {"code": params.source, "cursor_pos": cursor})
        return _Completions.of(reply, cursor)

    @handles(CodeInspect, stops=True)
    async def _inspect(self, params: CodeInspect) -> CodeInspectResult:
        context = self.contexts.get(params.context, params.instance)
        content: dict[str, Any] = {
            "code": params.source,
            "cursor_pos": len(params.source) if params.cursor is None else params.cursor,
            "detail_level": params.detail or 0,
        }
        reply = await context.ask("inspect_request", content)
        data = reply.get("data")
        return CodeInspectResult(found=reply.get("found") is True, data=data if isinstance(data, dict) else {})

    # ---- internals

    def _options(self, language: str | None, kernel: str | None, cwd: str | None, env: Env | None) -> ExecutorOptions:
        folder = self._environment.cwd(cwd)
        built = self._environment.build(env, cwd=folder)
        return ExecutorOptions(
            language=language.lower() if language else None, kernel=kernel, cwd=folder, env=tuple(sorted(built.items()))
        )

    def _check_limit(self, language: str) -> None:
        limit = self._limits.contexts
        same = sum(context.describe().language == language for context in self.contexts)
        if limit is not None and same + self._creating[language] > limit:
            raise HawseError("limit_exceeded", f"context limit reached: {limit} {language} contexts exist")

    async def _start_executor(self, options: ExecutorOptions) -> Executor:
        async with self._starting:
            host = await self._get_host()
            return await start_executor(options, host, self._shared, timeout=self._limits.start_timeout)

    async def _get_host(self) -> KernelHost:
        """Return the kernel host, starting it if necessary."""
        if self._closed:
            raise HawseError("unavailable", "the runtime is stopping")
        if self.host is None:
            if not _kernels_are_supported():
                message = (
                    "the runtime of this sandbox has no jupyter_client, so code contexts are unavailable: "
                    "install ipykernel where the gateway is installed, or run an interpreter with `exec`, in a session "
                    "or in a terminal"
                )
                raise HawseError("language_unavailable", message)
            try:
                self.host = KernelHost(self._environment, self._trees, self._python, self._host_ended)
            except OSError as error:
                raise typed(error) from None
        return self.host

    def _host_ended(self, host: KernelHost) -> None:
        if self.host is host:
            self.host = None


def _kernels_are_supported() -> bool:
    """Return whether the kernel host can be started. Some bundles do not include its packages (docs/decisions/0105)."""
    return find_spec("jupyter_client") is not None


class _Counted:
    """Counts a context toward its language's limit while the context is being created."""

    def __init__(self, counts: dict[str, int], language: str) -> None:
        self._counts = counts
        self._language = language

    def __enter__(self) -> None:
        self._counts[self._language] = self._counts.get(self._language, 0) + 1

    def __exit__(self, *_: object) -> None:
        self._counts[self._language] -= 1
        if not self._counts[self._language]:
            del self._counts[self._language]


class _Completions(msgspec.Struct):
    """The fields used from a `complete_reply`."""

    matches: list[str] = []
    cursor_start: int = 0
    cursor_end: int = 0

    @classmethod
    def of(cls, reply: dict[str, Any], cursor: int) -> CodeCompleteResult:
        """Return the result for a kernel's reply. An invalid reply yields no completions."""
        try:
            found = msgspec.convert(reply, cls)
        except msgspec.ValidationError:
            return CodeCompleteResult(matches=[], start=cursor, end=cursor)
        return CodeCompleteResult(matches=found.matches, start=found.cursor_start, end=found.cursor_end)
