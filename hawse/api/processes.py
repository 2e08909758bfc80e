"""Commands and processes: `exec` and the `process.*` methods."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import (
    INPUT_ERRORS,
    SPAWN_ERRORS,
    Argv,
    Env,
    Exit,
    Grace,
    Id,
    InputId,
    Length,
    Offset,
    OutputMatch,
    Path,
    Pattern,
    Seconds,
    Signal,
    StreamName,
    WaitSeconds,
    matching,
)

# ---- values


HttpStatus = Annotated[int, Meta(ge=100, le=599)]
_URL_PATH = "a URL path, which starts with '/' and contains no spaces"


class Program(ParamsValue, kw_only=True):
    """A program to run. Set exactly one of `argv` and `command`.

    Args:
        argv: The program and its arguments.
        command: A command line for a shell: bash, or /bin/sh if bash is missing.
        cwd: Directory to start in, relative to the workspace; null means the workspace.
        env: Variables to add to the environment; a null value removes the variable.
        stdin: Whether stdin accepts input; otherwise, it is /dev/null.
        timeout: Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no
            limit.
    """

    argv: Argv | None = None
    command: str | None = None
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None


class Since(ParamsValue, kw_only=True):
    """For each stream, the offset of the first byte to send.

    Args:
        stdout: Offset in stdout; null means 0.
        stderr: Offset in stderr; null means 0.
    """

    stdout: Offset | None = None
    stderr: Offset | None = None


class LogCondition(ParamsValue, kw_only=True):
    """Text or a pattern to search for in the output. Set exactly one of the two.

    Args:
        text: Plain text to search for.
        pattern: Regular expression in RE2 syntax.
        stream: Stream to search; null means both.
        since: Offsets where the search starts; null means all output that is still kept.
    """

    text: Pattern | None = None
    pattern: Pattern | None = None
    stream: StreamName | None = None
    since: Since | None = None


class PortCondition(ParamsValue, kw_only=True):
    """A TCP port on 127.0.0.1 or ::1 to wait for. Any program can open it.

    Args:
        port: The port number.
        path: Path to request with HTTP GET until there is a response; if null, an open port is enough.
        status: Lowest and highest HTTP status accepted in the response.
    """

    port: Annotated[int, Meta(ge=1, le=65_535)]
    path: Annotated[str, matching(r"^/[!-~]*$(?!\n)", _URL_PATH, min_length=1, max_length=2000)] | None = None
    status: tuple[HttpStatus, HttpStatus] = (200, 399)


class KeptRange(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a stream that can still be read.

    Attributes:
        start: Offset of the first byte that is still kept.
        offset: Offset where the stream ends, in bytes.
    """

    start: int = 0
    offset: int = 0


class StreamOffsets(msgspec.Struct, frozen=True, kw_only=True):
    """An offset for each stream, in bytes.

    Attributes:
        stdout: Offset in stdout.
        stderr: Offset in stderr.
    """

    stdout: int = 0
    stderr: int = 0


class ProcessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A process.

    Attributes:
        id: Id of the process.
        instance: Unique id for this instance of the process; a process started later with the same `id` gets a new one.
        pid: Process id.
        argv: The program and its arguments; truncated to 256 characters in `process.list`.
        cwd: Directory where it was started.
        started: When it was started, in seconds since 1970.
        ended: When it ended, in seconds since 1970; null while it is running, or if the runtime is too old to report
            it.
        session: Id of the session that started it with `session.process`; null otherwise.
        state: Whether it is running.
        exit: How it ended; null while it is running.
        stdout: The part of stdout that can still be read.
        stderr: The part of stderr that can still be read.
    """

    id: str
    instance: str
    pid: int
    argv: list[str] = []
    cwd: str = ""
    started: float = 0.0
    ended: float | None = None
    session: str | None = None
    state: Literal["running", "exited"] = "running"
    exit: Exit | None = None
    stdout: KeptRange = KeptRange()
    stderr: KeptRange = KeptRange()


class ProcessOpened(ProcessInfo, frozen=True, kw_only=True):
    """The channel is attached to a process.

    Attributes:
        start: For each stream, the offset of the first byte that will be sent; greater than `since` if older bytes were
            dropped.
        input_offset: Number of bytes in this input stream that have already been applied.
    """

    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class StreamTruncated(msgspec.Struct, frozen=True, kw_only=True):
    """Part of a stream was dropped because the client read it too slowly.

    Attributes:
        stream: The stream.
        start: Offset of the next byte to be sent; all bytes before it were dropped.
    """

    stream: StreamName
    start: int = msgspec.field(name="from")


class ProcessAttachResult(msgspec.Struct, frozen=True, kw_only=True):
    """A process has ended, and all its output has been sent.

    Attributes:
        exit: How it ended.
        stdout: Length of stdout, in bytes.
        stderr: Length of stderr, in bytes.
    """

    exit: Exit
    stdout: int
    stderr: int


class ExecResult(Exit, frozen=True, kw_only=True):
    """A command has ended.

    Attributes:
        stdout: Length of stdout, in bytes.
        stderr: Length of stderr, in bytes.
        truncated: Whether a stream was longer than `max_output`, so that only its start was sent.
        duration: How long it ran, in seconds; null if the runtime is too old to report it.
    """

    stdout: int
    stderr: int
    truncated: bool = False
    duration: float | None = None


class ProcessKillResult(msgspec.Struct, frozen=True, kw_only=True):
    """A process and its descendants have ended.

    Attributes:
        exit: How the process ended.
    """

    exit: Exit


class ProcessKillallResult(msgspec.Struct, frozen=True, kw_only=True):
    """Processes and their descendants have ended.

    Attributes:
        killed: Number of processes ended, not counting descendants.
    """

    killed: int


class ProcessRemoveResult(msgspec.Struct, frozen=True, kw_only=True):
    """Ended processes were removed.

    Attributes:
        removed: Number of processes removed.
    """

    removed: int


class ProcessListResult(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the process list.

    Attributes:
        processes: The processes in the order they were started, followed by running `exec` commands.
        more: Whether there are more processes. To get them, pass the last id as `after`.
    """

    processes: list[ProcessInfo]
    more: bool = False


class LogMatch(OutputMatch, frozen=True, kw_only=True):
    """A match for a string or pattern in a process's output.

    Attributes:
        stream: The stream that the offsets refer to.
    """

    stream: StreamName


class ProcessWaitOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The wait has started.

    Attributes:
        start: For each stream, the offset where the search starts; greater than `since` if older bytes were dropped.
    """

    start: StreamOffsets = msgspec.field(name="from")


class ProcessWaitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The event that ended a wait.

    Attributes:
        event: The condition that was met first, or `timeout`.
        exit: For `exit` events: how the process ended.
        match: For `log` events: the match.
        status: For `port` events with a `path`: the HTTP status of the response.
    """

    event: Literal["exit", "log", "port", "timeout"]
    exit: Exit | None = None
    match: LogMatch | None = None
    status: int | None = None


# ---- methods


@method("process.start", raises=("conflict", *SPAWN_ERRORS))
class ProcessStart(Program, Params[ProcessInfo], kw_only=True):
    """Start a process that runs independently of the client's connection.

    If a process with this id is running, the error is `conflict`. If the program or directory does not exist, or the
    program is not executable, the error is `spawn_failed`. At most 4,096 programs can run at a time (`limit_exceeded`).

    The last 64 MiB of each stream are kept. The 256 processes that ended most recently are kept for 24 hours.

    Args:
        id: Id of the process; null lets the server choose one.
    """

    id: Id | None = None


@method(
    "process.attach",
    events={"opened": ProcessOpened, "truncated": StreamTruncated, "exit": Exit},
    output=("stdout", "stderr"),
    input=True,
    raises=("not_found", "stale_handle", *INPUT_ERRORS),
)
class ProcessAttach(Params[ProcessAttachResult], kw_only=True):
    """Follow the output of a process to its end, and send it input.

    `cancel` detaches; the process continues.

    Args:
        id: Id of the process, or of a running `exec` command.
        instance: The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        since: For each stream, the offset of the first byte to send; null means 0.
        input: Id of the input stream, which a reconnecting client must reuse; null for a channel without input.
        lossless: Whether the process is paused when the connection is lost, until a call with the same `input` attaches
            or 30 seconds have passed. Null means false.
    """

    id: Id
    instance: str | None = None
    since: Since | None = None
    input: InputId | None = None
    lossless: bool | None = None


