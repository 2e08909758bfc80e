"""The limits of a runtime's code contexts."""

from collections.abc import Mapping

import msgspec

from hawse.code_pool import PoolLimits
from hawse_runtime.journal.spill import SpillLimits


class CodeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of all contexts."""

    contexts: int | None = None  # of each language; None: any number
    pool: PoolLimits = msgspec.field(default_factory=PoolLimits)
    pools: Mapping[str, PoolLimits] = msgspec.field(default_factory=dict)  # by language, where they differ from `pool`
    starting: int = 8  # executors starting at the same time: each takes a second of processor time
    start_timeout: float = 60.0  # seconds to wait for an executor's answer, even on a busy machine
    queue: int = 64  # runs that wait in one context
    kept_runs: int = 64  # ended runs that keep all their output
    interrupt_grace: float = 2.0  # seconds from the interrupt of a timed-out run to SIGKILL
    end_grace: float = 1.0  # seconds from SIGTERM to SIGKILL when an executor is ended
    # On disk. A kernel does not wait for readers, so one that falls behind by more than `each` loses output: 100 MB
    # printed at once must fit.
    spill: SpillLimits = msgspec.field(default_factory=lambda: SpillLimits(each=256 << 20))
