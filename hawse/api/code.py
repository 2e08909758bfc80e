"""Code contexts: run Python and other languages with rich results, through Jupyter kernels. See docs/code.md."""

from typing import Annotated

from msgspec import Meta

from hawse.api.code_values import (
    CodeClear as CodeClear,
    CodeCompleteResult as CodeCompleteResult,
    CodeContextInfo as CodeContextInfo,
    CodeDisplay as CodeDisplay,
    CodeError as CodeError,
    CodeErrorRaised as CodeErrorRaised,
    CodeInputRequest as CodeInputRequest,
    CodeInspectResult as CodeInspectResult,
    CodeLanguage as CodeLanguage,
    CodeLanguagesResult as CodeLanguagesResult,
    CodeLargeValue as CodeLargeValue,
    CodeListResult as CodeListResult,
    CodeOffsets as CodeOffsets,
    CodePosition as CodePosition,
    CodeRunInfo as CodeRunInfo,
    CodeRunOpened as CodeRunOpened,
    CodeRunResult as CodeRunResult,
    CodeRunWaiting as CodeRunWaiting,
    CodeSince as CodeSince,
    CodeTruncated as CodeTruncated,
    CodeWatched as CodeWatched,
    Name as Name,
    RunStatus as RunStatus,
    RunStream as RunStream,
    Source as Source,
)
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import Env, Grace, Id, Path, Seconds

RUN_EVENTS = {
    "opened": CodeRunOpened,
    "value": CodeDisplay,
    "display": CodeDisplay,
    "update": CodeDisplay,
    "clear": CodeClear,
    "raised": CodeErrorRaised,
    "input": CodeInputRequest,
    "truncated": CodeTruncated,
}
RUN_OUTPUT = ("stdout", "stderr", "bundles")
START_ERRORS = ("language_unavailable", "spawn_failed", "limit_exceeded")


@method("code.create", raises=("conflict", *START_ERRORS))
class CodeCreate(Params[CodeContextInfo], kw_only=True):
    """Create a context with an executor of its own, and return when it is ready.

    The executor runs until `code.delete`; its state is shared by all runs of the context and by nothing else. The
    number of contexts is not limited unless a setting of the runtime does. An id of an existing context is `conflict`.
    A language without an installed kernel is `language_unavailable`; its message states how to install one.

    Args:
        id: Id of the context; null: the server chooses one.
        language: Language of the code; null: that of `kernel`, or python.
        kernel: Name of an installed Jupyter kernel; null: the one for `language`.
        cwd: Directory to start in, relative to the workspace; null: the workspace.
        env: Variables to add to the environment; a null value removes one. Null: none.
        timeout: Seconds after which a run without a `timeout` is ended; null: never.
    """

    id: Id | None = None
    language: Name | None = None
    kernel: Name | None = None
    cwd: Path | None = None
    env: Env | None = None
    timeout: Seconds | None = None


@method(
    "code.run",
    events={"waiting": CodeRunWaiting, **RUN_EVENTS},
    output=RUN_OUTPUT,
    raises=("not_found", "stale_handle", "exited", *START_ERRORS),
)
class CodeRun(Params[CodeRunResult], kw_only=True):
    """Run code and stream its output: in a context, after the runs that were called before, or in a new executor.

    Without a `context` the code runs in an executor that nothing has used, which is ended afterwards.

    Every end of the code is a result, with its `status`; only a run that could not begin is an error. If the executor
    of the context has ended, it is `exited` until `code.restart`. At most 64 runs wait in a context (`limit_exceeded`).

    `cancel` does not end the code, but a run that still waits is withdrawn if no call waits for it. With an idempotency
    key, a repeated call joins the run: `since` continues its streams. A run without a `context` and without a key ends
    with its call.

    When the time limit has passed, the code is interrupted. If it has not ended 2 s later, its executor is killed.

    Args:
        context: Id of the context; null: a new executor, for this run only.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
        language: Language of the code if there is no `context`; null: python.
        source: The code.
        timeout: Seconds from its turn after which the run is ended; null: the context's.
        store_history: Whether the run counts, and is kept in the executor's history; null: true.
        stdin: Whether the code may ask for input, with the event `input`; null or false: asking is an error.
        since: Where to continue the streams of a repeated call; null: at their beginning.
    """

    context: Id | None = None
    instance: str | None = None
    language: Name | None = None
    source: Source
    timeout: Seconds | None = None
    store_history: bool | None = None
    stdin: bool | None = None
    since: CodeSince | None = None


