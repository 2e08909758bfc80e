"""Limits on a runtime's code contexts."""

from collections.abc import Mapping

import msgspec

from hawse.code_pool import PoolLimits
from hawse_runtime.journal.spill import SpillLimits


class CodeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits that apply to all contexts."""

    contexts: int | None = None  # maximum number of contexts per language; None means no limit
    pool: PoolLimits = msgspec.field(default_factory=PoolLimits)
    # Limits keyed by language; `pool` applies to all others.
    pools: Mapping[str, PoolLimits] = msgspec.field(default_factory=dict)
    starting: int = 8  # maximum number of executors starting at once; each start takes a second of CPU time
    start_timeout: float = 60.0  # seconds to wait for a new executor to respond; long enough for a busy machine
    queue: int = 64  # maximum number of waiting runs per context
    kept_runs: int = 64  # number of ended runs whose complete output is kept
    interrupt_grace: float = 2.0  # seconds from interrupting a timed-out run to SIGKILL
    end_grace: float = 1.0  # seconds from SIGTERM to SIGKILL when ending an executor
    # Limits on output on disk. A kernel doesn't wait for readers, so a reader that is more than `each` bytes behind
    # loses output. There must be room for 100 MB printed at once.
    spill: SpillLimits = msgspec.field(default_factory=lambda: SpillLimits(each=256 << 20))
