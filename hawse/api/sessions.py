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
        instance: Id of this start of the session; each session created with the same `id` gets a new one.
        pid: Process id of the shell.
        shell: Path of the shell.
        started: When it was started, in seconds since 1970.
        state: Whether the shell runs.
        running: Whether a command runs.
        waiting: Number of queued commands.
        command_timeout: Default `timeout` of commands, in seconds; null means none.
        exit: How the shell ended; null while it runs.
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
        ahead: Number of commands before it, including the running command.
    """

    ahead: int


class SessionExecOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The command starts.

    Attributes:
        id: Id of the session.
        session: Instance of the session.
        instance: Id of this run of the command.
        start: Offset of the first byte to be sent, for each stream.
        input_offset: Number of bytes of this input stream that have already been applied.
    """

    id: str
    session: str
    instance: str
    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class SessionExecResult(processes.ExecResult, frozen=True, kw_only=True):
    """A command of a session has ended.

    Attributes:
        ended: Whether the shell ended with the command.
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
        sessions: The running sessions and the latest 64 ended sessions.
    """

    sessions: list[SessionInfo]


# ---- methods


@method("session.create", raises=("conflict", "spawn_failed", "limit_exceeded", "no_space"))
class SessionCreate(Params[SessionInfo], kw_only=True):
    """Start a session, and return when its shell is ready.

    If a session with this id runs, the error is `conflict`; a session that has ended is replaced. If the shell cannot
    be used, the error is `spawn_failed`. At most 256 sessions run (`limit_exceeded`).

    Args:
        id: Id of the session; null lets the server choose one.
        cwd: Directory to start in, relative to the workspace; null means the workspace.
        env: Variables to add to the environment; a null value removes the variable.
        shell: Path of bash or of a POSIX shell; null means bash, or /bin/sh if bash is missing.
        command_timeout: The default `timeout` of commands, in seconds; null means none.
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
    """Run a command in the shell of a session. The commands of a session are queued.

    It returns when the command has ended; later output of its background processes is dropped. If the call is cancelled
    or loses its connection while the command is queued, the command does not run. A running command continues, and a
    repeated call with the same idempotency key joins it.

    At most 64 commands are queued (`limit_exceeded`). If the shell ends, queued and later commands fail with `exited`.
    If `cwd` does not exist, the error is `spawn_failed`.

    Args:
        id: Id of the session.
        instance: The expected instance. If it was replaced, the error is `stale_handle`. Null accepts any instance.
        command: Command line for the shell.
        cwd: Directory of this command, relative to the session's; null means the session's.
        env: Variables to add for this command; a null value removes the variable.
        stdin: Whether stdin takes input; otherwise it is /dev/null.
        timeout: Time limit in seconds, from the start of the command; null means the session's `command_timeout`. The
            session survives it.
        max_output: Maximum number of bytes to send of each stream, from its start. Null sends all bytes.
        since: For a repeated call: offset in each stream of the first byte to send. Null means 0.
        input: Id of the input stream, which a repeated call must reuse; null without input.
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
    """End a command of a session, but not the session.

    A queued command is removed from the queue, and its calls end with `cancelled`. For a running command, all processes
    that it has started are killed, and the shell skips the rest of the command, whose `signal` is then `SIGTERM`. The
    call returns when the command has ended. It is not an error if the command has ended or never existed.

    Args:
        id: Id of the session.
        instance: The expected instance. If it was replaced, the error is `stale_handle`. Null accepts any instance.
        key: Idempotency key of the `session.exec` call; null means the running command.
        grace: Seconds from TERM to KILL; null means 5.
    """

    id: Id
    instance: str | None = None
    key: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    grace: Grace | None = None


@method("session.process", raises=("not_found", "stale_handle", "exited", "conflict", *SPAWN_ERRORS, "no_space"))
class SessionProcess(Params[ProcessInfo], kw_only=True):
    """Start a process with a copy of a session's state, after the commands that are already queued.

    The state consists of the directory, the exported environment and, for a `command`, functions, aliases and options.
    The process is independent of the session. Exactly one of `argv` and `command` is required.

    Args:
        session: Id of the session.
        instance: Instance of the session, otherwise `stale_handle`; null means the current one.
        id: Id of the process; null lets the server choose one.
        argv: The program and its arguments.
        command: Command line for the session's shell.
        cwd: Directory to start in, relative to the session's; null means the session's.
        env: Variables to add to the session's environment; a null value removes the variable.
        stdin: Whether stdin takes input; otherwise it is /dev/null.
        timeout: Time limit in seconds. If it is exceeded, all its processes are killed. Null means no limit.
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
    """Wait for the end of a session.

    Args:
        id: Id of the session.
        instance: The expected instance. If it was replaced, the error is `stale_handle`. Null accepts any instance.
    """

    id: Id
    instance: str | None = None


@method("session.delete", raises=("not_found", "stale_handle", "permission_denied"))
class SessionDelete(Params[Nothing], kw_only=True):
    """End the shell of a session and all its descendants, and remove the session.

    The shell gets SIGHUP and the other processes SIGTERM, then all get SIGKILL. The call returns when all of them have
    ended.

    Args:
        id: Id of the session.
        instance: The expected instance. If it was replaced, the error is `stale_handle`. Null accepts any instance.
        grace: Seconds until KILL; null means 5.
    """

    id: Id
    instance: str | None = None
    grace: Grace | None = None