@method(
    "exec",
    events={"opened": ProcessOpened, "truncated": StreamTruncated},
    output=("stdout", "stderr"),
    input=True,
    raises=(*SPAWN_ERRORS, *INPUT_ERRORS),
)
class Exec(Program, Params[ExecResult], kw_only=True):
    """Run a command to its end and stream its output.

    The call returns once the command itself has exited; background processes continue, and their output is dropped.
    `cancel` does not end the command. If the time limit is exceeded, the exit code is 124.

    With an idempotency key, a repeated call joins the command: `since` and `input` continue its streams. Without one,
    stdin ends with the connection.

    Args:
        max_output: Maximum number of bytes to send from the start of each stream. Null means all bytes.
        since: For a repeated call: the offset of the first byte to send, for each stream. Null means 0.
        input: Id of the input stream, which a repeated call must reuse; null if there is no input.
    """

    max_output: Length | None = None
    since: Since | None = None
    input: InputId | None = None


@method("process.signal", raises=("not_found", "stale_handle", "exited", "permission_denied"))
class ProcessSignal(Params[Nothing], kw_only=True):
    """Send a signal to a process's process group.

    Args:
        id: Id of the process, or of a running `exec` command.
        instance: The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        signal: Name of the signal, with or without `SIG`, or its number.
    """

    id: Id
    instance: str | None = None
    signal: Signal


@method("process.kill", raises=("not_found", "stale_handle", "permission_denied"))
class ProcessKill(Params[ProcessKillResult], kw_only=True):
    """End a process and all its descendants, first with a signal, then with KILL.

    The call returns once all of them have exited. If the process itself has already ended, any descendants still
    running are ended.

    Args:
        id: Id of the process, or of a running `exec` command.
        instance: The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        signal: The first signal; null means TERM.
        grace: Seconds to wait after the first signal before sending KILL; null means 5.
    """

    id: Id
    instance: str | None = None
    signal: Signal | None = None
    grace: Grace | None = None


@method("process.killall", raises=("permission_denied",))
class ProcessKillall(Params[ProcessKillallResult], kw_only=True):
    """End all running processes, including `exec` commands, along with all their descendants.

    The call returns once all of them have exited. Sessions, terminals and code contexts continue.

    Args:
        session: Only processes started by this session; null means all.
        signal: The first signal; null means TERM.
        grace: Seconds to wait after the first signal before sending KILL; null means 5.
    """

    session: Id | None = None
    signal: Signal | None = None
    grace: Grace | None = None


@method("process.remove", raises=("not_found", "stale_handle", "conflict"))
class ProcessRemove(Params[ProcessRemoveResult], kw_only=True):
    """Remove an ended process along with its output, or all ended processes.

    If `id` names a running process, the error is `conflict`.

    Args:
        id: Id of the process; null means all ended processes.
        instance: The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        session: Without `id`: only remove processes started by this session. Null means all.
    """

    id: Id | None = None
    instance: str | None = None
    session: Id | None = None


@method("process.get", safe=True, raises=("not_found",))
class ProcessGet(Params[ProcessInfo], kw_only=True):
    """Describe one process.

    Args:
        id: Id of the process, or of a running `exec` command.
    """

    id: Id


@method("process.list", safe=True)
class ProcessList(Params[ProcessListResult], kw_only=True):
    """List running and ended processes in the order they were started.

    Running `exec` commands are listed last.

    Args:
        after: Id of the last process on the previous page; null means the first page.
        limit: Maximum number of processes; null means 1,000.
        session: Only processes started by this session; null means all.
    """

    after: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    session: Id | None = None


@method(
    "process.wait",
    audit=False,
    events={"opened": ProcessWaitOpened},
    raises=("not_found", "stale_handle", "exited", "too_large"),
)
class ProcessWait(Params[ProcessWaitResult], kw_only=True):
    """Wait for a process to end, for a match in its output or for a port to open.

    The wait ends at the first of these events. Set at least one of `exit`, `log` and `port`. If the process
    ends and `exit` is not requested, the error is `exited`. If the pattern is too expensive to match, the error is
    `too_large`.

    Args:
        id: Id of the process, or of a running `exec` command.
        instance: The expected instance. If the process has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        exit: Whether to wait for the process to end; null means false.
        log: Text or pattern to search for in the output; null means none.
        port: The port to wait for; null means none.
        timeout: Time limit in seconds. If it is exceeded, the result is `timeout`. Null means 30.
    """

    id: Id
    instance: str | None = None
    exit: bool | None = None
    log: LogCondition | None = None
    port: PortCondition | None = None
    timeout: WaitSeconds | None = None
