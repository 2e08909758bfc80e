"""Code contexts: run Python and other languages with rich results, through Jupyter kernels. See docs/code.md."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import Env, Exit, Grace, Id, Offset, Path, Seconds, matching

# ---- values


# Names of languages and kernels, such as the `python3.12-data` kernel. A name cannot be a path.
_NAME = "letters, digits, '.', '_', '+' and '-', starting with a letter or digit"
Name = Annotated[str, matching(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$(?!\n)", _NAME, min_length=1, max_length=64)]
Source = Annotated[str, Meta(max_length=1 << 20)]  # source code must fit into a control message
RunStatus = Literal["ok", "error", "interrupted", "timed_out", "crashed", "stopped"]
RunStream = Literal["stdout", "stderr", "bundles", "events"]


class CodeSince(ParamsValue, kw_only=True):
    """For each stream of a run, the offset of the first byte or event to send.

    Args:
        stdout: Offset in stdout; null means 0.
        stderr: Offset in stderr; null means 0.
        bundles: Offset in the stream that carries large values; null means 0.
        events: The `offset` of the last event received; null means 0.
    """

    stdout: Offset | None = None
    stderr: Offset | None = None
    bundles: Offset | None = None
    events: Offset | None = None


class CodePosition(ParamsValue, kw_only=True):
    """A position in a piece of code: fields common to `code.complete` and `code.inspect`.

    Args:
        context: Id of the context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
        source: The code.
        cursor: Position in the code, in characters; null means its end.
    """

    context: Id
    instance: str | None = None
    source: Source
    cursor: Annotated[int, Meta(ge=0)] | None = None


class CodeOffsets(msgspec.Struct, frozen=True, kw_only=True):
    """An offset for each stream of a run.

    Attributes:
        stdout: Offset in stdout, in bytes.
        stderr: Offset in stderr, in bytes.
        bundles: Offset in the stream that carries large values.
        events: The `offset` of an event.
    """

    stdout: int = 0
    stderr: int = 0
    bundles: int = 0
    events: int = 0


class CodeInputRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The program is waiting for a line of input, to be sent with `code.answer`.

    Attributes:
        offset: Offset after this event, to pass in `since`.
        request: The request's number, to pass to `code.answer`.
        prompt: Text to show before the input.
        password: Whether to hide the input.
    """

    offset: int
    request: int
    prompt: str = ""
    password: bool = False


class CodeContextInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A code context: an executor whose runs share its state.

    Attributes:
        id: Id of the context.
        instance: Unique id for this instance of the context; a context created later with the same `id` gets a new one.
        language: Language of the code.
        kernel: Name of the Jupyter kernel that runs it.
        pid: Process id of the executor, in the PID namespace of the sandbox's programs.
        cwd: Directory where the executor was started.
        created: When the context was created, in seconds since 1970.
        state: `running` while it has an executor; `exited` after the executor has ended, until `code.restart`.
        running: Id of the run in progress; null if there is none.
        waiting: Number of queued runs.
        input: Unanswered input request from the run in progress; null if there is none.
        restarts: Number of times `code.restart` has replaced the executor.
        exit: How the executor ended; null while it is running.
    """

    id: str
    instance: str
    language: str
    kernel: str
    pid: int
    cwd: str = ""
    created: float = 0.0
    state: Literal["running", "exited"] = "running"
    running: str | None = None
    waiting: int = 0
    input: CodeInputRequest | None = None
    restarts: int = 0
    exit: Exit | None = None


class CodeError(msgspec.Struct, frozen=True, kw_only=True):
    """The error that ended a run.

    Attributes:
        name: Its type, such as `ValueError`.
        value: Its message.
        traceback: The lines of the traceback, without terminal colours.
    """

    name: str
    value: str
    traceback: list[str] = []


class CodeLargeValue(msgspec.Struct, frozen=True, kw_only=True):
    """A large value in a MIME bundle. It is sent in the `bundles` stream, ahead of the event that contains the bundle.

    Attributes:
        type: The MIME type.
        offset: Offset of its first byte in the stream.
        size: Its length in bytes.
        form: `base64` for base64 text, which is decoded before it is sent; `text` for UTF-8 text; `json` for JSON.
    """

    type: str
    offset: int
    size: int
    form: Literal["base64", "text", "json"]


class CodeDisplay(msgspec.Struct, frozen=True, kw_only=True):
    """A MIME bundle: one object in several representations, as in Jupyter's messages.

    Attributes:
        offset: Offset after this event, to pass in `since`.
        data: Values keyed by MIME type: text, base64 for binary types, or JSON values for JSON types.
        large: Values larger than 64 KiB, which are not in `data`.
        omitted: MIME types of values that were dropped because they are larger than 64 MiB.
        metadata: The program's metadata for the values, keyed by MIME type.
        display_id: Id that `update` events refer to; null if the bundle cannot be updated.
        execution_count: For `value` events: the number of the run in its context. Null otherwise.
    """

    offset: int
    data: dict[str, Any] = {}
    large: list[CodeLargeValue] = []
    omitted: list[str] = []
    metadata: dict[str, Any] = {}
    display_id: str | None = None
    execution_count: int | None = None


class CodeClear(msgspec.Struct, frozen=True, kw_only=True):
    """The program asks the client to clear the output shown so far.

    Attributes:
        offset: Offset after this event, to pass in `since`.
        wait: Whether to keep the old output until new output arrives.
    """

    offset: int
    wait: bool = False


class CodeErrorRaised(CodeError, frozen=True, kw_only=True):
    """The code has failed.

    Attributes:
        offset: Offset after this event, to pass in `since`.
    """

    offset: int


class CodeRunWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """The run is queued or waiting for its executor to start.

    Attributes:
        ahead: Number of runs ahead of it in the queue, including the run in progress.
        run: Id of the run.
    """

    ahead: int
    run: str = ""


class CodeRunOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The run has started, and its output follows.

    Attributes:
        run: Id of the run.
        context: Id of its context; null if it has no context.
        instance: Id of the instance of the run's context; null if the run has no context.
        source: The first 65,536 characters of the code, for `code.attach`; null for `code.run`.
        start: For each stream, the offset of the first byte or event that will be sent; greater than `since` if older
            output was dropped.
    """

    run: str
    context: str | None = None
    instance: str | None = None
    source: str | None = None
    start: CodeOffsets = msgspec.field(name="from", default=CodeOffsets())


