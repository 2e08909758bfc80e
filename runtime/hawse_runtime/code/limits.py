"""The bounds of the code contexts of a runtime."""

from collections.abc import Mapping

import msgspec

from hawse.api.code_pool import PoolLimits
from hawse_runtime.journal.spill import SpillLimits


class CodeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of all contexts."""

    contexts: int | None = None  # of each language; None: any number
    pool: PoolLimits = msgspec.field(default_factory=PoolLimits)
    pools: Mapping[str, PoolLimits] = msgspec.field(default_factory=dict)  # by language, where they differ from `pool`
    starting: int = 8  # executors that start at the same time: each uses a second of processor time
    start_timeout: float = 60.0  # seconds within which an executor must answer, on a busy machine too
    queue: int = 64  # runs that wait in one context
    kept_runs: int = 64  # ended runs whose whole output is kept
    interrupt_grace: float = 2.0  # seconds from the interrupt of a run that has timed out to SIGKILL
    end_grace: float = 1.0  # seconds from SIGTERM to SIGKILL when an executor is ended
    # On disk. A reader that is slower than the code loses what is further behind than `each`, since a kernel cannot be
    # made to wait: 100 MB that a run prints at once must fit.
    spill: SpillLimits = msgspec.field(default_factory=lambda: SpillLimits(each=256 << 20))
