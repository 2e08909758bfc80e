"""Sessions: shells that live on, and the commands that share their state (docs/wire.md section 9)."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api import processes
from hawse.api.processes import ProcessInfo, Since, StreamOffsets, StreamTruncated
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import Argv, Env, Exit, Grace, Id, InputId, Length, Path, Seconds

# ---- values


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session. `instance` is new each time one of that `id` is created; `started` in seconds since 1970.

    `running`: a command is being run; `waiting`: how many wait for their turn. `exit`: how the shell ended.
    """

    id: str
    instance: str
    pid: int
    shell: str
    started: float = 0.0
    state: Literal["running", "exited"] = "running"
    running: bool = False
    waiting: int = 0
    exit: Exit | None = None


class SessionExecWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """It is not this command's turn yet. `ahead`: how many are before it, the one that runs included."""

    ahead: int


class SessionExecOpened(msgspec.Struct, frozen=True, kw_only=True):
    """It is this command's turn. `instance` is that of the run, `session` that of the session of that `id`."""

    id: str
    session: str
    instance: str
    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class SessionExecResult(processes.ExecResult, frozen=True, kw_only=True):
    """The end of a command and of its output, by its final offsets. `ended`: the shell has ended with it."""

    ended: bool = False


class SessionWatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """How its shell ended."""

    exit: Exit


class SessionListResult(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    sessions: list[SessionInfo]


# ---- methods


@method("session.create")
class SessionCreate(Params[SessionInfo], kw_only=True):
    """Starts a session: a shell of its own, bash unless `shell` is the path of another, or there is none."""

    id: Id | None = None
    cwd: Path | None = None
    env: Env | None = None
    shell: Path | None = None


@method(
    "session.exec",
    events={"waiting": SessionExecWaiting, "opened": SessionExecOpened, "truncated": StreamTruncated},
    output=("stdout", "stderr"),
    input=True,
)
class SessionExec(Params[SessionExecResult], kw_only=True):
    """Runs a command in the session's shell, after those that came before it.

    `cwd` and `env` are for this command alone; a relative `cwd` begins at the session's. `timeout` counts from when
    the command begins, and kills it, not the session. Of each stream at most `max_output` bytes are sent.
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


@method("session.process")
class SessionProcess(Params[ProcessInfo], kw_only=True):
    """Starts a process from what the session is when its turn comes; what it changes is its own.

    `session` gives the working directory, the exported environment and, for a `command`, functions, aliases and
    options; the rest is as in `process.start`.
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


@method("session.get", safe=True)
class SessionGet(Params[SessionInfo], kw_only=True):
    """Describes one session."""

    id: Id


@method("session.list", safe=True)
class SessionList(Params[SessionListResult], kw_only=True):
    """Describes the sessions that live, and those that have ended and whose record is kept."""


@method("session.watch", events={"opened": SessionInfo})
class SessionWatch(Params[SessionWatchResult], kw_only=True):
    """Waits for the end of a session."""

    id: Id
    instance: str | None = None


@method("session.delete")
class SessionDelete(Params[Nothing], kw_only=True):
    """Ends a session with all that it started, and forgets it: TERM, then KILL after `grace` seconds (5)."""

    id: Id
    instance: str | None = None
    grace: Grace | None = None