class CodeTruncated(msgspec.Struct, frozen=True, kw_only=True):
    """Part of a stream was dropped because the client read it too slowly.

    Attributes:
        stream: The stream.
        start: Offset of the next byte or event that will be sent; everything before it was dropped.
    """

    stream: RunStream
    start: int = msgspec.field(name="from")


class CodeRunResult(msgspec.Struct, frozen=True, kw_only=True):
    """A run has ended, and all its output has been sent.

    Attributes:
        status: How it ended; docs/code.md describes each value.
        run: Id of the run.
        execution_count: The run's number in its context; null if the executor did not report it.
        error: The error that ended it; null if there was none.
        killed: Whether the executor was killed because the run did not end after it was interrupted at the time limit.
        exit: How the executor ended; null while it is running.
        duration: How long it ran in the executor, in seconds.
        end: Length of each stream.
    """

    status: RunStatus
    run: str
    execution_count: int | None = None
    error: CodeError | None = None
    killed: bool = False
    exit: Exit | None = None
    duration: float = 0.0
    end: CodeOffsets = CodeOffsets()


class CodeRunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a context: queued, in progress, or ended but still kept.

    Attributes:
        run: Its id, for `code.attach`.
        state: Its state.
        status: How it ended; null until then.
        by: Name of the caller that started it, possibly empty.
        kind: Kind of that caller: `owner`, `user`, `guest` or `service`.
    """

    run: str
    state: Literal["waiting", "running", "ended"]
    status: RunStatus | None = None
    by: str = ""
    kind: str = ""


class CodeWatched(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of a context and its runs.

    Attributes:
        context: The context.
        runs: The ended runs that are still kept, the run in progress and the queued runs, in the order they were
            requested.
    """

    context: CodeContextInfo
    runs: list[CodeRunInfo]


class CodeCompleteResult(msgspec.Struct, frozen=True, kw_only=True):
    """Completions for a piece of code.

    Attributes:
        matches: The possible completions.
        start: Start of the text to replace, in characters.
        end: End of the text to replace, in characters.
    """

    matches: list[str]
    start: int
    end: int


class CodeInspectResult(msgspec.Struct, frozen=True, kw_only=True):
    """Documentation for the object at a position.

    Attributes:
        found: Whether there is an object at the position.
        data: Its documentation, keyed by MIME type.
    """

    found: bool
    data: dict[str, Any] = {}


class CodeListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Code contexts.

    Attributes:
        contexts: All contexts, in order of creation.
    """

    contexts: list[CodeContextInfo]


class CodeLanguage(msgspec.Struct, frozen=True, kw_only=True):
    """A language, and the Jupyter kernel that runs it.

    Attributes:
        language: Name to pass to `code.create`.
        kernel: Name of the kernel; null if none is installed.
        title: The kernel's display name; empty if none is installed.
        install: How to install a kernel; empty if one is installed.
    """

    language: str
    kernel: str | None = None
    title: str = ""
    install: str = ""


class CodeLanguagesResult(msgspec.Struct, frozen=True, kw_only=True):
    """Languages.

    Attributes:
        languages: Languages that are installed or can be installed.
        ready: Number of idle executors in the pool, keyed by kernel.
    """

    languages: list[CodeLanguage]
    ready: dict[str, int] = {}


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


# ---- methods


@method("code.create", raises=("conflict", *START_ERRORS))
class CodeCreate(Params[CodeContextInfo], kw_only=True):
    """Create a context with its own executor, and return once it is ready.

    The executor runs until `code.delete` is called, and only this context's runs share its state. The number of
    contexts is unlimited unless the runtime is configured otherwise. If a context with this id exists, the error is
    `conflict`. If no kernel for the language is installed, the error is `language_unavailable`, and its message
    explains how to install one.

    Args:
        id: Id of the context; null lets the server choose one.
        language: Language of the code; null means the language of `kernel`, or python.
        kernel: Name of an installed Jupyter kernel; null means the default kernel of `language`.
        cwd: Directory to start in, relative to the workspace; null means the workspace.
        env: Variables to add to the environment; a null value removes the variable.
        timeout: Default `timeout` for runs, in seconds; null means no limit.
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
    """Run code, in a context or in a new executor, and stream its output. Runs in the same context are queued.

    Without a `context`, the code runs in a fresh executor, which ends after the run.

    The call returns a result with a `status` however the code ends; it fails only if the run couldn't be started. If
    the executor of the context has ended, the error is `exited` until `code.restart` is called. At most 64 runs can be
    queued in a context (`limit_exceeded`).

    `cancel` does not end running code, but it removes a queued run if no other call has joined it. With an idempotency
    key, a repeated call joins the run, and `since` sets where each stream continues. A run with neither a `context` nor
    a key ends when its call does.

    When the time limit is reached, the code is interrupted. If it hasn't ended 2 seconds later, its executor is killed.

    Args:
        context: Id of the context; null means a new executor, for this run only.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
        language: Language of the code if there is no `context`; null means python.
        source: The code.
        timeout: Time limit in seconds, from the start of the run; null means the context's default.
        store_history: Whether the run is counted and kept in the executor's history; null means true.
        stdin: Whether the code can ask for input, which sends an `input` event; otherwise, asking raises an error in
            the code.
        since: For a repeated call: where to continue each stream. Null means the beginning.
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

    The 64 runs that ended most recently are kept, with up to 64 MiB of each stream. `cancel` detaches; the run
    continues.

    Args:
        context: Id of the context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
        run: Id of the run; null means the run in progress or, if there is none, the last run.
        since: Where to start in each stream; null means the beginning.
    """

    context: Id
    instance: str | None = None
    run: Id | None = None
    since: CodeSince | None = None


@method("code.watch", events={"changed": CodeWatched}, raises=("not_found", "stale_handle"), passive=True)
class CodeWatch(Params[Nothing], kw_only=True):
    """Report a context and all clients' runs in it, now and after every change, until the context is deleted.

    Changes that a slow client hasn't read yet are merged. To follow the output of a run, use `code.attach`.

    Args:
        context: Id of the context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
    """

    context: Id
    instance: str | None = None


@method("code.answer", raises=("not_found", "stale_handle", "conflict"))
class CodeAnswer(Params[Nothing], kw_only=True):
    """Answer an input request from the run in progress.

    If the request was already answered or is no longer pending, the error is `conflict`.

    Args:
        run: Id of the run.
        request: The request's number, from the `input` event.
        value: The line, without a line break.
    """

    run: Id
    request: int
    value: Annotated[str, Meta(max_length=1 << 16)]


@method("code.interrupt", raises=("not_found", "stale_handle", "exited"))
class CodeInterrupt(Params[Nothing], kw_only=True):
    """Interrupt the run in progress, as Ctrl-C does. Queued runs are not affected.

    If no run is in progress, or if the run in progress is not `run`, nothing happens. Set at least one of `context` and
    `run`.

    Args:
        context: Id of the context; null means the run's context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
        run: Id of the only run to interrupt; null means any run.
        grace: Seconds to wait for the run to end before its executor is killed; null means never.
    """

    context: Id | None = None
    instance: str | None = None
    run: Id | None = None
    grace: Grace | None = None


@method("code.restart", raises=("not_found", "stale_handle", "permission_denied", *START_ERRORS))
class CodeRestart(Params[CodeContextInfo], kw_only=True):
    """Replace the executor of a context with a new one; all state of the code is lost.

    The run in progress ends as `stopped`, and queued runs fail with `exited`. All processes started by the code are
    killed. If the new executor fails to start, the context is left without one; call `code.restart` to retry.

    Args:
        context: Id of the context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
    """

    context: Id
    instance: str | None = None


@method("code.complete", safe=True, raises=("not_found", "stale_handle", "exited"))
class CodeComplete(CodePosition, Params[CodeCompleteResult], kw_only=True):
    """Return completions for a piece of code. If a run is in progress, the executor finishes the run first."""


@method("code.inspect", safe=True, raises=("not_found", "stale_handle", "exited"))
class CodeInspect(CodePosition, Params[CodeInspectResult], kw_only=True):
    """Describe the object at a position in the code. If a run is in progress, the executor finishes the run first.

    Args:
        detail: 0 for signature and documentation, 1 to include the source; null means 0.
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
    """Delete a context and end its executor and all processes started by its code. Returns once all have exited.

    Does not wait for a run in progress, which ends as `stopped`. Queued runs fail with `exited`.

    Args:
        context: Id of the context.
        instance: The expected instance of the context. If the context has been replaced, the error is `stale_handle`.
            Null accepts any instance.
    """

    context: Id
    instance: str | None = None


@method("code.languages", safe=True, raises=("spawn_failed", "limit_exceeded"))
class CodeLanguages(Params[CodeLanguagesResult], kw_only=True):
    """List the languages that are installed or can be installed."""
