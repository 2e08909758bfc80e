"""Code contexts. Each has an executor whose runs share variables, modules and the working directory."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypedDict, Unpack

import msgspec

from hawse.api.code import (
    CodeAttach,
    CodeComplete,
    CodeCompleteResult,
    CodeContextInfo,
    CodeCreate,
    CodeDelete,
    CodeError,
    CodeGet,
    CodeInspect,
    CodeInspectResult,
    CodeInterrupt,
    CodeRestart,
    CodeRun,
    CodeWatch,
    CodeWatched,
)
from hawse.client.base.keywords import declared_callbacks
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.created_handle import CreatedHandle
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.client.code.results import (
    CodeEnd,
    CodeEvent,
    CodeInput,
    CodeRaised,
    CodeResult,
    CodeStderr,
    CodeStdout,
    ResultCollector,
    RichResult,
)
from hawse.client.code.run import CodeRunCall, CodeRunStream

OUTPUT_LIMIT = 64 << 20  # maximum number of bytes of stdout and stderr that `run` keeps; for more, use `stream`

Answer = Callable[[CodeInput], str | Awaitable[str]]


class Callbacks(TypedDict, total=False):
    """Functions that `run` calls as output arrives. Their results are ignored, except the line that `on_input`
    returns.
    """

    on_stdout: Callable[[bytes], object]  # called with bytes from stdout
    on_stderr: Callable[[bytes], object]  # called with bytes from stderr
    on_result: Callable[[RichResult], object]  # called with each value, display and update
    on_error: Callable[[CodeError], object]  # called with the error that ends the run
    on_input: Answer  # returns the line for `input()`; without it, `input()` raises an error in the code


class _Handle(TypedDict):
    """The fields that identify a context."""

    context: str
    instance: str | None


class CodeContext(CreatedHandle):
    """`async with box.code.create("python") as ctx: done = await ctx.run("1 + 1")`

    Leaving the block deletes the created context, along with all processes started by its code, unless `detach` was
    called. Runs in the same context are executed one at a time, in the order they were requested, across all clients.
    Different contexts run in parallel.
    """

    def __init__(self, calls: CallTable, sandbox: str, wanted: CodeCreate, *, create: bool, window: int) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The sandbox the context is in.
            wanted: The context to create, or the `id` of an existing one.
            create: Whether entering the handle creates it.
            window: Number of bytes the server can send before the client reads them.
        """
        super().__init__(calls, sandbox, wanted.id, prefix="c-", create=create, window=window)
        self._wanted = wanted

    # ---- runs

    async def run(
        self,
        source: str,
        *,
        timeout: float | None = None,
        store_history: bool = True,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
        **callbacks: Unpack[Callbacks],
    ) -> CodeResult:
        """Run code after all earlier runs, and return its result along with its output. An error in the code does not
        raise an exception.

        If the caller is cancelled and the call has no `key`, the run is interrupted. If the run still doesn't end, its
        executor is killed.

        Args:
            source: The code.
            timeout: Time limit in seconds, from the start of the run; None means the context's default.
            store_history: Whether to count the run and keep it in the executor's history.
            key: Calls with the same key, from any client, join the same run.
            max_output: Number of bytes to keep from the start of stdout and stderr.
            callbacks: `on_stdout`, `on_stderr`, `on_result`, `on_error`, `on_input`; see `Callbacks`.

        Raises:
            HawseError: `exited` if the context has no executor, `not_found`, `stale_handle`, `limit_exceeded`, and the
                error that closed the client.
        """
        callbacks = declared_callbacks(callbacks, Callbacks, "run", awaited=("on_input",))
        stream = self.stream(
            source, timeout=timeout, store_history=store_history, key=key, stdin="on_input" in callbacks
        )
        return await collect(stream, callbacks, max_output)

    def stream(
        self,
        source: str,
        *,
        timeout: float | None = None,
        store_history: bool = True,
        key: str | None = None,
        stdin: bool = False,
    ) -> CodeRunStream:
        """Return a run's events as they arrive: `async for event in ctx.stream(source)`. See `CodeEvent`.

        Args:
            source: The code.
            timeout: Time limit in seconds, from the start of the run; None means the context's default.
            store_history: Whether to count the run and keep it in the executor's history.
            key: Calls with the same key, from any client, join the same run.
            stdin: Whether the code can ask for input, with `CodeInput` events.
        """
        params = CodeRun(
            **self._handle(),
            source=source,
            timeout=timeout,
            store_history=None if store_history else False,
            stdin=stdin or None,
        )
        return run_stream(self._calls, params, sandbox=self._sandbox, key=key, window=self._window)

    def attach(self, run: str | None = None) -> CodeRunStream:
        """Return a run's events from its start, even if another client started it.

        Args:
            run: The id of the run; None means the run in progress or, if there is none, the last run.
        """
        call = CodeRunCall(CodeAttach(**self._handle(), run=run), sandbox=self._sandbox, key=None, window=self._window)
        return CodeRunStream(self._calls, call, self._sandbox, owned=False)

    def watch(self) -> StateStream[CodeWatched]:
        """Return a context manager and iterator over the state of the context and its runs, now and after each change.

        The iteration ends when the context is deleted.
        """
        call = StateStreamCall(CodeWatch(**self._handle()), sandbox=self._sandbox, window=self._window)
        return StateStream(self._calls, call, _watched)

    # ---- questions

    async def complete(self, source: str, cursor: int | None = None) -> CodeCompleteResult:
        """Return completions for code at `cursor`, a position in characters; None means its end. Raises `exited`."""
        return await self._request(CodeComplete(**self._handle(), source=source, cursor=cursor))

    async def inspect(self, source: str, cursor: int | None = None, *, detail: int = 0) -> CodeInspectResult:
        """Return the documentation for an object in the code.

        Args:
            source: The code.
            cursor: A position in the code, in characters; None means its end.
            detail: 0 for signature and documentation, 1 to include the source.

        Raises:
            HawseError: `exited`.
        """
        return await self._request(CodeInspect(**self._handle(), source=source, cursor=cursor, detail=detail))

    # ---- lifecycle

    async def info(self) -> CodeContextInfo:
        """Return the current state of the context. Raises `not_found`."""
        return await self._request(CodeGet(context=self._handle()["context"]))

    async def interrupt(self) -> None:
        """Interrupt the run in progress, as Ctrl-C does. Raises `exited`."""
        await self._request(CodeInterrupt(**self._handle()))

    async def restart(self) -> CodeContextInfo:
        """Replace the executor with a new one. The code's state is lost, and the run in progress ends as `stopped`."""
        return await self._request(CodeRestart(**self._handle()))

    async def delete(self) -> None:
        """End the executor and all processes started by its code.

        It is not an error if the context no longer exists.
        """
        await self._delete(self._deletion())

    # ---- internals

    def _handle(self) -> _Handle:
        self._check_entered()
        return {"context": self.id, "instance": self.instance or None}

    async def _begin(self) -> str:
        return (await self._request(msgspec.structs.replace(self._wanted, id=self.id))).instance

    async def _find(self) -> str:
        return (await self.info()).instance

    def _deletion(self) -> CodeDelete:
        return CodeDelete(**self._handle())


