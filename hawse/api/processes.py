"""Commands and processes: `exec` and `process.*` (docs/wire.md section 9)."""

from typing import Literal

import msgspec

from hawse.api.fields import Argv, Env, Exit, Grace, Id, InputId, Offset, Path, Seconds, Signal, StreamName
from hawse.api.spec import Nothing, Spec

# ---- what goes in


class Program(msgspec.Struct, kw_only=True):
    """What to run: `argv`, or `command` for a shell; exactly one of them. `timeout` kills its whole tree."""

    argv: Argv | None = None
    command: str | None = None
    cwd: Path | None = None
    env: Env | None = None
    stdin: bool | None = None
    timeout: Seconds | None = None


class Start(Program, kw_only=True):
    """Starts a process, which goes on whatever becomes of who started it."""

    id: Id | None = None


class Since(msgspec.Struct, kw_only=True):
    """Where to begin in each stream: the offset of the first byte that is wanted."""

    stdout: Offset | None = None
    stderr: Offset | None = None


class Attach(msgspec.Struct, kw_only=True):
    """Follows the output of a process to its end, and takes its input."""

    id: Id
    instance: str | None = None
    since: Since | None = None
    input: InputId | None = None
    lossless: bool | None = None


class Exec(Program, kw_only=True):
    """Runs one command to its end."""

    since: Since | None = None
    input: InputId | None = None


class SendSignal(msgspec.Struct, kw_only=True):
    """Sends a signal to the process group of a process."""

    id: Id
    signal: Signal


class Kill(msgspec.Struct, kw_only=True):
    """Ends a process with its whole tree: `signal` (TERM), then KILL after `grace` seconds (5)."""

    id: Id
    signal: Signal | None = None
    grace: Grace | None = None


class Get(msgspec.Struct, kw_only=True):
    """Describes one process."""

    id: Id


class List(msgspec.Struct, kw_only=True):
    """Describes the processes that run, and those whose record is kept."""


# ---- what comes out


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What of a stream can be read: the bytes from `start` to `offset`."""

    start: int = 0
    offset: int = 0


class Offsets(msgspec.Struct, frozen=True, kw_only=True):
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
    stdout: Kept = Kept()
    stderr: Kept = Kept()


class ProcessOpened(ProcessInfo, frozen=True, kw_only=True):
    """`from`: where the output begins that will come. `input_offset`: how much of this input was applied."""

    start: Offsets = msgspec.field(name="from", default=Offsets())
    input_offset: int = 0


class Truncated(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of `stream` before `from` are no longer kept."""

    stream: StreamName
    start: int = msgspec.field(name="from")


class ProcessEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a process and of its output, by its final offsets."""

    exit: Exit
    stdout: int
    stderr: int


class ExecEnd(Exit, frozen=True, kw_only=True):
    """The end of a command and of its output, by its final offsets."""

    stdout: int
    stderr: int


class Killed(msgspec.Struct, frozen=True, kw_only=True):
    exit: Exit


class ProcessList(msgspec.Struct, frozen=True, kw_only=True):
    processes: list[ProcessInfo]


METHODS: dict[str, Spec] = {
    "exec": Spec(
        Exec,
        ExecEnd,
        events={"opened": ProcessOpened, "truncated": Truncated},
        output=("stdout", "stderr"),
        input=True,
    ),
    "process.start": Spec(Start, ProcessInfo),
    "process.attach": Spec(
        Attach,
        ProcessEnd,
        events={"opened": ProcessOpened, "truncated": Truncated, "exit": Exit},
        output=("stdout", "stderr"),
        input=True,
    ),
    "process.signal": Spec(SendSignal, Nothing),
    "process.kill": Spec(Kill, Killed),
    "process.list": Spec(List, ProcessList),
    "process.get": Spec(Get, ProcessInfo),
}
