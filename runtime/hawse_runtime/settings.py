"""A runtime's settings. `python -m hawse_runtime` takes them from the command line; tests set them directly."""

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
    """A runtime's limits."""

    journals: JournalLimits = msgspec.field(default_factory=JournalLimits)  # limits on output held in memory
    spill: SpillLimits = msgspec.field(default_factory=SpillLimits)  # limits on process output stored on disk
    # How many ended processes are kept, and for how long.
    processes: Retention = msgspec.field(default_factory=lambda: Retention(count=256, age=24 * 3600.0))
    programs: ProcessLimits = msgspec.field(default_factory=ProcessLimits)  # limits on processes and `exec` commands
    uploads: UploadLimits = msgspec.field(default_factory=UploadLimits)
    git: GitLimits = msgspec.field(default_factory=GitLimits)
    sessions: SessionLimits = msgspec.field(default_factory=SessionLimits)
    terminals_of_each: int | None = None  # maximum number of running terminals per caller without full rights
    code: CodeLimits = msgspec.field(default_factory=CodeLimits)
    watches: WatchLimits = msgspec.field(default_factory=WatchLimits)
    idempotency: IdempotencyLimits = msgspec.field(default_factory=IdempotencyLimits)  # limits on stored outcomes
    links: ServerLimits = msgspec.field(default_factory=ServerLimits)  # limits on connections from gateways
    stop_delay: float = STOP_DELAY  # seconds that a stoppable keyed call's work continues when no call is attached


class RuntimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime's directories, its token and its limits."""

    workspace: Path  # the initial directory for programs
    id: str | None = None  # 16 hexadecimal digits; None means a random id
    outside_only: bool = False  # whether to reject clients in the runtime's PID namespace and its descendants
    token: str | None = None  # the token that clients must send in `hello`; None lets any client connect
    # The directory for recordings, output spilled from memory, and the running runtime's id. If None, recordings are
    # stored in the workspace, and output in a temporary directory.
    private: Folder | None = None
    root: Path | None = None  # the directory that file methods are confined to; None means no confinement
    # Maximum number of bytes that file methods can store in `root` or the workspace.
    quota: int | None = None
    # A descriptor for the file where the kernel counts OOM kills. None means the file for the runtime's control group.
    oom_kills: int | None = None
    command: ProcessStart | None = None  # the image's command, which is started first
    python: Sequence[str] = OWN_PYTHON  # the command for running a Python module; the module name is appended
    limits: RuntimeLimits = msgspec.field(default_factory=RuntimeLimits)
