"""Commands and processes: `exec` and the `process.*` methods."""

from typing import Annotated

from msgspec import Meta

from hawse.api.process_values import (
    ExecResult as ExecResult,
    HttpStatus as HttpStatus,
    KeptRange as KeptRange,
    LogCondition as LogCondition,
    LogMatch as LogMatch,
    PortCondition as PortCondition,
    ProcessAttachResult as ProcessAttachResult,
    ProcessInfo as ProcessInfo,
    ProcessKillallResult as ProcessKillallResult,
    ProcessKillResult as ProcessKillResult,
    ProcessListResult as ProcessListResult,
    ProcessOpened as ProcessOpened,
    ProcessRemoveResult as ProcessRemoveResult,
    ProcessWaitOpened as ProcessWaitOpened,
    ProcessWaitResult as ProcessWaitResult,
    Program as Program,
    Since as Since,
    StreamOffsets as StreamOffsets,
    StreamTruncated as StreamTruncated,
)
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import (
    INPUT_ERRORS,
    SPAWN_ERRORS,
    Exit,
    Grace,
    Id,
    InputId,
    Length,
    Signal,
    WaitSeconds,
)


@method("process.start", raises=("conflict", *SPAWN_ERRORS))
class ProcessStart(Program, Params[ProcessInfo], kw_only=True):
    """Start a process, which runs independently of the connection that has started it.

    An id of a running process is `conflict`. `spawn_failed`: the program or directory does not exist, or the program is
    not executable. At most 4,096 programs run (`limit_exceeded`).

    The latest 64 MiB of each stream are kept, and the latest 256 processes that have ended, for 24 hours.

    Args:
        id: Id of the process; null: the server chooses one.
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

    `cancel` detaches, and the process continues.

    Args:
        id: Id of the process, or of a running command of `exec`.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        since: Offset in each stream of the first byte to send; null: 0.
        input: Id of the stream of input, the same for each reconnect; null: this channel sends none.
        lossless: Whether the process waits 30 s after a lost connection for an attach with this `input`; null: false.
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

    The result comes when the command itself has ended; background processes continue, and what they print is dropped.
    `cancel` does not end the command. A time limit that is exceeded gives the code 124.

    With an idempotency key, a repeated call joins the command: `since` and `input` continue its streams. Without one,
    stdin ends with the connection.

    Args:
        max_output: Bytes of each stream to send, at most: the first ones. Null: all.
        since: Offset in each stream of the first byte to send, for a repeated call; null: 0.
        input: Id of the stream of input, the same for each repeated call; null: this call sends none.
    """

    max_output: Length | None = None
    since: Since | None = None
    input: InputId | None = None


@method("process.signal", raises=("not_found", "stale_handle", "exited", "permission_denied"))
class ProcessSignal(Params[Nothing], kw_only=True):
    """Send a signal to the process group of a process.

    Args:
        id: Id of the process, or of a running command of `exec`.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        signal: Name of the signal with or without `SIG`, or its number.
    """

    id: Id
    instance: str | None = None
    signal: Signal


@method("process.kill", raises=("not_found", "stale_handle", "permission_denied"))
class ProcessKill(Params[ProcessKillResult], kw_only=True):
    """End a process and all its descendants: a signal first, then KILL.

    It returns when nothing is left, and also ends what an ended process left running.

    Args:
        id: Id of the process, or of a running command of `exec`.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        signal: The first signal; null: TERM.
        grace: Seconds from the first signal to KILL; null: 5.
    """

    id: Id
    instance: str | None = None
    signal: Signal | None = None
    grace: Grace | None = None


@method("process.killall", raises=("permission_denied",))
class ProcessKillall(Params[ProcessKillallResult], kw_only=True):
    """End all processes that run, also the running commands of `exec`, each with all its descendants.

    It returns when nothing is left of them. Sessions, terminals and code contexts continue.

    Args:
        session: Only processes that this session started; null: all.
        signal: The first signal; null: TERM.
        grace: Seconds from the first signal to KILL; null: 5.
    """

    session: Id | None = None
    signal: Signal | None = None
    grace: Grace | None = None


@method("process.remove", raises=("not_found", "stale_handle", "conflict"))
class ProcessRemove(Params[ProcessRemoveResult], kw_only=True):
    """Remove a process that has ended, with its output, or all that have ended.

    A process that runs is `conflict` if `id` names it.

    Args:
        id: Id of the process; null: all that have ended.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        session: Without `id`: only processes that this session started; null: all.
    """

    id: Id | None = None
    instance: str | None = None
    session: Id | None = None


@method("process.get", safe=True, raises=("not_found",))
class ProcessGet(Params[ProcessInfo], kw_only=True):
    """Describe one process.

    Args:
        id: Id of the process, or of a running command of `exec`.
    """

    id: Id


@method("process.list", safe=True)
class ProcessList(Params[ProcessListResult], kw_only=True):
    """List processes that run and processes that have ended, in the order of their start.

    The running commands of `exec` come after them.

    Args:
        after: Id of the last process of the page before; null: the first page.
        limit: Number of processes, at most; null: 1,000.
        session: Only processes that this session started; null: all.
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
    """Wait for the end of a process, for a match in its output or for an open port.

    The first of these events ends the wait. At least one of `exit`, `log` and `port` is required. If the process ends
    and `exit` is not requested, the error is `exited`. A pattern that needs too much work for each byte is `too_large`.

    Args:
        id: Id of the process, or of a running command of `exec`.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        exit: Whether to wait for the end of the process; null: false.
        log: What to search for in the output; null: nothing.
        port: The port to wait for; null: none.
        timeout: Seconds after which the result is `timeout`; null: 30.
    """

    id: Id
    instance: str | None = None
    exit: bool | None = None
    log: LogCondition | None = None
    port: PortCondition | None = None
    timeout: WaitSeconds | None = None