@method("code.attach", events=RUN_EVENTS, output=RUN_OUTPUT, raises=("not_found", "stale_handle", "exited"))
class CodeAttach(Params[CodeRunResult], kw_only=True):
    """Follow the output of a run to its end.

    The latest 64 runs that have ended are kept, with up to 64 MiB of each stream. `cancel` detaches, and the run
    continues.

    Args:
        context: Id of the context.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
        run: Id of the run; null: the one in progress, or the last one.
        since: Where to begin in each stream; null: at its beginning.
    """

    context: Id
    instance: str | None = None
    run: Id | None = None
    since: CodeSince | None = None


@method("code.watch", events={"changed": CodeWatched}, raises=("not_found", "stale_handle"), passive=True)
class CodeWatch(Params[Nothing], kw_only=True):
    """Report a context and its runs, of all clients, now and after every change, until the context is deleted.

    Changes that the client is too slow for are reported as one. `code.attach` follows the output of a run.

    Args:
        context: Id of the context.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
    """

    context: Id
    instance: str | None = None


@method("code.answer", raises=("not_found", "stale_handle", "conflict"))
class CodeAnswer(Params[Nothing], kw_only=True):
    """Answer a request for input of the run in progress.

    A request that was answered before, or is not pending any more, is `conflict`.

    Args:
        run: Id of the run.
        request: Number of the request, from the event `input`.
        value: The line, without a line break.
    """

    run: Id
    request: int
    value: Annotated[str, Meta(max_length=1 << 16)]


@method("code.interrupt", raises=("not_found", "stale_handle", "exited"))
class CodeInterrupt(Params[Nothing], kw_only=True):
    """Interrupt the run in progress, as Ctrl-C does. Runs that wait are not affected.

    If no run is in progress, or another one than `run`, it does nothing. At least one of `context` and `run` is
    required.

    Args:
        context: Id of the context; null: that of the run.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
        run: Only this run; null: whichever is in progress.
        grace: Seconds after which the executor is killed if the run has not ended; null: it is not killed.
    """

    context: Id | None = None
    instance: str | None = None
    run: Id | None = None
    grace: Grace | None = None


@method("code.restart", raises=("not_found", "stale_handle", "permission_denied", *START_ERRORS))
class CodeRestart(Params[CodeContextInfo], kw_only=True):
    """Replace the executor of a context by a new one; all state of the code is lost.

    The run in progress ends as `stopped`, and runs that wait fail with `exited`. All processes that the code started
    are ended. If no new executor starts, the context has none, and `code.restart` may be called again.

    Args:
        context: Id of the context.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
    """

    context: Id
    instance: str | None = None


@method("code.complete", safe=True, raises=("not_found", "stale_handle", "exited"))
class CodeComplete(CodePosition, Params[CodeCompleteResult], kw_only=True):
    """Complete a piece of code. The executor answers when no run is in progress."""


@method("code.inspect", safe=True, raises=("not_found", "stale_handle", "exited"))
class CodeInspect(CodePosition, Params[CodeInspectResult], kw_only=True):
    """Describe the object at a position in the code. The executor answers when no run is in progress.

    Args:
        detail: 0: signature and documentation; 1: the source too; null: 0.
    """

    detail: Annotated[int, Meta(ge=0, le=1)] | None = None


@method("code.get", safe=True, raises=("not_found",))
class CodeGet(Params[CodeContextInfo], kw_only=True):
    """Describe one context.

    Args:
        context: Id of the context.
    """

    context: Id


@method("code.list", safe=True)
class CodeList(Params[CodeListResult], kw_only=True):
    """List all contexts."""


@method("code.delete", raises=("not_found", "stale_handle", "permission_denied"))
class CodeDelete(Params[Nothing], kw_only=True):
    """Delete a context: end its executor and all processes that its code started. It returns when nothing is left.

    A run in progress is not waited for: it ends as `stopped`, and runs that wait fail with `exited`.

    Args:
        context: Id of the context.
        instance: Instance of the context that the call is for, otherwise `stale_handle`; null: the current one.
    """

    context: Id
    instance: str | None = None


@method("code.languages", safe=True, raises=("spawn_failed", "limit_exceeded"))
class CodeLanguages(Params[CodeLanguagesResult], kw_only=True):
    """List the languages of code contexts, installed and known."""
