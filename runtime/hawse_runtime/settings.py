"""What can be set about a runtime. `python -m hawse_runtime` fills it from the command line, tests set it directly."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hawse.api.processes import ProcessStart
from hawse.rpc.dispatcher import STOP_DELAY
from hawse.rpc.idempotency import IdempotencyLimits
from hawse.rpc.server_limits import ServerLimits
from hawse_runtime.code.host_protocol import OWN_PYTHON
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.registry import Retention
from hawse_runtime.files.write import UploadLimits
from hawse_runtime.git.runner import GitLimits
from hawse_runtime.journal.limits import JournalLimits
from hawse_runtime.journal.spill import SpillLimits
from hawse_runtime.process.process import ProcessLimits
from hawse_runtime.session.session import SessionLimits
from hawse_runtime.watch.methods import WatchLimits


class RuntimeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of what a runtime holds."""

    journals: JournalLimits = msgspec.field(default_factory=JournalLimits)  # output in memory
    spill: SpillLimits = msgspec.field(default_factory=SpillLimits)  # output of processes on disk
    # Ended processes.
    processes: Retention = msgspec.field(default_factory=lambda: Retention(count=256, age=24 * 3600.0))
    programs: ProcessLimits = msgspec.field(default_factory=ProcessLimits)  # running processes and commands of `exec`
    uploads: UploadLimits = msgspec.field(default_factory=UploadLimits)
    git: GitLimits = msgspec.field(default_factory=GitLimits)
    sessions: SessionLimits = msgspec.field(default_factory=SessionLimits)
    terminals_of_each: int | None = None  # running terminals that each caller without every right may have created
    code: CodeLimits = msgspec.field(default_factory=CodeLimits)
    watches: WatchLimits = msgspec.field(default_factory=WatchLimits)
    idempotency: IdempotencyLimits = msgspec.field(default_factory=IdempotencyLimits)  # outcomes of keyed calls
    links: ServerLimits = msgspec.field(default_factory=ServerLimits)  # connections of gateways
    stop_delay: float = STOP_DELAY  # seconds that stoppable work with a key continues without a call


class RuntimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime's directories, its token and its limits."""

    workspace: Path  # the directory programs start in
    id: str | None = None  # the id of the runtime, 16 hexadecimal digits; None: a random one
    outside_only: bool = False  # whether clients must be in another PID namespace: the runtime's programs are refused
    token: str | None = None  # what a client must send in `hello`; None: any client may connect
    # The directory for recordings, output that is too much for memory, and the runtime's id while it runs. None:
    # recordings are stored below the workspace, output in a temporary directory.
    private: Folder | None = None
    root: Path | None = None  # a directory that the file methods do not leave; None: any path
    quota: int | None = None  # bytes that the file methods may leave in `root`, or in the workspace
    # A descriptor of the file in which the kernel counts the programs that it kills for lack of memory. None: that of
    # the runtime's own control group.
    oom_kills: int | None = None
    command: ProcessStart | None = None  # a program that is started at the beginning
    python: Sequence[str] = OWN_PYTHON  # the command that runs a module of this interpreter; its name follows
    limits: RuntimeLimits = msgspec.field(default_factory=RuntimeLimits)