def _watched(value: CodeWatched) -> CodeWatched:
    return value


def run_stream(calls: CallTable, params: CodeRun, *, sandbox: str, key: str | None, window: int) -> CodeRunStream:
    """Return a run's events. The run starts when they are iterated over.

    Args:
        calls: The client's calls.
        params: The code.
        sandbox: The sandbox to run it in.
        key: Calls with the same key join the same run. None means that the run ends with its stream.
        window: Number of bytes the server can send before the client reads them.
    """
    call = CodeRunCall(params, sandbox=sandbox, key=key, window=window)
    return CodeRunStream(calls, call, sandbox, owned=key is None)


async def collect(stream: CodeRunStream, callbacks: Callbacks, limit: int) -> CodeResult:
    """Read a run to its end.

    Args:
        stream: The run.
        callbacks: Called as output arrives.
        limit: Number of bytes of stdout and stderr to keep.

    Raises:
        HawseError: The call failed.
    """
    collector = ResultCollector(limit)
    end: CodeEnd | None = None
    async with aclosing(stream.events()) as events:
        async for event in events:
            if isinstance(event, CodeEnd):
                end = event
                continue
            collector.add(event)
            await _call_back(stream, callbacks, event)
    assert end is not None
    return collector.result(end)


async def _call_back(stream: CodeRunStream, callbacks: Callbacks, event: CodeEvent) -> None:
    match event:
        case CodeStdout(data=data) if "on_stdout" in callbacks:
            callbacks["on_stdout"](data)
        case CodeStderr(data=data) if "on_stderr" in callbacks:
            callbacks["on_stderr"](data)
        case RichResult() if "on_result" in callbacks:
            callbacks["on_result"](event)
        case CodeRaised(error=error) if "on_error" in callbacks:
            callbacks["on_error"](error)
        case CodeInput() if "on_input" in callbacks:
            line = callbacks["on_input"](event)
            await stream.answer(event, line if isinstance(line, str) else await line)
