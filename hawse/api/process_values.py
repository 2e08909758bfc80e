"""Values of `exec` and the `process.*` methods: what they return and what several of them take."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import ParamsValue
from hawse.api.types import (
    Argv,
    Env,
    Exit,
    Offset,
    OutputMatch,
    Path,
    Pattern,
    Seconds,
    StreamName,
    matching,
)

HttpStatus = Annotated[int, Meta(ge=100, le=599)]
_URL_PATH = "a path of a URL, which begins with '/' and has no spaces"


class Program(ParamsValue, kw_only=True):
    """A program to run: exactly one of `argv` and `command`.

    Args:
        argv: The program and its arguments.
        command: A command line for a shell: bash, or /bin/sh where there is no bash.
        cwd: Directory to start in, relative to the workspace; null: the workspace.
        env: Variables to add to the environment; a null value removes one. Null: none.
        stdin: Whether stdin takes input; null or false: it is /dev/null.
        timeout: Seconds after which all its processes are killed; null: never.
    """

    argv: Argv | None = None
    command: str | None = None
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None


class Since(ParamsValue, kw_only=True):
    """An offset in each stream: the first byte that is wanted.

    Args:
        stdout: Offset in stdout; null: 0.
        stderr: Offset in stderr; null: 0.
    """

    stdout: Offset | None = None
    stderr: Offset | None = None


class LogCondition(ParamsValue, kw_only=True):
    """What to search for in the output: exactly one of `text` and `pattern`.

    Args:
        text: Plain text to search for.
        pattern: Regular expression in RE2's syntax.
        stream: Stream to search; null: both.
        since: Offsets from which on output counts; null: all that is kept.
    """

    text: Pattern | None = None
    pattern: Pattern | None = None
    stream: StreamName | None = None
    since: Since | None = None


class PortCondition(ParamsValue, kw_only=True):
    """A TCP port of 127.0.0.1 or ::1 to wait for, of any program.

    Args:
        port: Number of the port.
        path: Path that must answer an HTTP GET; null: it is enough that the port is open.
        status: Lowest and highest HTTP status of the answer that is accepted.
    """

    port: Annotated[int, Meta(ge=1, le=65_535)]
    path: Annotated[str, matching(r"^/[!-~]*$(?!\n)", _URL_PATH, min_length=1, max_length=2000)] | None = None
    status: tuple[HttpStatus, HttpStatus] = (200, 399)


class KeptRange(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a stream that can be read.

    Attributes:
        start: Offset of the first byte that is kept.
        offset: Offset of the end, in bytes.
    """

    start: int = 0
    offset: int = 0


class StreamOffsets(msgspec.Struct, frozen=True, kw_only=True):
    """An offset in each stream, in bytes.

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
        instance: Id of this start; a new one each time a process with this `id` is started.
        pid: Process id.
        argv: The program and its arguments; cut after 256 characters in `process.list`.
        cwd: Directory in which it was started.
        started: When it was started, in seconds since 1970.
        ended: When it ended, in seconds since 1970; null while it runs, or from an older runtime.
        session: Id of the session that started it with `session.process`; null: none did.
        state: Whether it runs.
        exit: How it ended; null while it runs.
        stdout: The part of stdout that can be read.
        stderr: The part of stderr that can be read.
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
        start: Offset in each stream of the first byte that is sent; above `since` where bytes are no longer kept.
        input_offset: Bytes of this input stream that were applied already.
    """

    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class StreamTruncated(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a stream are lost: this call has not taken them in time.

    Attributes:
        stream: The stream.
        start: Offset of the next byte that is sent; those before it are lost.
    """

    stream: StreamName
    start: int = msgspec.field(name="from")


class ProcessAttachResult(msgspec.Struct, frozen=True, kw_only=True):
    """A process has ended, and all output was sent.

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
        truncated: Whether a stream is longer than `max_output`, so that its end was not sent.
        duration: Seconds from its start to its end; null from an older runtime.
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
        killed: Number of processes that ran.
    """

    killed: int


class ProcessRemoveResult(msgspec.Struct, frozen=True, kw_only=True):
    """Ended processes were removed.

    Attributes:
        removed: Number of processes that were removed.
    """

    removed: int


class ProcessListResult(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the list of processes.

    Attributes:
        processes: The processes in the order of their start, then the running commands of `exec`.
        more: Whether there are more processes, which a call with the last id as `after` returns.
    """

    processes: list[ProcessInfo]
    more: bool = False


class LogMatch(OutputMatch, frozen=True, kw_only=True):
    """A match of a text or a pattern in the output of a process.

    Attributes:
        stream: The stream. The offsets are those of this stream.
    """

    stream: StreamName


class ProcessWaitOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The wait has begun.

    Attributes:
        start: Offset in each stream where the search begins; above `since` where bytes are no longer kept.
    """

    start: StreamOffsets = msgspec.field(name="from")


class ProcessWaitResult(msgspec.Struct, frozen=True, kw_only=True):
    """The event that ended a wait.

    Attributes:
        event: Which condition was met first; `timeout` if none was.
        exit: How the process ended, for the event `exit`.
        match: The match, for the event `log`.
        status: HTTP status of the answer, for the event `port` with a `path`.
    """

    event: Literal["exit", "log", "port", "timeout"]
    exit: Exit | None = None
    match: LogMatch | None = None
    status: int | None = None
