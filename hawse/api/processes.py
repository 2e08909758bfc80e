"""Commands and processes: `exec` and `process.*` (docs/wire.md section 9)."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import (
    Argv,
    Env,
    Exit,
    Grace,
    Id,
    InputId,
    Length,
    Offset,
    Path,
    Pattern,
    Seconds,
    Signal,
    StreamName,
)
from hawse.api.types import WaitSeconds as Patience

HttpStatus = Annotated[int, Meta(ge=100, le=599)]


# ---- values


class Program(ParamsValue, kw_only=True):
    """What to run: `argv`, or `command` for a shell; exactly one of them. `timeout` kills its whole tree."""

    argv: Argv | None = None
    command: str | None = None
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None


class Since(ParamsValue, kw_only=True):
    """Where to begin in each stream: the offset of the first byte that is wanted."""

    stdout: Offset | None = None
    stderr: Offset | None = None


class LogCondition(ParamsValue, kw_only=True):
    """What to look for: `text` as it is, or `pattern` in RE2's syntax; in what was printed from `since` on as well."""

    text: Pattern | None = None
    pattern: Pattern | None = None
    stream: StreamName | None = None
    since: Since | None = None


class PortCondition(ParamsValue, kw_only=True):
    """A port of this machine. With `path` it has to answer HTTP, with a status from `status[0]` to `status[1]`."""

    port: Annotated[int, Meta(ge=1, le=65_535)]
    path: Annotated[str, Meta(min_length=1, max_length=2000, pattern=r"^/[!-~]*$(?!\n)")] | None = None
    status: tuple[HttpStatus, HttpStatus] = (200, 399)


class KeptRange(msgspec.Struct, frozen=True, kw_only=True):
    """What of a stream can be read: the bytes from `start` to `offset`."""

    start: int = 0
    offset: int = 0


class StreamOffsets(msgspec.Struct, frozen=True, kw_only=True):
    """Offsets in each stream."""

    stdout: int = 0
    stderr: int = 0


class ProcessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A process. `instance` is new each time one of that `id` is started; `started` in seconds since 1970."""

    id: str
    instance: str
    pid: int
    argv: list[str] = []
    cwd: str = ""
    started: float = 0.0
    state: Literal["running", "exited"] = "running"
    exit: Exit | None = None
    stdout: KeptRange = KeptRange()
    stderr: KeptRange = KeptRange()


class ProcessOpened(ProcessInfo, frozen=True, kw_only=True):
    """`from`: where the output begins that will come. `input_offset`: how much of this input was applied."""

    start: StreamOffsets = msgspec.field(name="from", default=StreamOffsets())
    input_offset: int = 0


class StreamTruncated(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of `stream` before `from` are no longer kept."""

    stream: StreamName
    start: int = msgspec.field(name="from")


class ProcessAttachResult(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a process and of its output, by its final offsets."""

    exit: Exit
    stdout: int
    stderr: int


class ExecResult(Exit, frozen=True, kw_only=True):
    """The end of a command and of its output, by its final offsets. `truncated`: more than `max_output` was printed."""

    stdout: int
    stderr: int
    truncated: bool = False


class ProcessKillResult(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended."""

    exit: Exit


class ProcessListResult(msgspec.Struct, frozen=True, kw_only=True):
    """`argv` is cut after 256 characters here. `more`: there are further ones."""

    processes: list[ProcessInfo]
    more: bool = False


class LogMatch(msgspec.Struct, frozen=True, kw_only=True):
    """`start` and `end` are offsets in `stream`. `truncated`: text or a group was cut after 4,096 bytes."""

    stream: StreamName
    start: int
    end: int
    text: str
    groups: list[str | None] = []
    named: dict[str, str | None] = {}
    truncated: bool = False


class ProcessWaitOpened(msgspec.Struct, frozen=True, kw_only=True):
    """Where the search began in each stream: above `since` where that is no longer kept."""

    start: StreamOffsets = msgspec.field(name="from")


class ProcessWaitResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a wait came to. `status`: of the HTTP answer, if one was asked for."""

    event: Literal["exit", "log", "port", "timeout"]
    exit: Exit | None = None
    match: LogMatch | None = None
    status: int | None = None


# ---- methods


@method("process.start")
class ProcessStart(Program, Params[ProcessInfo], kw_only=True):
    """Starts a process, which goes on whatever becomes of who started it."""

    id: Id | None = None


@method(
    "process.attach",
    events={"opened": ProcessOpened, "truncated": StreamTruncated, "exit": Exit},
    output=("stdout", "stderr"),
    input=True,
)
class ProcessAttach(Params[ProcessAttachResult], kw_only=True):
    """Follows the output of a process to its end, and takes its input."""

    id: Id
    instance: str | None = None
    since: Since | None = None
    input: InputId | None = None
    lossless: bool | None = None


@method("exec", events={"opened": ProcessOpened, "truncated": StreamTruncated}, output=("stdout", "stderr"), input=True)
class Exec(Program, Params[ExecResult], kw_only=True):
    """Runs one command to its end. Of each stream at most `max_output` bytes are sent; it may print more."""

    max_output: Length | None = None
    since: Since | None = None
    input: InputId | None = None


@method("process.signal")
class ProcessSignal(Params[Nothing], kw_only=True):
    """Sends a signal to the process group of a process."""

    id: Id
    instance: str | None = None
    signal: Signal


@method("process.kill")
class ProcessKill(Params[ProcessKillResult], kw_only=True):
    """Ends a process with its whole tree: `signal` (TERM), then KILL after `grace` seconds (5)."""

    id: Id
    instance: str | None = None
    signal: Signal | None = None
    grace: Grace | None = None


@method("process.get", safe=True)
class ProcessGet(Params[ProcessInfo], kw_only=True):
    """Describes one process."""

    id: Id


@method("process.list", safe=True)
class ProcessList(Params[ProcessListResult], kw_only=True):
    """Describes the processes that run and those whose record is kept, in the order of their start.

    At most `limit` (1,000), of those that come after the one with the id `after`.
    """

    after: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None


@method("process.wait", events={"opened": ProcessWaitOpened})
class ProcessWait(Params[ProcessWaitResult], kw_only=True):
    """Waits for whichever comes first: the end of a process, a line of its output, an open port, `timeout` seconds."""

    id: Id
    instance: str | None = None
    exit: bool | None = None
    log: LogCondition | None = None
    port: PortCondition | None = None
    timeout: Patience | None = None
