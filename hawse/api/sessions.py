"""Sessions: persistent shells, and the commands that share their state."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api import processes
from hawse.api.processes import ProcessInfo, Since, StreamOffsets, StreamTruncated
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import INPUT_ERRORS, SPAWN_ERRORS, Argv, Env, Exit, Grace, Id, InputId, Length, Path, Seconds

# ---- values


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session: a persistent shell whose commands share its state.

    Attributes:
        id: Id of the session.
        instance: Unique id for this instance of the session; a session created later with the same `id` gets a new one.
        pid: Process id of the shell.
        shell: Path of the shell.
        started: When it was started, in seconds since 1970.
        state: Whether the shell is running.
        running: Whether a command is running.
        waiting: Number of queued commands.
        command_timeout: Default `timeout` for commands, in seconds; null means no limit.
        exit: How the shell ended; null while it is running.
    """

    id: str
    instance: str
    pid: int
    shell: str
    started: float = 0.0
    state: Literal["running", "exited"] = "running"
    running: bool = False
    waiting: int = 0
    command_timeout: float | None = None
    exit: Exit | None = None


class SessionExecWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """The command is queued.

    Attributes:
        ahead: Number of commands ahead of it in the queue, including the running one.
    """

    ahead: int


class SessionExecOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The command has started.

    Attributes:
        id: Id of the session.
        session: Instance of the session.
        instance: Unique id for this run of the command.
        start: For each stream, the offset of the first byte to be sent.
        input_offset: Number of bytes in this input stream that have already been applied.
    """

    id: str
    session: str
    instance: str
    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class SessionExecResult(processes.ExecResult, frozen=True, kw_only=True):
    """A command in a session has ended.

    Attributes:
        ended: Whether the shell itself ended along with the command.
    """

    ended: bool = False


class SessionWatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """A session has ended.

    Attributes:
        exit: How its shell ended.
    """

    exit: Exit


class SessionListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions.

    Attributes:
        sessions: The running sessions and the 64 that ended most recently.
    """

    sessions: list[SessionInfo]


# ---- methods


@method("session.create", raises=("conflict", "spawn_failed", "limit_exceeded", "no_space"))
class SessionCreate(Params[SessionInfo], kw_only=True):
    """Start a session, and return once its shell is ready.

    If a session with this id is running, the error is `conflict`; a session that has ended is replaced. If the shell
    cannot be used, the error is `spawn_failed`. At most 256 sessions can run at a time (`limit_exceeded`).

    Args:
        id: Id of the session; null lets the server choose one.
        cwd: Directory to start in, relative to the workspace; null means the workspace.
        env: Variables to add to the environment; a null value removes the variable.
        shell: Path of bash or a POSIX shell; null means bash, or /bin/sh if bash is missing.
        command_timeout: Default `timeout` for commands, in seconds; null means no limit.
    """

    id: Id | None = None
    cwd: Path | None = None
    env: Env | None = None
    shell: Path | None = None
    command_timeout: Seconds | None = None


@method(
    "session.exec",
    events={"waiting": SessionExecWaiting, "opened": SessionExecOpened, "truncated": StreamTruncated},
    output=("stdout", "stderr"),
    input=True,
    raises=("not_found", "stale_handle", "no_space", "spawn_failed", "limit_exceeded", *INPUT_ERRORS),
)
class SessionExec(Params[SessionExecResult], kw_only=True):
    """Run a command in a session's shell. Commands in the same session are queued.

    The call returns once the command has ended; any later output from its background processes is dropped. If the call
    is cancelled or loses its connection while the command is queued, the command does not run. A running command
    continues, and a repeated call with the same idempotency key joins it.

    At most 64 commands can be queued (`limit_exceeded`). If the shell ends, queued and later commands fail with
    `exited`. If `cwd` does not exist, the error is `spawn_failed`.

    Args:
        id: Id of the session.
        instance: The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        command: Command line for the shell.
        cwd: Directory for this command, relative to the session's; null means the session's.
        env: Variables to add for this command; a null value removes the variable.
        stdin: Whether stdin accepts input; otherwise, it is /dev/null.
        timeout: Time limit in seconds, from the start of the command; null means the session's `command_timeout`. If it
            is exceeded, the session continues.
        max_output: Maximum number of bytes to send from the start of each stream. Null means all bytes.
        since: For a repeated call: the offset of the first byte to send, for each stream. Null means 0.
        input: Id of the input stream, which a repeated call must reuse; null if there is no input.
    """

    id: Id
    instance: str | None = None
    command: Annotated[str, Meta(max_length=1 << 20)]
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None
    max_output: Length | None = None
    since: Since | None = None
    input: InputId | None = None


@method("session.cancel", raises=("not_found", "stale_handle", "permission_denied"))
class SessionCancel(Params[Nothing], kw_only=True):
    """End a command in a session, but not the session itself.

    A queued command is removed from the queue, and its calls end with `cancelled`. For a running command, all processes
    it has started are killed, and the shell skips the rest of the command. The command's `signal` is then `SIGTERM`.
    The call returns once the command has ended. It is not an error if the command has already ended or never existed.

    Args:
        id: Id of the session.
        instance: The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        key: Idempotency key of the `session.exec` call; null means the running command.
        grace: Seconds to wait after TERM before sending KILL; null means 5.
    """

    id: Id
    instance: str | None = None
    key: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    grace: Grace | None = None


@method("session.process", raises=("not_found", "stale_handle", "exited", "conflict", *SPAWN_ERRORS, "no_space"))
class SessionProcess(Params[ProcessInfo], kw_only=True):
    """Start a process with a copy of a session's state, after any commands already queued.

    The state consists of the directory, the exported environment and, for a `command`, functions, aliases and options.
    The process is independent of the session. Set exactly one of `argv` and `command`.

    Args:
        session: Id of the session.
        instance: The expected instance of the session. If the session has been replaced, the error is `stale_handle`.
            Null accepts any instance.
        id: Id of the process; null lets the server choose one.
        argv: The program and its arguments.
        command: Command line for the session's shell.
        cwd: Directory to start in, relative to the session's; null means the session's.
        env: Variables to add to the session's environment; a null value removes the variable.
        stdin: Whether stdin accepts input; otherwise, it is /dev/null.
        timeout: Time limit in seconds. If it is exceeded, all of the program's processes are killed. Null means no
            limit.
    """

    session: Id
    instance: str | None = None
    id: Id | None = None
    argv: Argv | None = None
    command: str | None = None
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None


@method("session.get", safe=True, raises=("not_found",))
class SessionGet(Params[SessionInfo], kw_only=True):
    """Describe one session.

    Args:
        id: Id of the session.
    """

    id: Id


@method("session.list", safe=True)
class SessionList(Params[SessionListResult], kw_only=True):
    """List running and ended sessions."""


@method("session.watch", events={"opened": SessionInfo}, raises=("not_found", "stale_handle"), passive=True)
class SessionWatch(Params[SessionWatchResult], kw_only=True):
    """Wait for a session to end.

    Args:
        id: Id of the session.
        instance: The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any
            instance.
    """

    id: Id
    instance: str | None = None


@method("session.delete", raises=("not_found", "stale_handle", "permission_denied"))
class SessionDelete(Params[Nothing], kw_only=True):
    """End a session's shell and all the shell's descendants, and remove the session.

    The shell gets SIGHUP and the other processes get SIGTERM, then all of them get SIGKILL. The call returns once all
    of them have exited.

    Args:
        id: Id of the session.
        instance: The expected instance. If the session has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        grace: Seconds to wait before sending KILL; null means 5.
    """

    id: Id
    instance: str | None = None
    grace: Grace | None = None
