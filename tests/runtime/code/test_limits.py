"""The bounds of code contexts."""

from hawse.code_pool import PoolLimits
from hawse_runtime.code.host_protocol import CHUNK, MESSAGE_LIMIT
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.code.run import EVENT_LIMIT


def test_by_default_nothing_limits_the_number_of_contexts() -> None:
    limits = CodeLimits()
    assert limits.contexts is None
    assert limits.pool == PoolLimits()
    assert CodeLimits(pools={"bash": PoolLimits(size=0)}).pools["bash"].size == 0


def test_what_a_run_prints_at_once_fits_on_disk() -> None:
    assert CodeLimits().spill.each > 100_000_000


def test_an_event_fits_into_a_message() -> None:
    assert EVENT_LIMIT < 1 << 20 < MESSAGE_LIMIT
    assert CHUNK <= 1 << 16
